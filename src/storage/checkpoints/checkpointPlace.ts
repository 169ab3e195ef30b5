// Creates the git repository that stores a folder's captured files, completely or not at all, and copies its index.
import { copyFile, mkdir, mkdtemp, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { runGit } from '../../node/runGit.ts';

/** Disables all attributes of the repository that would convert bytes. */
const ATTRIBUTES = '* -text -eol -ident -crlf !filter !working-tree-encoding\n';
/** Default ignore rules for folders outside a repository. */
const USUALLY_IGNORED = 'node_modules/\n.venv/\n__pycache__/\n.DS_Store\n';

/** The user's repository that contains the folder. */
interface Repository {
  readonly root: string;
  readonly objects: string;
  readonly exclude: string;
}

export async function findRepository(folder: string, signal: AbortSignal): Promise<Repository | undefined> {
  const asked = ['--show-toplevel', '--git-path', 'objects', '--git-path', 'info/exclude', '--show-object-format'];
  const said = await runGit(['rev-parse', ...asked], { folder, signal }).catch(() => undefined);
  const [root, objects, exclude, format] = said?.toString().split('\n') ?? [];
  // The repository's objects can be borrowed only if they use the same hash.
  if (root === undefined || objects === undefined || exclude === undefined || format !== 'sha1') return undefined;
  return { root: resolve(root), objects: resolve(folder, objects), exclude: resolve(folder, exclude) };
}

export async function preparePlace(
  place: string,
  root: string,
  repository: Repository | undefined,
  signal: AbortSignal,
): Promise<void> {
  const isThere = await stat(join(place, 'HEAD')).then(
    () => true,
    () => false,
  );
  if (!isThere) await make(place, root, repository, signal);
  const exclude = repository && (await readFile(repository.exclude, 'utf8').catch(() => ''));
  await writeFile(join(place, 'info', 'exclude'), exclude ?? USUALLY_IGNORED);
}

/** Created in another place and then moved, since two windows may do this at once and either may crash. */
async function make(
  place: string,
  root: string,
  repository: Repository | undefined,
  signal: AbortSignal,
): Promise<void> {
  await mkdir(dirname(place), { recursive: true, mode: 0o700 });
  const making = await mkdtemp(`${place}-`);
  try {
    const env = { GIT_DIR: making, GIT_WORK_TREE: root };
    await runGit(['init', '-q', '--template='], { folder: making, env, signal });
    await mkdir(join(making, 'info'), { recursive: true });
    await writeFile(join(making, 'info', 'attributes'), ATTRIBUTES);
    if (repository !== undefined) await writeFile(join(making, 'borrowed'), repository.objects);
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
