// The read-only documents of the review: each file without the reviewed changes.
import * as vscode from 'vscode';
import { type Disposable } from '../../base/disposable.ts';
import { decodeText } from '../../base/text.ts';
import { type ChangeList } from '../../core/conversation/projections/changes.ts';
import { type Workspace } from '../../core/ports/workspace.ts';

/** Of files as they were before the agent changed them. */
export const REVIEW_SCHEME = 'earshot-before';

export interface ReviewContentDeps {
  readonly workspace: Workspace;
  /** Undefined: nothing is left to review. Without `bytes` the file would not exist. */
  base(path: string, list: ChangeList): Promise<{ readonly bytes?: Uint8Array } | undefined>;
  /** The current content of a file that the editor cannot open. */
  present(path: string, list: ChangeList): Promise<Uint8Array | undefined>;
}

export class ReviewContent implements vscode.TextDocumentContentProvider, Disposable {
  readonly #deps: ReviewContentDeps;
  readonly #onDidChange = new vscode.EventEmitter<vscode.Uri>();
  readonly #registration: vscode.Disposable;

  constructor(deps: ReviewContentDeps) {
    this.#deps = deps;
    this.#registration = vscode.workspace.registerTextDocumentContentProvider(REVIEW_SCHEME, this);
  }

  readonly onDidChange = this.#onDidChange.event;

  async provideTextDocumentContent({ query }: vscode.Uri): Promise<string> {
    const asked = readQuery(query);
    if (asked === undefined) return '';
    const { path, list } = asked;
    if (asked.side === 'now') return this.#decode(path, await this.#deps.present(path, list));
    const base = await this.#deps.base(path, list);
    return this.#decode(path, base === undefined ? await this.#present(path) : base.bytes);
  }

  async #decode(path: string, bytes: Uint8Array | undefined): Promise<string> {
    if (bytes === undefined) return '';
    const file = await this.#deps.workspace.resolve(path);
    const text = file.ok ? await this.#deps.workspace.decode(file.value, bytes) : decodeText(bytes);
    return text ?? vscode.l10n.t('This file is not text ({0} bytes).', bytes.length);
  }

  /** When nothing is left to review, an open diff editor shows no difference. */
  async #present(path: string): Promise<Uint8Array | undefined> {
    const file = await this.#deps.workspace.resolve(path);
    const read = file.ok ? await this.#deps.workspace.readLocally(file.value) : undefined;
    return read?.ok === true ? read.value.bytes : undefined;
  }

  /** Reads the shown documents again after a change was kept, undone or made. */
  refresh(): void {
    const shown = vscode.workspace.textDocuments.filter(({ uri }) => uri.scheme === REVIEW_SCHEME);
    for (const { uri } of shown) this.#onDidChange.fire(uri);
  }

  dispose(): void {
    this.#registration.dispose();
    this.#onDidChange.dispose();
  }
}

interface DocumentQuery {
  readonly side: 'before' | 'now';
  readonly list: ChangeList;
  readonly path: string;
}

/** Keeps the path of the file, so that the diff editor does not show a rename. */
export function beforeUri(file: vscode.Uri, path: string, list: ChangeList = 'own'): vscode.Uri {
  return uriOf(file, { side: 'before', list, path });
}

/** The current content of a file that the editor cannot open. */
export function nowUri(file: vscode.Uri, path: string, list: ChangeList): vscode.Uri {
  return uriOf(file, { side: 'now', list, path });
}

/** The query is JSON, since file names may be invalid Unicode. */
function uriOf(file: vscode.Uri, asked: DocumentQuery): vscode.Uri {
  return file.with({ scheme: REVIEW_SCHEME, authority: '', query: JSON.stringify(asked) });
}

function readQuery(query: string): DocumentQuery | undefined {
  // Only this extension creates these URIs.
  return query.startsWith('{') ? (JSON.parse(query) as DocumentQuery) : undefined;
}

/** An empty document in place of a deleted file. */
export function goneUri(file: vscode.Uri): vscode.Uri {
  return file.with({ scheme: REVIEW_SCHEME, authority: '', query: 'gone' });
}
