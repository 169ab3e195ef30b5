// Follows what the first open folder has, as far as the suggestions of an empty chat depend on it.
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { folderFacts, NO_FOLDER } from '../../core/frontend/folderFacts.ts';
import { type Workspace } from '../../core/ports/workspace.ts';
import { type FolderFacts } from '../../protocol/page/folderView.ts';

const MOST_BYTES = 1024 * 1024;

export interface OpenFolderDeps {
  readonly workspace: Workspace;
  changed(): void;
  report(error: unknown): void;
}

export class OpenFolder implements Disposable {
  readonly #deps: OpenFolderDeps;
  readonly #held = new DisposableStore();
  #facts: FolderFacts | undefined;
  #reading = false;
  #again = false;

  constructor(deps: OpenFolderDeps) {
    this.#deps = deps;
    const changed = () => this.#read();
    const { onDidGrantWorkspaceTrust, onDidChangeWorkspaceFolders } = vscode.workspace;
    const watcher = this.#held.add(vscode.workspace.createFileSystemWatcher('*'));
    for (const event of [watcher.onDidCreate, watcher.onDidDelete, watcher.onDidChange]) this.#held.add(event(changed));
    for (const event of [onDidGrantWorkspaceTrust, onDidChangeWorkspaceFolders]) this.#held.add(event(changed));
    this.#read();
  }

  /** Undefined: not read yet. */
  get facts(): FolderFacts | undefined {
    return this.#facts;
  }

  dispose(): void {
    this.#held.dispose();
  }

  /** One reading at a time; changes meanwhile lead to one more. */
  #read(): void {
    this.#again = this.#reading;
    if (this.#reading) return;
    this.#reading = true;
    void readFacts(this.#deps.workspace)
      .then((facts) => {
        const isNew = JSON.stringify(facts) !== JSON.stringify(this.#facts);
        this.#facts = facts;
        if (isNew) this.#deps.changed();
      })
      .catch(this.#deps.report)
      .finally(() => {
        this.#reading = false;
        if (this.#again) this.#read();
      });
  }
}

async function readFacts(workspace: Workspace): Promise<FolderFacts> {
  const [folder] = workspace.folders;
  if (folder === undefined) return NO_FOLDER;
  const inFolder = (name: string) => (folder.path === '' ? name : `${folder.path}/${name}`);
  const listed = await workspace.list(folder);
  const isOnDisk = vscode.workspace.workspaceFolders?.[0]?.uri.scheme === 'file';
  const facts = await folderFacts({
    entries: listed.ok ? listed.value : [],
    trusted: workspace.trusted,
    read: async (name) => {
      const file = await workspace.resolve(inFolder(name));
      const content = file.ok ? await workspace.read(file.value, { atMost: MOST_BYTES }) : file;
      return content.ok ? new TextDecoder().decode(content.value.bytes) : undefined;
    },
    hasProgram: async (name) => {
      if (!isOnDisk) return false;
      const { findProgram } = await import('../../node/files/fingerprint.ts');
      return (await findProgram(name, folder.absolute, process.env)) !== undefined;
    },
  });
  return { ...facts, ...(facts.readme !== undefined && { readme: inFolder(facts.readme) }) };
}
