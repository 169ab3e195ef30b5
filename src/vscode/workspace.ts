// The editor's files behind the Workspace port: buffers with unsaved changes before the disk, any file system the editor has.
import * as vscode from 'vscode';
import { failed, type Result, succeeded } from '../base/errors.ts';
import { type AppliedEdit, type FilePath, type FolderEntry, type Workspace } from '../core/workspacePorts.ts';
import { resolveInside } from '../node/resolvePath.ts';
import { bytesOf, decodeFile, documentOf, encodeFile } from './fileEncoding.ts';
import { attempt } from './fileFailures.ts';
import { absoluteOf, contentUri, toFilePath, toUri } from './fileUris.ts';

/** The editor itself keeps longer files from extensions. */
const LONGEST = 50 * 1024 * 1024;

export function createWorkspace(): Workspace {
  /** One change after the other: what one was looked at for, the next must not have changed meanwhile. */
  let changing: Promise<unknown> = Promise.resolve();
  return {
    get folders() {
      return foldersOf(vscode.workspace.workspaceFolders ?? []);
    },
    get trusted() {
      return vscode.workspace.isTrusted;
    },
    resolve: (path, options) => resolveIn(vscode.workspace.workspaceFolders ?? [], path, options),
    async read(file) {
      const uri = await contentUri(file);
      const open = documentOf(uri, toUri(file));
      if (open?.isDirty === true) return succeeded({ bytes: await bytesOf(open), unsaved: true });
      return readWhole(file, uri);
    },
    unsaved: () =>
      vscode.workspace.textDocuments.filter((document) => document.isDirty).flatMap(({ uri }) => toFilePath(uri) ?? []),
    list: (folder) =>
      attempt(folder, 'read', async () => {
        const entries = await vscode.workspace.fs.readDirectory(toUri(folder));
        return entries.map(([name, type]) => ({ name, kind: kindOf(type) }));
      }),
    decode: async (file, bytes) => (await decodeFile(await contentUri(file), bytes))?.text,
    encode: async (file, text, like) => encodeFile(await contentUri(file), text, like),
    apply: (edits, options) => {
      const run = async (): Promise<Result<readonly AppliedEdit[]>> =>
        (await import('./fileEdits.ts')).applyEdits(edits, options);
      const applied = changing.then(run);
      changing = applied.catch(() => undefined);
      return applied;
    },
  };
}

async function readWhole(file: FilePath, uri: vscode.Uri): Promise<Result<{ bytes: Uint8Array; unsaved: boolean }>> {
  const stat = await attempt(file, 'read', () => vscode.workspace.fs.stat(uri));
  if (!stat.ok) return stat;
  if (stat.value.size > LONGEST) {
    const size = Math.round(stat.value.size / 1024 / 1024);
    return failed('too_big', `${file.path} is too big (${size} MB; at most 50).`, 'run_command can look into it.');
  }
  return attempt(file, 'read', async () => ({ bytes: await vscode.workspace.fs.readFile(uri), unsaved: false }));
}

/** With several folders each path begins with a folder's name; of two with one name the second is told apart. */
function foldersOf(folders: readonly vscode.WorkspaceFolder[]): FilePath[] {
  const taken = new Map<string, number>();
  return folders.map(({ name, uri }) => {
    const times = (taken.get(name) ?? 0) + 1;
    taken.set(name, times);
    const path = times === 1 ? name : `${name}~${times}`;
    return { path: folders.length > 1 ? path : '', absolute: absoluteOf(uri) };
  });
}

async function resolveIn(
  folders: readonly vscode.WorkspaceFolder[],
  path: string,
  options?: { readonly anywhere?: boolean },
): Promise<Result<FilePath>> {
  const named = foldersOf(folders);
  const virtual = named.filter((_, index) => folders[index]?.uri.scheme !== 'file');
  const [first = '', ...rest] = path.split('/');
  const chosen = named.length > 1 ? named.find((folder) => folder.path === first) : undefined;
  const folder = virtual.find((one) => one === (chosen ?? named[0]));
  if (folder !== undefined) return resolveVirtual(folder, chosen === undefined ? path : rest.join('/'));
  return resolveInside(
    named.filter((one) => !virtual.includes(one)),
    path,
    options,
  );
}

/** A virtual file system has no links that lead out of it. */
function resolveVirtual(folder: FilePath, path: string): Result<FilePath> {
  const root = vscode.Uri.parse(folder.absolute, true);
  const uri = vscode.Uri.joinPath(root, path);
  const prefix = `${root.path.replace(/\/$/, '')}/`;
  if (uri.path !== root.path && !uri.path.startsWith(prefix)) {
    return failed('outside', `${path} is outside the workspace.`);
  }
  const inner = uri.path.slice(prefix.length).replace(/\/$/, '');
  const said = [folder.path, inner].filter((part) => part !== '').join('/');
  return succeeded({ path: said, absolute: uri.toString() });
}

function kindOf(type: vscode.FileType): FolderEntry['kind'] {
  if ((type & vscode.FileType.SymbolicLink) !== 0) return 'link';
  if (type === vscode.FileType.Directory) return 'folder';
  return type === vscode.FileType.File ? 'file' : 'other';
}
