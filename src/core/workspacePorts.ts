// What the core needs of the editor's files. Implemented in vscode/.
import { type Result } from '../base/errors.ts';

export interface FilePath {
  /** As people and models say it: relative to the workspace, `/` between the parts. */
  readonly path: string;
  /** As the machine says it. */
  readonly absolute: string;
  /** The file that a link in the path leads to, in the same words as `path`; absent if no link does. */
  readonly real?: string;
}

interface FileContent {
  readonly bytes: Uint8Array;
  /** The bytes are those of an editor's buffer with changes that are not saved. */
  readonly unsaved: boolean;
}

export interface FolderEntry {
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
}

/** The editor's files. Fails with a message the model can act on. */
export interface Workspace {
  /** Empty: no folder is open. */
  readonly folders: readonly FilePath[];
  readonly trusted: boolean;
  /**
   * Refuses what lies outside the folders, also by `..` or through a link, with the code `outside`. `anywhere` is given
   * only where a person has consented to this very path.
   */
  resolve(path: string, options?: { readonly anywhere?: boolean }): Promise<Result<FilePath>>;
  read(file: FilePath): Promise<Result<FileContent>>;
  list(folder: FilePath): Promise<Result<readonly FolderEntry[]>>;
}
