// Reads from git's own files what is checked out, what was pushed of it, and when.
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { ignore } from '../../base/async.ts';
import { type GitFolder, parseHash, parseHead, readGitFile } from '../../node/files/gitFolder.ts';
import { runGit } from '../../node/runGit.ts';
import { splitNames } from '../../node/files/rawNames.ts';
import { findRef } from '../git/gitState.ts';
import { forgeHosts, readRemotes, readUpstream, type Remote } from './remotes.ts';

/** The tip of a branch on a remote, as git knows it. */
export interface Pushed {
  readonly remote: Remote;
  /** Its name on the remote. */
  readonly branch: string;
  readonly sha: string;
  /** When git learned of it, in milliseconds since 1970; undefined: it has no record of that. */
  readonly at: number | undefined;
  /** It was pushed from here, not fetched. */
  readonly fromHere: boolean;
}

export interface LocalCommit {
  readonly branch: string;
  readonly sha: string;
  readonly remotes: readonly Remote[];
  /** Its upstream branch and those of the same name. */
  readonly pushed: readonly Pushed[];
  /** Where a push of the branch goes. */
  readonly target: { readonly remote: Remote; readonly branch: string };
  /** The files in git's shared folder that change with a push. */
  readonly watched: readonly string[];
}

/** A repository of the workspace’s folders. */
export interface WatchedRepository {
  readonly folder: GitFolder;
  local: LocalCommit | undefined;
  /** What it was last compared with. */
  state: string;
}

const LONGEST_CONFIG = 1024 * 1024;
/** Of a longer log only the size is known, which is enough to notice a push. */
const LONGEST_LOG = 4 * 1024 * 1024;
const GIT_MILLISECONDS = 10_000;

/** Undefined: no branch with a commit is checked out, or no remote is on a forge. */
export async function readLocalCommit(folder: GitFolder, env: NodeJS.ProcessEnv): Promise<LocalCommit | undefined> {
  const [config = '', headText] = await Promise.all([
    readGitFile(folder.shared, 'config', LONGEST_CONFIG),
    readGitFile(folder.own, 'HEAD', 4096),
  ]);
  const remotes = readRemotes(config, forgeHosts(env));
  const head = parseHead(headText);
  const [first] = remotes;
  if (first === undefined || head === undefined || !('ref' in head)) return undefined;
  const branch = head.ref.replace(/^refs\/heads\//, '');
  const sha = await findRef(folder.shared, head.ref);
  if (sha === '') return undefined;
  const upstream = readUpstream(config, branch);
  const pushed: Pushed[] = [];
  const watched: string[] = [head.ref];
  for (const remote of remotes) {
    const names = new Set([...(upstream?.remote === remote.name ? [upstream.branch] : []), branch]);
    for (const name of names) {
      const ref = `refs/remotes/${remote.name}/${name}`;
      watched.push(ref, `logs/${ref}`);
      const tip = await readTip(folder, remote, name);
      if (tip !== undefined) pushed.push(tip);
    }
  }
  const byName = (name: string | undefined) => remotes.find((one) => one.name === name);
  const tracked = byName(upstream?.remote);
  const target = { remote: tracked ?? byName('origin') ?? first, branch: (tracked && upstream?.branch) ?? branch };
  return { branch, sha, remotes, pushed, target, watched };
}

/** Undefined: git knows of no such branch of the remote. */
export async function readTip(folder: GitFolder, remote: Remote, branch: string): Promise<Pushed | undefined> {
  const ref = `refs/remotes/${remote.name}/${branch}`;
  const sha = await findRef(folder.shared, ref);
  if (sha === '') return undefined;
  const last = await lastLine(folder.shared, `logs/${ref}`, sha);
  return { remote, branch, sha, at: last?.at, fromHere: last?.what.startsWith('update by push') === true };
}

interface LogLine {
  readonly at: number;
  readonly what: string;
}

const LOG_LINE = /^[0-9a-f]{40,64} ([0-9a-f]{40,64}) [^\t]*> (\d{1,12}) [+-]\d{4}\t?(.*)$/;

/** How git came to this commit, in one of its logs. */
async function lastLine(folder: string, name: string, sha: string): Promise<LogLine | undefined> {
  const text = await readGitFile(folder, name, LONGEST_LOG);
  const lines = (text ?? '').split('\n');
  for (let index = lines.length - 1; index >= 0; index -= 1) {
    const [, to, seconds, what = ''] = LOG_LINE.exec(lines[index] ?? '') ?? [];
    if (to === sha) return { at: Number(seconds) * 1000, what };
  }
  return undefined;
}

/** When and how the commit came to be checked out here; undefined: it was made elsewhere. */
export async function readMaking(
  { own }: GitFolder,
  sha: string,
): Promise<{ at: number; title: string | undefined } | undefined> {
  const line = await lastLine(own, 'logs/HEAD', sha);
  const title = /^commit(?: \([\w -]+\))?: (.+)$/.exec(line?.what ?? '')?.[1];
  return line && title !== undefined ? { at: line.at, title } : undefined;
}

/** Differs after every commit, checkout, push and fetch of one of these branches. */
export async function stampOf({ shared, own }: GitFolder, watched: readonly string[] = []): Promise<string> {
  const inShared = ['config', 'packed-refs', ...watched].map((name) => join(shared, name));
  const places = [join(own, 'HEAD'), ...inShared];
  const found = await Promise.all(places.map((place) => lstat(place).catch(ignore)));
  return found.map((one) => (one === undefined ? '' : `${one.size}:${one.mtimeMs}`)).join();
}

/** The files of a commit, relative to the working tree; of a merge, none. */
export async function filesOf({ own, tree }: GitFolder, sha: string, signal: AbortSignal): Promise<readonly string[]> {
  const args = ['diff-tree', '-r', '--root', '--name-only', '--no-renames', '--no-commit-id', '-z', sha];
  return (await git(own, tree, args, signal)).filter((name) => name !== '');
}

/** The full hash of a commit that is named by its beginning. */
export async function findCommit(
  { own, tree }: GitFolder,
  named: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const [sha = ''] = await git(own, tree, ['rev-parse', '--verify', '--quiet', `${named}^{commit}`], signal);
  return parseHash(sha) || undefined;
}

/** How many commits HEAD is ahead of this one; undefined: that is not known. */
export async function commitsSince(
  { own, tree }: GitFolder,
  sha: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const [count = ''] = await git(own, tree, ['rev-list', '--count', `${sha}..HEAD`], signal);
  return /^\d+\n?$/.test(count) ? Number(count) : undefined;
}

async function git(own: string, tree: string, args: readonly string[], signal: AbortSignal): Promise<string[]> {
  const env = { GIT_DIR: own, GIT_WORK_TREE: tree };
  const printed = await runGit(args, { folder: tree, env, signal, milliseconds: GIT_MILLISECONDS }).catch(ignore);
  return printed === undefined ? [] : splitNames(printed);
}
