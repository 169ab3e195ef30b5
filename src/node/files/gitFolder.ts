// Finds git's own folder of a working tree and reads its files: regular files inside it, up to a size, never a program.
import { lstat, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { failed } from '../../base/errors.ts';
import { readJudged } from './readInside.ts';

/** Git's own folder for this working tree, and the one that all working trees of the repository share. */
export interface GitFolder {
  readonly own: string;
  readonly shared: string;
  /** The working tree: the folder that contains `.git`, whatever git's configuration says. */
  readonly tree: string;
}

/** Longer ones are no references, and no names of folders. */
const LONGEST_LINE = 4096;
const HASH = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/** The repository that contains the folder; undefined if there is none. */
export async function findGitFolder(folder: string): Promise<GitFolder | undefined> {
  for (let tree = folder; ; tree = dirname(tree)) {
    const found = await asGitFolder(tree);
    if (found !== undefined) return found;
    if (dirname(tree) === tree) return undefined;
  }
}

async function asGitFolder(tree: string): Promise<GitFolder | undefined> {
  const own = await ownFolder(tree);
  if (own === undefined || parseHead(await readGitFile(own, 'HEAD', LONGEST_LINE)) === undefined) return undefined;
  const common = await readGitFile(own, 'commondir', LONGEST_LINE);
  if (common === undefined && (await exists(join(own, 'commondir')))) return undefined;
  const shared = common === undefined ? own : resolve(own, common.trim());
  // The folder of a linked working tree is inside the shared one.
  if (!(await isInside(shared, own)) || !(await isFolder(join(shared, 'objects')))) return undefined;
  return { own, shared, tree };
}

/** In a linked working tree or a submodule, a file names the folder. */
async function ownFolder(tree: string): Promise<string | undefined> {
  const place = join(tree, '.git');
  if (await isFolder(place)) return place;
  const named = /^gitdir: (.+)$/m.exec((await readGitFile(tree, '.git', LONGEST_LINE)) ?? '')?.[1];
  return named === undefined ? undefined : resolve(tree, named);
}

/** Undefined if it is missing, longer than `atMost` bytes, not a regular file, or outside the folder. */
export async function readGitFile(folder: string, name: string, atMost: number): Promise<string | undefined> {
  const file = { path: name, absolute: join(folder, name) };
  const judge = ({ outside }: { readonly outside: boolean }) =>
    outside ? failed('outside', `${name} leads out of the repository.`).failure : undefined;
  const read = await readJudged([{ path: '', absolute: folder }], file, { judge, atMost });
  return read.ok ? Buffer.from(read.value.bytes).toString('utf8') : undefined;
}

export type GitHeadFile = { readonly ref: string } | { readonly commit: string };

/** Undefined if the text is not what git writes into HEAD. */
export function parseHead(text: string | undefined): GitHeadFile | undefined {
  const ref = /^ref: (.*)$/m.exec(text ?? '')?.[1];
  if (ref !== undefined) return isRef(ref) ? { ref } : undefined;
  const commit = parseHash(text);
  return commit === '' ? undefined : { commit };
}

/** Empty if the text is no hash. */
export function parseHash(text: string | undefined): string {
  const hash = text?.trim() ?? '';
  return HASH.test(hash) ? hash : '';
}

export async function readRef(shared: string, ref: string): Promise<string> {
  if (!isRef(ref)) return '';
  return parseHash(await readGitFile(shared, ref, LONGEST_LINE));
}

/** Such a name is the path of a file in git's folder. */
function isRef(name: string): boolean {
  const parts = name.split('/');
  return parts[0] === 'refs' && parts.every((part) => part !== '' && part !== '.' && !part.includes('..'));
}

async function isInside(folder: string, path: string): Promise<boolean> {
  try {
    const inner = relative(await realpath(folder), await realpath(path));
    return inner !== '..' && !inner.startsWith(`..${sep}`) && !isAbsolute(inner);
  } catch {
    return false;
  }
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

export function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
