// An in-memory file system behind VS Code's FileSystemProvider interface, with faults.
import * as vscode from 'vscode';

export const SCHEME = 'earshot-memory';

export class MemoryFiles implements vscode.FileSystemProvider {
  readonly files = new Map<string, Uint8Array>();
  readonly readOnly = new Set<string>();
  /** The error that the next write throws. */
  fault: ((uri: vscode.Uri) => Error) | undefined;
  readonly unreadable = new Set<string>();
  readonly #changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.#changed.event;
  #time = 1;
  readonly #times = new Map<string, number>();

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  stat(uri: vscode.Uri): vscode.FileStat {
    const bytes = this.files.get(uri.path);
    const isFolder = [...this.files.keys()].some((path) => path.startsWith(`${uri.path.replace(/\/$/, '')}/`));
    if (bytes === undefined && !isFolder) throw vscode.FileSystemError.FileNotFound(uri);
    const mtime = this.#times.get(uri.path) ?? 1;
    return {
      type: bytes === undefined ? vscode.FileType.Directory : vscode.FileType.File,
      ctime: 1,
      mtime,
      size: bytes?.length ?? 0,
      ...(this.readOnly.has(uri.path) && { permissions: vscode.FilePermission.Readonly }),
    };
  }

  readDirectory(uri: vscode.Uri): [string, vscode.FileType][] {
    const prefix = `${uri.path.replace(/\/$/, '')}/`;
    const inside = [...this.files.keys()]
      .filter((path) => path.startsWith(prefix))
      .map((path) => path.slice(prefix.length));
    const names = new Map(
      inside.map((path) => {
        const [name = '', ...rest] = path.split('/');
        return [name, rest.length === 0 ? vscode.FileType.File : vscode.FileType.Directory];
      }),
    );
    return [...names];
  }

  createDirectory(): void {
    // Folders exist implicitly once a file is in them.
  }

  readFile(uri: vscode.Uri): Uint8Array {
    if (this.unreadable.has(uri.path)) throw vscode.FileSystemError.NoPermissions(uri);
    const bytes = this.files.get(uri.path);
    if (bytes === undefined) throw vscode.FileSystemError.FileNotFound(uri);
    return bytes;
  }

  writeFile(uri: vscode.Uri, content: Uint8Array): void {
    if (this.fault !== undefined) throw this.fault(uri);
    const type = this.files.has(uri.path) ? vscode.FileChangeType.Changed : vscode.FileChangeType.Created;
    this.files.set(uri.path, content);
    this.#time += 1;
    this.#times.set(uri.path, this.#time);
    this.#changed.fire([{ type, uri }]);
  }

  delete(uri: vscode.Uri): void {
    this.files.delete(uri.path);
    this.#changed.fire([{ type: vscode.FileChangeType.Deleted, uri }]);
  }

  rename(from: vscode.Uri, to: vscode.Uri): void {
    this.writeFile(to, this.readFile(from));
    this.delete(from);
  }
}
