// The left side of a review: each file as it would be without the reviewed changes, as a document that cannot be edited.
import * as vscode from 'vscode';
import { type Disposable } from '../base/disposable.ts';
import { type ChangeList } from '../core/conversation/changes.ts';
import { type FilePath, type Workspace } from '../core/workspacePorts.ts';

const SCHEME = 'earshot-before';

export interface ReviewContentDeps {
  readonly workspace: Workspace;
  /** Undefined: nothing is left to decide on. Without `bytes` there would be no such file. */
  base(path: string, list: ChangeList): Promise<{ readonly bytes?: Uint8Array } | undefined>;
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
    const list = LISTS.find((one) => query.startsWith(`${one}:`));
    if (list === undefined) return '';
    const name = query.slice(list.length + 1);
    const [file, base] = await Promise.all([this.#deps.workspace.resolve(name), this.#deps.base(name, list)]);
    if (!file.ok) return '';
    const bytes = base === undefined ? await this.#present(file.value) : base.bytes;
    if (bytes === undefined) return '';
    const text = await this.#deps.workspace.decode(file.value, bytes);
    return text ?? vscode.l10n.t('This is no text: {0} bytes.', bytes.length);
  }

  /** Once everything is decided an editor that is still open shows no difference. */
  async #present(file: FilePath): Promise<Uint8Array | undefined> {
    const read = await this.#deps.workspace.read(file);
    return read.ok ? read.value.bytes : undefined;
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

const LISTS: readonly ChangeList[] = ['own', 'meanwhile'];

/** Where the file itself is, so that the editor does not take it for another one that was renamed. */
export function beforeUri(file: vscode.Uri, path: string, list: ChangeList = 'own'): vscode.Uri {
  return file.with({ scheme: SCHEME, authority: '', query: `${list}:${path}` });
}

/** Stands in for a file that is not there any more. */
export function goneUri(file: vscode.Uri): vscode.Uri {
  return file.with({ scheme: SCHEME, authority: '', query: 'gone' });
}
