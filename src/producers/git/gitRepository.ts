// Decides when git has finished with a repository: its own files are still, nothing is locked, and no rebase is on its way.
import { execFile } from 'node:child_process';
import { type FSWatcher, watch } from 'node:fs';
import { promisify } from 'node:util';
import { type Disposable } from '../../base/disposable.ts';
import { type GitHead } from '../../core/notify/wording/gitChange.ts';
import { type Clock } from '../../core/ports/ports.ts';
import { type Passed } from './gitGate.ts';
import { describeGit } from './gitOperation.ts';
import { type GitFolder, type GitState, readGitState, readHeadLog } from './gitState.ts';

const QUIET_MILLISECONDS = 250;
/** A lock that a crashed git left behind, or a rebase that waits for a person, must not keep everything waiting. */
const LONGEST_MILLISECONDS = 60_000;
const REBASE_MILLISECONDS = 10_000;
const COMMAND_MILLISECONDS = 10_000;

export interface Settled {
  readonly before: GitState;
  readonly after: GitState;
  readonly what: string;
  /** How many files differ between the two commits; undefined if that is not known. */
  readonly files: number | undefined;
  /** Those files, relative to the working tree. */
  readonly paths?: readonly string[];
  /** Relative to the working tree. */
  readonly conflicts: readonly string[];
  /** When it was first noticed. */
  readonly since: number;
}

export interface RepositoryDeps {
  readonly folder: GitFolder;
  readonly clock: Clock;
  /** Git itself may be asked: what a repository configures could make it run something. */
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
  /** A lock was there, or something changed: git really did something. */
  worked: boolean;
}

export class GitRepository implements Disposable {
  readonly #deps: RepositoryDeps;
  readonly #watcher: FSWatcher;
  #state: GitState;
  #settling: Settling | undefined;
  /** Git does not work under this lock: it stood for long and nothing came of it. */
  #left = false;
  #ended = false;

  static async open(deps: RepositoryDeps): Promise<GitRepository> {
    return new GitRepository(deps, await readGitState(deps.folder));
  }

  private constructor(deps: RepositoryDeps, state: GitState) {
    this.#deps = deps;
    this.#state = state;
    this.#watcher = watch(deps.folder.own, { persistent: false }, (_event, name) => {
      if (name === 'index.lock') this.#left = false;
      this.#stir(name === 'index.lock');
    });
    this.#watcher.on('error', (error) => deps.broke(error));
  }

  /** What is checked out, as it was told last. */
  get head(): GitHead {
    const { branch, commit } = this.#state;
    return { branch, commit };
  }

  /** Resolves once git is not at work and what it did was told. */
  async passed(): Promise<Passed> {
    if (this.#settling === undefined) {
      const now = await readGitState(this.#deps.folder);
      if ((!now.locked || this.#left) && isSame(this.#state, now)) return 'free';
      this.#stir(true);
    }
    const settling = this.#settling;
    await settling?.ended;
    return settling?.worked === true ? 'during' : 'free';
  }

  dispose(): void {
    this.#ended = true;
    this.#watcher.close();
    this.#settling?.timer?.dispose();
    this.#settling?.end();
    this.#settling = undefined;
  }

  #stir(worked: boolean): void {
    if (this.#ended) return;
    if (this.#settling === undefined) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#settling = { since: this.#deps.clock.now(), ended: promise, end: resolve, worked };
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
    if (after.locked && !this.#left && waited < LONGEST_MILLISECONDS) {
      this.#wait(settling, QUIET_MILLISECONDS);
      return;
    }
    this.#left = after.locked;
    if (isSame(before, after)) {
      // What was touched meanwhile was not touched by git.
      if (this.#left) settling.worked = false;
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
    // Something moved while we looked: then this is not the end of it.
    if (this.#isStirred(settling) || this.#ended) return;
    const log = await readHeadLog(folder, before.logLength);
    const what = describeGit(before, after, log);
    this.#state = after;
    if (what !== undefined) {
      // Half-way through, the commits say nothing of the files.
      const paths = after.underWay === undefined ? await this.#compare(before.commit, after.commit) : undefined;
      const { since } = settling;
      await this.#deps.settled({ before, after, what, files: paths?.length, paths: paths ?? [], conflicts, since });
    }
    // What stirred while it was told is another operation, or the rest of this one.
    if (!this.#isStirred(settling)) this.#settle(settling);
  }

  #isStirred(settling: Settling): boolean {
    return settling.timer !== undefined;
  }

  async #conflicts(): Promise<readonly string[]> {
    const names = await this.#git('diff', '--name-only', '--diff-filter=U', '--no-ext-diff', '-z');
    return names === undefined ? [] : [...new Set(names)];
  }

  async #compare(before: string, after: string): Promise<readonly string[] | undefined> {
    if (before === '' || after === '' || before === after) return undefined;
    return this.#git('diff-tree', '-r', '--name-only', '--no-renames', '-z', before, after);
  }

  /** The names that it prints; undefined if it cannot be asked. */
  async #git(...args: readonly string[]): Promise<readonly string[] | undefined> {
    if (!this.#deps.trusted) return undefined;
    const options = {
      cwd: this.#deps.folder.tree,
      timeout: COMMAND_MILLISECONDS,
      maxBuffer: 64 * 1024 * 1024,
      env: { ...process.env, GIT_OPTIONAL_LOCKS: '0' },
    };
    const run = promisify(execFile)('git', ['-c', 'core.fsmonitor=false', ...args], options);
    const printed = await run.catch(() => undefined);
    return printed?.stdout.split('\0').filter((name) => name !== '');
  }
}

function isSame(before: GitState, after: GitState): boolean {
  return (
    before.branch === after.branch &&
    before.commit === after.commit &&
    before.stash === after.stash &&
    before.underWay === after.underWay
  );
}
