// Reads the state of a repository from git's own files: the head, an unfinished operation, and HEAD's log.
import { open, readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/** Git's own folder for this working tree, and the one that all working trees of the repository share. */
export interface GitFolder {
  readonly own: string;
  readonly shared: string;
  /** The working tree. */
  readonly tree: string;
}

type UnderWay = 'merge' | 'rebase' | 'cherry-pick' | 'revert';

export interface GitState {
  /** Undefined if a commit is checked out without a branch. */
  readonly branch: string | undefined;
  /** Empty if there is no commit yet. */
  readonly commit: string;
  readonly stash: string;
  readonly underWay: UnderWay | undefined;
  /** Bytes of HEAD's own log. */
  readonly logLength: number;
  /** A git command is running. */
  readonly locked: boolean;
}

const MARKS: readonly (readonly [string, UnderWay])[] = [
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['MERGE_HEAD', 'merge'],
];

/** The repository that contains the folder; undefined if there is none. */
export async function findGitFolder(folder: string): Promise<GitFolder | undefined> {
  for (let tree = folder; ; tree = dirname(tree)) {
    const found = await asGitFolder(tree);
    if (found !== undefined) return found;
    if (dirname(tree) === tree) return undefined;
  }
}

async function asGitFolder(tree: string): Promise<GitFolder | undefined> {
  const place = join(tree, '.git');
  const kind = await stat(place).catch(() => undefined);
  if (kind === undefined) return undefined;
  // In a linked working tree or a submodule, a file names the folder.
  const named = kind.isDirectory() ? place : /^gitdir: (.*)$/m.exec((await read(place)) ?? '')?.[1];
  if (named === undefined) return undefined;
  const own = resolve(tree, named);
  if ((await read(join(own, 'HEAD'))) === undefined) return undefined;
  const shared = await read(join(own, 'commondir'));
  return { own, shared: shared === undefined ? own : resolve(own, shared.trim()), tree };
}

export async function readGitState({ own, shared }: GitFolder): Promise<GitState> {
  const [head = '', marks, lock, log] = await Promise.all([
    read(join(own, 'HEAD')),
    Promise.all(MARKS.map(async ([name, what]) => ((await exists(join(own, name))) ? what : undefined))),
    exists(join(own, 'index.lock')),
    stat(join(own, 'logs', 'HEAD')).catch(() => undefined),
  ]);
  const ref = /^ref: (.*)$/m.exec(head)?.[1];
  return {
    branch: ref?.replace(/^refs\/heads\//, ''),
    commit: ref === undefined ? head.trim() : await readRef(shared, ref),
    stash: await readRef(shared, 'refs/stash'),
    underWay: marks.find((mark) => mark !== undefined),
    logLength: log?.size ?? 0,
    locked: lock,
  };
}

/** The lines of HEAD's log after this length, one for each operation. */
export async function readHeadLog({ own }: GitFolder, since: number): Promise<string[]> {
  const file = await open(join(own, 'logs', 'HEAD')).catch(() => undefined);
  if (file === undefined) return [];
  try {
    const { size } = await file.stat();
    const length = Math.max(0, size - since);
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, Math.min(since, size));
    const lines = buffer.toString('utf8').split('\n');
    return lines.flatMap((line) => line.split('\t')[1] ?? []);
  } finally {
    await file.close();
  }
}

async function readRef(shared: string, ref: string): Promise<string> {
  const loose = await read(join(shared, ref));
  if (loose !== undefined) return loose.trim();
  const packed = (await read(join(shared, 'packed-refs'))) ?? '';
  return (
    packed
      .split('\n')
      .find((line) => line.endsWith(` ${ref}`))
      ?.split(' ')[0] ?? ''
  );
}

function read(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
