// The left side of a review: each file as it would be without the reviewed changes, as a document that cannot be edited.
import * as vscode from 'vscode';
import { type Disposable } from '../../base/disposable.ts';
import { decodeText } from '../../base/text.ts';
import { type ChangeList } from '../../core/conversation/projections/changes.ts';
import { type Workspace } from '../../core/ports/workspace.ts';

const SCHEME = 'earshot-before';

export interface ReviewContentDeps {
  readonly workspace: Workspace;
  /** Undefined: nothing is left to decide on. Without `bytes` there would be no such file. */
  base(path: string, list: ChangeList): Promise<{ readonly bytes?: Uint8Array } | undefined>;
  /** What is there now, of what the editor cannot open. */
  present(path: string, list: ChangeList): Promise<Uint8Array | undefined>;
}

export class ReviewContent implements vscode.TextDocumentContentProvider, Disposable {
  readonly #deps: ReviewContentDeps;
  readonly #onDidChange = new vscode.EventEmitter<vscode.Uri>();
  readonly #registration: vscode.Disposable;

  constructor(deps: ReviewContentDeps) {
    this.#deps = deps;
    this.#registration = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);
  }

  readonly onDidChange = this.#onDidChange.event;

  async provideTextDocumentContent({ query }: vscode.Uri): Promise<string> {
    const asked = readQuery(query);
    if (asked === undefined) return '';
    const { path, list } = asked;
    if (asked.side === 'now') return this.#print(path, await this.#deps.present(path, list));
    const base = await this.#deps.base(path, list);
    return this.#print(path, base === undefined ? await this.#present(path) : base.bytes);
  }

  async #print(path: string, bytes: Uint8Array | undefined): Promise<string> {
    if (bytes === undefined) return '';
    const file = await this.#deps.workspace.resolve(path);
    const text = file.ok ? await this.#deps.workspace.decode(file.value, bytes) : decodeText(bytes);
    return text ?? vscode.l10n.t('This is no text: {0} bytes.', bytes.length);
  }

  /** Once everything is decided an editor that is still open shows no difference. */
  async #present(path: string): Promise<Uint8Array | undefined> {
    const file = await this.#deps.workspace.resolve(path);
    const read = file.ok ? await this.#deps.workspace.readLocally(file.value) : undefined;
    return read?.ok === true ? read.value.bytes : undefined;
  }

  /** Something was kept, undone or changed: what is shown is read again. */
  refresh(): void {
    const shown = vscode.workspace.textDocuments.filter(({ uri }) => uri.scheme === SCHEME);
    for (const { uri } of shown) this.#onDidChange.fire(uri);
  }

  dispose(): void {
    this.#registration.dispose();
    this.#onDidChange.dispose();
  }
}

interface Asked {
  readonly side: 'before' | 'now';
  readonly list: ChangeList;
  readonly path: string;
}

/** Where the file itself is, so that the editor does not take it for another one that was renamed. */
export function beforeUri(file: vscode.Uri, path: string, list: ChangeList = 'own'): vscode.Uri {
  return uriOf(file, { side: 'before', list, path });
}

/** What is there now, of what the editor cannot open. */
export function nowUri(file: vscode.Uri, path: string, list: ChangeList): vscode.Uri {
  return uriOf(file, { side: 'now', list, path });
}

/** JSON also holds names that are no text. */
function uriOf(file: vscode.Uri, asked: Asked): vscode.Uri {
  return file.with({ scheme: SCHEME, authority: '', query: JSON.stringify(asked) });
}

function readQuery(query: string): Asked | undefined {
  // Only this extension makes them.
  return query.startsWith('{') ? (JSON.parse(query) as Asked) : undefined;
}

/** Stands in for a file that is not there any more. */
export function goneUri(file: vscode.Uri): vscode.Uri {
  return file.with({ scheme: SCHEME, authority: '', query: 'gone' });
}
