// Resolves paths and checks that they are inside the workspace, both as written and after following links.
import { lstat, readlink, realpath } from 'node:fs/promises';
import { basename, isAbsolute, join, parse, type PlatformPath, relative, resolve, sep } from 'node:path';
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { type FileCode } from '../../base/failureCodes.ts';

/** `path` is relative to the workspace; `absolute` is the machine's path. */
export interface Place {
  readonly path: string;
  readonly absolute: string;
  /** Where links lead, relative to the workspace. */
  readonly real?: string;
}

/** No system has longer paths; each folder of the path costs a lookup. */
const LONGEST_PATH = 4096;

/** `folders` as in Workspace: with several, each has its name as its path. `anywhere`: outside is allowed too. */
export async function resolveInside(
  folders: readonly Place[],
  path: string,
  options: { readonly anywhere?: boolean } = {},
): Promise<Result<Place, FileCode>> {
  if (folders.length === 0) return failed('no_folder', 'No folder is open in the editor.');
  if (path.length > LONGEST_PATH) return failed('bad_path', `The path is longer than ${LONGEST_PATH} characters.`);
  if (path.includes('\0')) return failed('bad_path', 'The path contains a NUL character.');
  const absolute = toAbsolute(folders, path);
  const folder = folders.find((candidate) => isInside(candidate.absolute, absolute));
  const beyond = () => (options.anywhere === true ? succeeded({ path: absolute, absolute }) : outside(path));
  if (folder === undefined) return beyond();
  const real = await realpathOfExisting(absolute);
  const realFolders = await Promise.all(folders.map((candidate) => realpathOfExisting(candidate.absolute)));
  const inside = realFolders.findIndex((candidate) => isInside(candidate, real));
  const realFolder = realFolders[inside];
  if (realFolder === undefined) return beyond();
  const said = nameInside(folder, relative(folder.absolute, absolute));
  const home = folders[inside] ?? folder;
  const leadsTo = nameInside(home, relative(realFolder, real));
  if (leadsTo === said) return succeeded({ path: said, absolute });
  // Another spelling of the same name, on disks that do not distinguish them, is the same file.
  if (isSpelling(leadsTo, said) && !(await isLink(absolute))) {
    return succeeded({ path: leadsTo, absolute: join(home.absolute, relative(realFolder, real)) });
  }
  return succeeded({ path: said, absolute, real: leadsTo });
}

/** Two spellings of one name, on disks that do not distinguish them. */
export function isSpelling(one: string, other: string): boolean {
  const plain = (path: string) => path.normalize('NFC').toLowerCase();
  return plain(one) === plain(other);
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch {
    return false;
  }
}

/** The workspace path as written, without disk access; undefined if it is in none of the folders. */
export function nameAsWritten(folders: readonly Place[], absolute: string): string | undefined {
  const folder = folders.find((candidate) => isInside(candidate.absolute, absolute));
  return folder && nameInside(folder, relative(folder.absolute, absolute));
}

/** The workspace path of a resolved path; undefined if it is in none of the folders. */
export async function nameOfReal(folders: readonly Place[], real: string): Promise<string | undefined> {
  for (const folder of folders) {
    const realFolder = await realpathOfExisting(folder.absolute);
    if (isInside(realFolder, real)) return nameInside(folder, relative(realFolder, real));
  }
  return undefined;
}

function nameInside(folder: Place, inner: string): string {
  return [folder.path, inner.split(sep).join('/')].filter((part) => part !== '').join('/');
}

function toAbsolute(folders: readonly Place[], path: string): string {
  if (isAbsolute(path)) return resolve(path);
  const [first = '', ...rest] = path.split(/[\\/]/);
  const named = folders.find((folder) => folder.path !== '' && folder.path === first);
  if (named !== undefined) return resolve(named.absolute, ...rest);
  return resolve(folders[0]?.absolute ?? '', path);
}

/** Whether `path` is the folder or in it. `system` is the rules of another system in tests. */
export function isInside(
  folder: string,
  path: string,
  system: Pick<PlatformPath, 'relative' | 'isAbsolute' | 'sep'> = { relative, isAbsolute, sep },
): boolean {
  const inner = system.relative(folder, path);
  return inner === '' || (inner !== '..' && !inner.startsWith(`..${system.sep}`) && !system.isAbsolute(inner));
}

/** The same limit as in operating systems. */
const MOST_LINKS = 40;

/** For a file that does not exist yet, resolves its nearest existing parent. */
export async function realpathOfExisting(path: string): Promise<string> {
  return realpath(path).catch(() => realpathOfMissing(path));
}

/** A dangling link leads to where a file would be created, so links are followed one by one. */
async function realpathOfMissing(path: string): Promise<string> {
  let here = parse(path).root;
  const left = partsOf(path).reverse();
  for (let links = 0; left.length > 0; ) {
    const next = resolve(here, left.pop() ?? '');
    const target = links < MOST_LINKS ? await targetOf(next) : null;
    if (target === null) return join(await realpath(here).catch(() => here), basename(next), ...left.reverse());
    if (target === undefined) {
      here = next;
      continue;
    }
    links += 1;
    if (isAbsolute(target)) here = parse(target).root;
    left.push(...partsOf(target).reverse());
  }
  return here;
}

/** The target of a link; undefined if it is not a link, null if it is missing. */
async function targetOf(path: string): Promise<string | null | undefined> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined;
  } catch {
    return null;
  }
}

function partsOf(path: string): string[] {
  return path
    .slice(parse(path).root.length)
    .split(sep)
    .filter((part) => part !== '');
}

function outside(path: string): Result<never, FileCode> {
  return failed('outside', `${path} is outside the workspace.`);
}
