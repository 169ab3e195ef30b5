// Creates the git repository that stores a folder's captured files, completely or not at all, and copies its index.
import { copyFile, lstat, mkdir, mkdtemp, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { ignore } from '../../base/async.ts';
import { exists, findGitFolder, readGitFile } from '../../node/files/gitFolder.ts';
import { GitExit, runGit } from '../../node/runGit.ts';

/** Disables all attributes of the repository that would convert bytes. */
const ATTRIBUTES = '* -text -eol -ident -crlf !filter !working-tree-encoding\n';
/** Default ignore rules for folders outside a repository. */
const USUALLY_IGNORED = 'node_modules/\n.venv/\n__pycache__/\n.DS_Store\n';

/** Longer configurations and ignore lists are not read. */
const LONGEST = 1024 * 1024;

/** Where a folder's files are captured from. */
export interface CaptureRoot {
  /** The folder, or the top of the repository whose ignore rules apply to it. */
  readonly root: string;
  /** The folder, relative to the root. */
  readonly prefix: string;
}

/** The user's repository that contains the folder. */
interface Repository extends CaptureRoot {
  /** Absent if the objects of a checkpoint cannot be borrowed from it. */
  readonly objects?: string;
  /** Its ignore rules that are not in the working tree. */
  readonly exclude: string;
}

/**
 * Never asks git, whose answer the repository's configuration decides: a working tree elsewhere would not contain the
 * folder.
 */
async function findRepository(folder: string): Promise<Repository | undefined> {
  const found = await findGitFolder(folder);
  if (found === undefined) return undefined;
  const { tree, shared } = found;
  // Git takes a folder with its own .git, even an unusable one, for another repository and does not look into it.
  for (let inner = folder; inner !== tree; inner = dirname(inner)) {
    if (await exists(join(inner, '.git'))) return undefined;
  }
  const objects = join(shared, 'objects');
  return {
    root: tree,
    prefix: relative(tree, folder).split(sep).join('/'),
    exclude: (await readGitFile(shared, join('info', 'exclude'), LONGEST)) ?? '',
    ...((await mayBorrow(shared, objects)) && { objects }),
  };
}

/** The objects must have names of the same kind, and git must not have to wait for a pipe among them. */
async function mayBorrow(shared: string, objects: string): Promise<boolean> {
  const config = await readGitFile(shared, 'config', LONGEST);
  if (config === undefined || /objectformat\s*=\s*"?sha256/i.test(config)) return false;
  const packs = join(objects, 'pack');
  const names = await readdir(packs).catch(() => []);
  const places = [join(objects, 'info', 'alternates'), ...names.map((name) => join(packs, name))];
  const found = await Promise.all(places.map((place) => lstat(place).catch(ignore)));
  return found.every((one) => one === undefined || one.isFile());
}

/** Prepares the place, and finds where the folder's files are captured from. */
export async function preparePlace(place: string, folder: string, signal: AbortSignal): Promise<CaptureRoot> {
  const repository = await findRepository(folder);
  if (!(await exists(join(place, 'HEAD')))) await make(place, repository?.objects, signal);
  const exclude = join(place, 'info', 'exclude');
  await writeFile(exclude, repository?.exclude ?? USUALLY_IGNORED);
  if (repository === undefined) return { root: folder, prefix: '' };
  const { root, prefix } = repository;
  if (prefix === '' || !(await ignoresEverything(place, repository, signal))) return { root, prefix };
  await writeFile(exclude, USUALLY_IGNORED);
  return { root: folder, prefix: '' };
}

/** Whether the rules of a repository above the folder ignore any file in it, whatever its name. */
async function ignoresEverything(place: string, { root, prefix }: Repository, signal: AbortSignal): Promise<boolean> {
  // This command does not support literal paths; after `./` nothing is special.
  const env = { GIT_DIR: place, GIT_WORK_TREE: root, GIT_LITERAL_PATHSPECS: '0' };
  const asked = ['check-ignore', '--no-index', '-q', '--', `./${prefix}/any-name-9e107d9d`];
  return runGit(asked, { folder: root, env, signal }).then(
    () => true,
    (error: unknown) => {
      if (error instanceof GitExit) return error.code !== 1;
      throw error;
    },
  );
}

/** Created in another place and then moved, since two windows may do this at once and either may crash. */
async function make(place: string, objects: string | undefined, signal: AbortSignal): Promise<void> {
  await mkdir(dirname(place), { recursive: true, mode: 0o700 });
  const making = await mkdtemp(`${place}-`);
  try {
    const env = { GIT_DIR: making, GIT_WORK_TREE: making };
    await runGit(['init', '-q', '--template='], { folder: making, env, signal });
    await mkdir(join(making, 'info'), { recursive: true });
    await writeFile(join(making, 'info', 'attributes'), ATTRIBUTES);
    if (objects !== undefined) await writeFile(join(making, 'borrowed'), objects);
    await rename(making, place).catch((error: unknown) => {
      if (!isNotEmpty(error)) throw error;
    });
  } finally {
    await rm(making, { recursive: true, force: true });
  }
}

/** True if another window was first. */
function isNotEmpty(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : '';
  return code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'EPERM';
}

/**
 * Git rechecks files that are as old as the index. The copy gets an earlier time, so that git rechecks more files than
 * necessary, never fewer. False if there was no index.
 */
export async function copyIndex(from: string, to: string): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(from);
    await copyFile(from, to);
    const dated = new Date(mtimeMs - 2000);
    await utimes(to, dated, dated);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}
