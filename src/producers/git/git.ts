// Tells every live conversation once when git made other files of the workspace, and which of those it has read.
import { relative, sep } from 'node:path';
import { type Disposable, DisposableStore, toDisposable } from '../../base/disposable.ts';
import { type FileState } from '../../core/files/fileState.ts';
import { type Author } from '../../core/notify/wording/author.ts';
import { GIT_KIND, type GitHead, type GitOperation, gitHeadChanged } from '../../core/notify/wording/gitChange.ts';
import {
  type Clock,
  type Logger,
  type Producer,
  type Publisher,
  type SeenFile,
  type SeenFiles,
} from '../../core/ports/ports.ts';
import { type ProducerHost, type Sample } from '../../core/ports/producers.ts';
import { type Snapshots } from '../../core/ports/storage.ts';
import { type Workspace } from '../../core/ports/workspace.ts';
import { fileScope } from '../../protocol/scopes.ts';
import { Authorship } from '../files/authorship.ts';
import { type Hashes, knownOf, readSeenHashes } from '../files/seenHashes.ts';
import { type GitGate, type Passed } from './gitGate.ts';
import { GitRepository, type RepositoryDeps, type Settled } from './gitRepository.ts';
import { findGitFolder } from './gitState.ts';

export interface GitDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly snapshots: Snapshots;
  readonly workspace: Workspace;
  readonly gate: GitGate;
  /** What a test puts in the place of a repository on disk. */
  readonly find?: typeof findGitFolder;
  readonly open?: (deps: RepositoryDeps) => Promise<Repository>;
}

type Repository = Pick<GitRepository, 'passed' | 'dispose'> & Partial<Pick<GitRepository, 'head'>>;

export function createGitProducer(deps: GitDeps): Producer {
  let running: GitWatch | undefined;
  return {
    name: 'git',
    start: (publisher, seen, host) => (running = new GitWatch(deps, publisher, seen, host)),
    sample: ({ conversation }) => running?.sample(conversation) ?? [],
  };
}

/** What waits for a conversation. */
interface Waiting {
  readonly operation: GitOperation;
  readonly author: Author | undefined;
  /** Nothing else than files has changed. */
  readonly filesOnly: boolean;
  readonly files: readonly FileState[];
  /** What it knew of these files before, by hash. */
  readonly known: Hashes;
  readonly message: string;
  /** It is not held back any more. */
  queued: boolean;
}

interface Outdated {
  readonly subject: string;
  readonly before: GitHead;
  readonly head: GitHead;
  readonly message: string;
}

class GitWatch implements Disposable {
  readonly #deps: GitDeps;
  readonly #publisher: Publisher;
  readonly #seen: SeenFiles;
  readonly #host: ProducerHost;
  readonly #held = new DisposableStore();
  readonly #authorship: Authorship;
  /** By subject. */
  readonly #repositories = new Map<string, Repository>();
  readonly #opening: Promise<void>;
  /** What each conversation believes is checked out, while it has not been told otherwise. */
  readonly #believes = new Map<string, GitHead>();
  /** By conversation, then by subject, until the next delivery point. */
  readonly #waiting = new Map<string, Map<string, Waiting>>();

  constructor(deps: GitDeps, publisher: Publisher, seen: SeenFiles, host: ProducerHost) {
    this.#deps = deps;
    this.#publisher = publisher;
    this.#seen = seen;
    this.#host = host;
    this.#authorship = this.#held.add(new Authorship({ ...deps, live: host.live }));
    this.#held.add(toDisposable(() => deps.gate.keep(undefined)));
    deps.gate.keep(() => this.#passed());
    this.#opening = this.#open().catch((error: unknown) => host.broke(error));
  }

  dispose(): void {
    this.#held.dispose();
  }

  async #open(): Promise<void> {
    const { workspace, clock, logger } = this.#deps;
    const found = await Promise.all(
      workspace.folders.map(({ absolute }) => (this.#deps.find ?? findGitFolder)(absolute)),
    );
    const folders = new Map(found.flatMap((folder) => (folder === undefined ? [] : [[folder.own, folder]])));
    for (const folder of folders.values()) {
      const repository = await (this.#deps.open ?? GitRepository.open)({
        folder,
        clock,
        trusted: workspace.trusted,
        settled: (settled) => this.#settled(folder.tree, settled),
        report: (error) => logger.error('looking at what git did failed', error),
        broke: (error) => this.#host.broke(error),
      });
      // It may have been stopped meanwhile: then this ends at once too.
      this.#held.add(repository);
      this.#repositories.set(subjectOf(folder.tree), repository);
    }
  }

  async #passed(): Promise<Passed> {
    await this.#opening;
    const all = await Promise.all([...this.#repositories.values()].map((repository) => repository.passed()));
    return all.includes('during') ? 'during' : 'free';
  }

  async #settled(tree: string, settled: Settled): Promise<void> {
    const { clock, gate } = this.#deps;
    const paths = new Set(this.#inWorkspace(tree, settled.paths ?? []));
    gate.worked(settled.since, clock.now(), paths);
    const { hashes, unsaved } = await readSeenHashes(this.#deps, this.#seen.all());
    const under = [...paths].filter((path) => unsaved.has(path));
    const told = this.#host.live.ids().map((id) => this.#tell(tree, { ...settled, under }, hashes, id));
    await Promise.all(told);
  }

  /** The working tree may begin above the workspace's folders. */
  #inWorkspace(tree: string, paths: readonly string[]): string[] {
    return this.#deps.workspace.folders.flatMap(({ path: name, absolute }) => {
      const inner = relative(tree, absolute).split(sep).join('/');
      const prefix = inner === '' ? '' : `${inner}/`;
      return paths.flatMap((path) =>
        path.startsWith(prefix) ? [name, path.slice(prefix.length)].filter((part) => part !== '').join('/') : [],
      );
    });
  }

  async #tell(
    tree: string,
    settled: Settled & { readonly under: readonly string[] },
    hashes: Hashes,
    conversation: string,
  ): Promise<void> {
    const subject = subjectOf(tree);
    const key = JSON.stringify([conversation, subject]);
    // What it did not hear yet is replaced by where all of it led.
    const pending = await this.#publisher.withdraw(GIT_KIND, subject, 'git went on', conversation);
    const waiting = this.#waitingFor(conversation);
    waiting.delete(subject);
    const before = (pending ? this.#believes.get(key) : undefined) ?? settled.before;
    this.#believes.set(key, before);
    const { after } = settled;
    await this.#withdrawFiles(this.#affected(conversation, hashes), conversation);
    // What nobody heard of was just taken back: only now is it known what there is to tell.
    const files = this.#affected(conversation, hashes);
    const roundTrip = pending && before.branch === after.branch && before.commit === after.commit;
    // Files that are another way than it knows were so before git began: whoever watches them tells of them again.
    if (roundTrip && settled.conflicts.length === 0) return;
    const combined = pending && before.branch !== after.branch;
    const operation: GitOperation = {
      subject,
      before,
      after,
      what: combined ? switchedWords(before, after) : settled.what,
      files: pending ? undefined : settled.files,
      conflicts: settled.conflicts,
      under: settled.under.filter((path) => this.#viewOf(path, conversation) !== undefined),
    };
    const filesOnly =
      settled.before.underWay === after.underWay && before.branch === after.branch && before.commit === after.commit;
    if (!isNews({ operation, filesOnly }, files)) return;
    const change = { path: '', hash: '', touched: settled.since };
    const judged = this.#authorship.judge(change, conversation);
    const author = judged === 'own' ? undefined : judged;
    const draft = gitHeadChanged(operation, files, author);
    const known = new Map(files.map(({ path }) => [path, knownOf(this.#viewOf(path, conversation))]));
    const said = { operation, author, filesOnly, files, known, message: draft.message, queued: false };
    waiting.set(subject, said);
    await this.#publisher.publish({ ...draft, at: new Date(this.#deps.clock.now()).toISOString() }, conversation);
    said.queued = true;
  }

  /** What waits may have been overtaken: a file that git changed and the user has put back since. */
  async sample(conversation: string): Promise<Sample[]> {
    const waiting = this.#waitingFor(conversation);
    const queued = [...waiting].filter(([, said]) => said.queued);
    const older = [...this.#repositories].flatMap(([subject, { head }]) => this.#outdated(subject, head, conversation));
    if (queued.length + older.length === 0) return [];
    const { hashes } = await readSeenHashes(this.#deps, this.#seen.all());
    const compared = queued.flatMap(([subject, said]) => {
      // Git went on while the files were read: that is told instead.
      if (waiting.get(subject) !== said) return [];
      waiting.delete(subject);
      return this.#compareAgain(subject, said, hashes, conversation);
    });
    return [...compared, ...older.map((one) => this.#bringUpToDate(one, hashes, conversation))];
  }

  /** It was queued before the conversation was closed, and git went on while it was. */
  #outdated(subject: string, head: GitHead | undefined, conversation: string): Outdated[] {
    const pending = this.#host.live.pending(conversation, GIT_KIND, subject);
    const [before, after] = [toHead(pending?.data?.['before']), toHead(pending?.data?.['after'])];
    if (pending === undefined || before === undefined || after === undefined || head === undefined) return [];
    return isSameHead(after, head) ? [] : [{ subject, before, head, message: pending.message }];
  }

  #bringUpToDate({ subject, before, head, message }: Outdated, hashes: Hashes, conversation: string): Sample {
    if (isSameHead(before, head)) return { kind: GIT_KIND, subject, replaces: message };
    const files = [...hashes].flatMap(([path, hash]): FileState[] => {
      const view = this.#viewOf(path, conversation);
      return view === undefined || view.hash === hash ? [] : [{ path, hash, complete: false }];
    });
    const switched = before.branch !== head.branch;
    const what = switched ? switchedWords(before, head) : `moved ${nameOf(head)} to another commit`;
    const operation = { subject, before, after: head, what, files: undefined, conflicts: [] };
    return { kind: GIT_KIND, subject, replaces: message, draft: gitHeadChanged(operation, files, undefined) };
  }

  #compareAgain(subject: string, said: Waiting, hashes: Hashes, conversation: string): Sample[] {
    const moved = said.files.filter(({ path, hash }) => (hashes.get(path) ?? hash) !== hash);
    if (moved.length === 0) return [];
    const back = moved.filter(({ path }) => hashes.get(path) === said.known.get(path));
    const files = said.files.flatMap((state): FileState[] => {
      if (!moved.includes(state)) return [state];
      const view = this.#viewOf(state.path, conversation);
      const hash = hashes.get(state.path) ?? state.hash;
      // As it was known to be; or whoever watches it has told of it.
      if (back.includes(state) || view === undefined || view.announced === hash) return [];
      return [{ path: state.path, hash, complete: hash === view.hash }];
    });
    const operation = { ...said.operation, alone: files.length + back.length === said.files.length };
    const draft = isNews(said, files) ? gitHeadChanged(operation, files, said.author) : undefined;
    return [
      { kind: GIT_KIND, subject, replaces: said.message, ...(draft && { draft }) },
      // That it is again as it was read is nothing to whoever never heard otherwise.
      ...back.map(({ path }) => ({ kind: { source: 'file', name: 'changed' }, subject: fileScope(path) })),
    ];
  }

  #waitingFor(conversation: string): Map<string, Waiting> {
    const waiting = this.#waiting.get(conversation) ?? new Map<string, Waiting>();
    this.#waiting.set(conversation, waiting);
    return waiting;
  }

  /** Complete: what it was told to be otherwise and is again as it read it. */
  #affected(conversation: string, hashes: Hashes): FileState[] {
    const states = [...hashes].flatMap(([path, hash]): FileState[] => {
      const view = this.#viewOf(path, conversation);
      if (view === undefined || hash === knownOf(view)) return [];
      return [{ path, hash, complete: hash === view.hash }];
    });
    return states.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  #viewOf(path: string, conversation: string): SeenFile['by'][number] | undefined {
    return this.#seen.get(path)?.by.find((one) => one.conversation === conversation);
  }

  /** One for all: what was to be told of each alone is said here. */
  async #withdrawFiles(files: readonly FileState[], conversation: string): Promise<void> {
    for (const { path } of files) {
      for (const name of ['changed', 'deleted']) {
        await this.#publisher.withdraw({ source: 'file', name }, fileScope(path), 'git changed it', conversation);
      }
    }
  }
}

/** What was stashed away or taken out concerns only who has read it. */
function isNews(
  { operation, filesOnly }: Pick<Waiting, 'operation' | 'filesOnly'>,
  files: readonly FileState[],
): boolean {
  return !filesOnly || files.length > 0 || operation.conflicts.length > 0;
}

function nameOf({ branch, commit }: GitHead): string {
  return branch ?? `commit ${commit.slice(0, 7)}`;
}

function switchedWords(before: GitHead, after: GitHead): string {
  return `switched from ${nameOf(before)} to ${nameOf(after)}`;
}

function subjectOf(tree: string): string {
  return `git:${tree}`;
}

function isSameHead(one: GitHead, other: GitHead): boolean {
  return one.branch === other.branch && one.commit === other.commit;
}

/** As the log has it. */
function toHead(data: unknown): GitHead | undefined {
  if (typeof data !== 'object' || data === null || !('commit' in data) || typeof data.commit !== 'string')
    return undefined;
  const branch = 'branch' in data && typeof data.branch === 'string' ? data.branch : undefined;
  return { branch, commit: data.commit };
}
