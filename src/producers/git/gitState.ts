// Reads the state of a repository from git's own files: the head, an unfinished operation, and HEAD's log.
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { ignore } from '../../base/async.ts';
import { exists, type GitFolder, parseHash, parseHead, readGitFile, readRef } from '../../node/files/gitFolder.ts';

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

/** A repository with a million references has 64 MB of them. */
const MOST_PACKED = 64 * 1024 * 1024;
const LONGEST_HEAD = 4096;
/** Git removes old lines of its logs; a longer log is not read. */
const LONGEST_LOG = 16 * 1024 * 1024;
/** What git writes before the message of each line: two hashes and who did it. */
const LOG_LINE = /^[0-9a-f]{40,64} [0-9a-f]{40,64} [^\t]*\t(.*)$/;

export async function readGitState({ own, shared }: GitFolder): Promise<GitState> {
  const [head, marks, lock, log] = await Promise.all([
    readGitFile(own, 'HEAD', LONGEST_HEAD).then(parseHead),
    Promise.all(MARKS.map(async ([name, what]) => ((await exists(join(own, name))) ? what : undefined))),
    exists(join(own, 'index.lock')),
    lstat(join(own, 'logs', 'HEAD')).catch(ignore),
  ]);
  const ref = head !== undefined && 'ref' in head ? head.ref : undefined;
  return {
    branch: ref?.replace(/^refs\/heads\//, ''),
    commit:
      ref === undefined ? (head !== undefined && 'commit' in head ? head.commit : '') : await findRef(shared, ref),
    stash: await findRef(shared, 'refs/stash'),
    underWay: marks.find((mark) => mark !== undefined),
    logLength: log?.size ?? 0,
    locked: lock,
  };
}

/** The messages of HEAD's log after this length, one for each operation. */
export async function readHeadLog({ own }: GitFolder, since: number): Promise<string[]> {
  const log = Buffer.from((await readGitFile(own, join('logs', 'HEAD'), LONGEST_LOG)) ?? '');
  const lines = log.subarray(Math.min(since, log.length)).toString('utf8').split('\n');
  return lines.flatMap((line) => LOG_LINE.exec(line)?.[1] ?? []);
}

export async function findRef(shared: string, ref: string): Promise<string> {
  const loose = await readRef(shared, ref);
  if (loose !== '') return loose;
  const packed = (await readGitFile(shared, 'packed-refs', MOST_PACKED)) ?? '';
  const line = packed.split('\n').find((one) => one.endsWith(` ${ref}`));
  return parseHash(line?.split(' ')[0]);
}
