// Detects the end of git operations in a repository: git's own files are quiet, there is no lock, and no rebase runs.
import { type FSWatcher, watch } from 'node:fs';
import { ignore } from '../../base/async.ts';
import { type Disposable, toDisposable } from '../../base/disposable.ts';
import { type GitHead } from '../../core/notify/wording/gitChange.ts';
import { type Clock } from '../../core/ports/ports.ts';
import { type GitFolder } from '../../node/files/gitFolder.ts';
import { splitNames } from '../../node/files/rawNames.ts';
import { runGit } from '../../node/runGit.ts';
import { type Passed } from './gitGate.ts';
import { type GitState, readGitState, readHeadLog } from './gitState.ts';

const QUIET_MILLISECONDS = 250;
/** A stale lock, or a rebase that waits for the user, must not block reports forever. */
const LONGEST_MILLISECONDS = 60_000;
const REBASE_MILLISECONDS = 10_000;
const COMMAND_MILLISECONDS = 10_000;

export interface Settled {
  readonly before: GitState;
  readonly after: GitState;
  readonly what: string;
  /** How many files differ between the two commits; undefined if that is not known. */
  readonly files: number | undefined;
  /** The files that differ, relative to the working tree. */
  readonly paths?: readonly string[];
  /** Relative to the working tree. */
  readonly conflicts: readonly string[];
  /** When it was first noticed. */
  readonly since: number;
}

export interface RepositoryDeps {
  readonly folder: GitFolder;
  readonly clock: Clock;
  /** Whether git may be run. The configuration of an untrusted repository could make git run other programs. */
  readonly trusted: boolean;
  settled(settled: Settled): Promise<void>;
  report(error: unknown): void;
  broke(error: unknown): void;
}

interface Settling {
  readonly since: number;
  readonly ended: Promise<void>;
  end(): void;
  timer?: Disposable;
  /** A lock existed or the state changed, so there was an operation. */
  worked: boolean;
}

export class GitRepository implements Disposable {
  readonly #deps: RepositoryDeps;
  readonly #watcher: FSWatcher;
  #state: GitState;
  #settling: Settling | undefined;
  /** The lock is stale: it has existed for a long time without a change. */
  #staleLock = false;
  readonly #ending = new AbortController();

  static async open(deps: RepositoryDeps): Promise<GitRepository> {
    return new GitRepository(deps, await readGitState(deps.folder));
  }

  private constructor(deps: RepositoryDeps, state: GitState) {
    this.#deps = deps;
    this.#state = state;
    this.#watcher = watch(deps.folder.own, { persistent: false }, (_event, name) => {
      if (name === 'index.lock') this.#staleLock = false;
      this.#noteActivity(name === 'index.lock');
    });
    this.#watcher.on('error', (error) => deps.broke(error));
  }

  /** The head as it was reported last. */
  get head(): GitHead {
    const { branch, commit } = this.#state;
    return { branch, commit };
  }

  /** Resolves once no operation is running and the last one was reported. */
  async passed(): Promise<Passed> {
    if (this.#settling === undefined) {
      const now = await readGitState(this.#deps.folder);
      if ((!now.locked || this.#staleLock) && isSameState(this.#state, now)) return 'free';
      this.#noteActivity(true);
    }
    const settling = this.#settling;
    await settling?.ended;
    return settling?.worked === true ? 'during' : 'free';
  }

  dispose(): void {
    this.#ending.abort();
    this.#watcher.close();
    this.#settling?.timer?.dispose();
    this.#settling?.end();
    this.#settling = undefined;
  }

  #noteActivity(worked: boolean): void {
    if (this.#ending.signal.aborted) return;
    if (this.#settling === undefined) {
      const { promise, resolve } = Promise.withResolvers<void>();
      // A disposable, so that tests wait until the operations of the previous test are reported.
      const ending = toDisposable(resolve);
      this.#settling = { since: this.#deps.clock.now(), ended: promise, end: () => ending.dispose(), worked };
    }
    this.#settling.worked ||= worked;
    this.#wait(this.#settling, QUIET_MILLISECONDS);
  }

  #wait(settling: Settling, milliseconds: number): void {
    settling.timer?.dispose();
    settling.timer = this.#deps.clock.after(milliseconds, () => {
      delete settling.timer;
      void this.#check(settling).catch((error: unknown) => {
        this.#deps.report(error);
        this.#settle(settling);
      });
    });
  }

  #settle(settling: Settling): void {
    if (this.#settling === settling) this.#settling = undefined;
    settling.timer?.dispose();
    settling.end();
  }

  async #check(settling: Settling): Promise<void> {
    const { folder, clock } = this.#deps;
    const before = this.#state;
    const after = await readGitState(folder);
    const waited = clock.now() - settling.since;
    if (after.locked && !this.#staleLock && waited < LONGEST_MILLISECONDS) {
      this.#wait(settling, QUIET_MILLISECONDS);
      return;
    }
    this.#staleLock = after.locked;
    if (isSameState(before, after)) {
      // With a stale lock, git did not touch the files that changed meanwhile.
      if (this.#staleLock) settling.worked = false;
      this.#settle(settling);
      return;
    }
    settling.worked = true;
    const conflicts = after.underWay === undefined ? [] : await this.#conflicts();
    const goesOn = after.underWay === 'rebase' && conflicts.length === 0;
    if (goesOn && waited < REBASE_MILLISECONDS) {
      this.#wait(settling, QUIET_MILLISECONDS);
      return;
    }
    // Something changed while the state was read: the operation has not ended.
    if (this.#hasNewActivity(settling) || this.#ending.signal.aborted) return;
    const log = await readHeadLog(folder, before.logLength);
    const what = describeGit(before, after, log);
    this.#state = after;
    if (what !== undefined) {
      // During an operation, the commits do not show which files changed.
      const paths = after.underWay === undefined ? await this.#compare(before.commit, after.commit) : undefined;
      const { since } = settling;
      await this.#deps.settled({ before, after, what, files: paths?.length, paths: paths ?? [], conflicts, since });
    }
    // Changes during the report belong to another operation, or to the rest of this one.
    if (!this.#hasNewActivity(settling)) this.#settle(settling);
  }

  #hasNewActivity(settling: Settling): boolean {
    return settling.timer !== undefined;
  }

  async #conflicts(): Promise<readonly string[]> {
    // Reads the index only: comparing files would run the repository's filters.
    const entries = await this.#git('ls-files', '--unmerged', '--full-name', '-z');
    const names = (entries ?? []).map((entry) => entry.slice(entry.indexOf('\t') + 1));
    return [...new Set(names)];
  }

  async #compare(before: string, after: string): Promise<readonly string[] | undefined> {
    if (before === '' || after === '' || before === after) return undefined;
    return this.#git('diff-tree', '-r', '--name-only', '--no-renames', '-z', before, after);
  }

  /** The names that git prints; undefined if it cannot be run. */
  async #git(...args: readonly string[]): Promise<readonly string[] | undefined> {
    if (!this.#deps.trusted) return undefined;
    const { own, tree } = this.#deps.folder;
    const run = runGit(args, {
      folder: tree,
      // Also without them the repository's configuration could name another working tree.
      env: { GIT_DIR: own, GIT_WORK_TREE: tree },
      signal: this.#ending.signal,
      milliseconds: COMMAND_MILLISECONDS,
    });
    const printed = await run.catch(ignore);
    return printed && splitNames(printed).filter((name) => name !== '');
  }
}

function isSameState(before: GitState, after: GitState): boolean {
  return (
    before.branch === after.branch &&
    before.commit === after.commit &&
    before.stash === after.stash &&
    before.underWay === after.underWay
  );
}

/** `log` has the new lines of HEAD's log. Undefined if the operation changed no files. */
function describeGit(before: GitState, after: GitState, log: readonly string[]): string | undefined {
  if (after.underWay !== before.underWay) return describeUnderWay(before, after, log);
  if (after.branch !== before.branch) return `switched from ${describeHead(before)} to ${describeHead(after)}`;
  if (after.stash !== before.stash) return log.some(isReset) ? 'stashed changes away' : 'took stashed changes out';
  if (after.commit === before.commit) return undefined;
  const done = log.map(describeStep).filter((step) => step !== undefined);
  if (log.length > 0 && done.length === 0) return undefined;
  return done.at(-1)?.(after) ?? `moved ${describeHead(after)} to another commit`;
}

function describeUnderWay(before: GitState, after: GitState, log: readonly string[]): string | undefined {
  if (after.underWay !== undefined) return `began a ${after.underWay}, which is not finished`;
  const ended = `ended the ${before.underWay ?? ''}`;
  const aborted = after.commit === before.commit || log.some(isReset);
  return aborted ? `${ended}: it was given up` : ended;
}

const STEPS: readonly (readonly [RegExp, (match: RegExpExecArray) => (after: GitState) => string])[] = [
  [/^pull\b/, () => (after) => `pulled into ${describeHead(after)}`],
  [/^merge ([^:]+)/, (match) => (after) => `merged ${match[1] ?? ''} into ${describeHead(after)}`],
  [/^rebase\b/, () => (after) => `rebased ${describeHead(after)}`],
  [/^reset: moving to (.*)/, (match) => (after) => `reset ${describeHead(after)} to ${match[1] ?? ''}`],
  [/^cherry-pick\b/, () => (after) => `cherry-picked onto ${describeHead(after)}`],
  [/^revert\b/, () => (after) => `reverted a commit on ${describeHead(after)}`],
  [/^am\b/, () => (after) => `applied patches to ${describeHead(after)}`],
  [/^(checkout|clone|initial pull|merge)\b/, () => (after) => `checked out ${describeHead(after)}`],
];

/** Undefined for a commit, which changes no files. */
function describeStep(line: string): ((after: GitState) => string) | undefined {
  if (/^commit\b/.test(line)) return undefined;
  for (const [pattern, describe] of STEPS) {
    const match = pattern.exec(line);
    if (match !== null) return describe(match);
  }
  return (after) => `moved ${describeHead(after)} to another commit`;
}

function isReset(line: string): boolean {
  return line.startsWith('reset:');
}

function describeHead({ branch, commit }: GitState): string {
  return branch ?? `commit ${commit.slice(0, 7)}`;
}
