// The git producer: reports each git operation once, with the seen files that it changed.
import { type Disposable, DisposableStore, toDisposable } from '../../base/disposable.ts';
import { type FileState } from '../../core/files/fileState.ts';
import { type Author } from '../../core/notify/wording/author.ts';
import { GIT_KIND, type GitHead, type GitOperation, gitHeadChanged } from '../../core/notify/wording/gitChange.ts';
import { type Producer, type Publisher, type SeenFile, type SeenFiles } from '../../core/ports/ports.ts';
import { type ProducerHost, type Sample } from '../../core/ports/producers.ts';
import { findGitFolder } from '../../node/files/gitFolder.ts';
import { fileScope } from '../../protocol/scopes.ts';
import { Authorship } from '../files/authorship.ts';
import { type FileProducerDeps, knownOf } from '../files/currentFile.ts';
import { type Hashes, readSeenHashes } from '../files/seenHashes.ts';
import { inWorkspace } from './inWorkspace.ts';
import { type GitGate, type Passed } from './gitGate.ts';
import { GitRepository, type RepositoryDeps, type Settled } from './gitRepository.ts';

export interface GitDeps extends FileProducerDeps {
  readonly gate: GitGate;
  /** Replaces a repository on disk in tests. */
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

/** A report that may not have been delivered to the conversation yet. */
interface PendingReport {
  readonly operation: GitOperation;
  readonly author: Author | undefined;
  /** The operation changed only files: neither the head nor an unfinished operation. */
  readonly filesOnly: boolean;
  readonly files: readonly FileState[];
  /** The hashes of these files that the conversation knew before. */
  readonly known: Hashes;
  readonly message: string;
  /** The throttle has released the notification. */
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
  /** The head that each conversation knows. */
  readonly #knownHeads = new Map<string, GitHead>();
  /** By conversation, then by subject, until the next delivery point. */
  readonly #pending = new Map<string, Map<string, PendingReport>>();

  constructor(deps: GitDeps, publisher: Publisher, seen: SeenFiles, host: ProducerHost) {
    this.#deps = deps;
    this.#publisher = publisher;
    this.#seen = seen;
    this.#host = host;
    this.#authorship = this.#held.add(new Authorship({ ...deps, live: host.live }));
    this.#held.add(toDisposable(() => deps.gate.setWait(undefined)));
    deps.gate.setWait(() => this.#passed());
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
        report: (error) => logger.error('reading the state of a repository failed', error),
        broke: (error) => this.#host.broke(error),
      });
      // If the producer was stopped meanwhile, this disposes it at once.
      this.#held.add(repository);
      this.#repositories.set(repositorySubject(folder.tree), repository);
    }
  }

  async #passed(): Promise<Passed> {
    await this.#opening;
    const all = await Promise.all([...this.#repositories.values()].map((repository) => repository.passed()));
    return all.includes('during') ? 'during' : 'free';
  }

  async #settled(tree: string, settled: Settled): Promise<void> {
    const { clock, gate } = this.#deps;
    const paths = new Set(inWorkspace(this.#deps.workspace.folders, tree, settled.paths ?? []));
    gate.addOperation(settled.since, clock.now(), paths);
    const { hashes, unsaved } = await readSeenHashes(this.#deps, this.#seen.all());
    const under = [...paths].filter((path) => unsaved.has(path));
    const reports = this.#host.live.ids().map((id) => this.#report(tree, { ...settled, under }, hashes, id));
    await Promise.all(reports);
  }

  async #report(
    tree: string,
    settled: Settled & { readonly under: readonly string[] },
    hashes: Hashes,
    conversation: string,
  ): Promise<void> {
    const subject = repositorySubject(tree);
    const key = JSON.stringify([conversation, subject]);
    // A pending report is replaced by a report of the combined operation.
    const pending = await this.#publisher.withdraw(GIT_KIND, subject, 'git went on', conversation);
    const pendingReports = this.#pendingFor(conversation);
    pendingReports.delete(subject);
    const before = (pending ? this.#knownHeads.get(key) : undefined) ?? settled.before;
    this.#knownHeads.set(key, before);
    const { after } = settled;
    await this.#withdrawFiles(this.#affected(conversation, hashes), conversation);
    // Computed again: withdrawn notifications change what the conversation knows.
    const files = this.#affected(conversation, hashes);
    const roundTrip = pending && before.branch === after.branch && before.commit === after.commit;
    // Files that still differ differed before the git operation; the files producer reports them again.
    if (roundTrip && settled.conflicts.length === 0) return;
    const combined = pending && before.branch !== after.branch;
    const operation: GitOperation = {
      subject,
      before,
      after,
      what: combined ? describeSwitch(before, after) : settled.what,
      files: pending ? undefined : settled.files,
      conflicts: settled.conflicts,
      under: settled.under.filter((path) => this.#viewOf(path, conversation) !== undefined),
    };
    const filesOnly =
      settled.before.underWay === after.underWay && before.branch === after.branch && before.commit === after.commit;
    if (!isWorthReporting({ operation, filesOnly }, files)) return;
    const change = { path: '', hash: '', touched: settled.since };
    const judged = this.#authorship.judge(change, conversation);
    const author = judged === 'own' ? undefined : judged;
    const draft = gitHeadChanged(operation, files, author);
    const known = new Map(files.map(({ path }) => [path, knownOf(this.#viewOf(path, conversation))]));
    const report = { operation, author, filesOnly, files, known, message: draft.message, queued: false };
    pendingReports.set(subject, report);
    await this.#publisher.publish({ ...draft, at: new Date(this.#deps.clock.now()).toISOString() }, conversation);
    report.queued = true;
  }

  /** Updates pending reports that are outdated, for example if the user has restored a file that git changed. */
  async sample(conversation: string): Promise<Sample[]> {
    const pendingReports = this.#pendingFor(conversation);
    const queued = [...pendingReports].filter(([, report]) => report.queued);
    const older = [...this.#repositories].flatMap(([subject, { head }]) => this.#outdated(subject, head, conversation));
    if (queued.length + older.length === 0) return [];
    const { hashes } = await readSeenHashes(this.#deps, this.#seen.all());
    const compared = queued.flatMap(([subject, report]) => {
      // A newer operation was reported while the files were read.
      if (pendingReports.get(subject) !== report) return [];
      pendingReports.delete(subject);
      return this.#compareAgain(subject, report, hashes, conversation);
    });
    return [...compared, ...older.map((one) => this.#bringUpToDate(one, hashes, conversation))];
  }

  /** Reports that were queued before the conversation was closed, and whose head has changed since. */
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
    const what = switched ? describeSwitch(before, head) : `moved ${describeHead(head)} to another commit`;
    const operation = { subject, before, after: head, what, files: undefined, conflicts: [] };
    return { kind: GIT_KIND, subject, replaces: message, draft: gitHeadChanged(operation, files, undefined) };
  }

  #compareAgain(subject: string, report: PendingReport, hashes: Hashes, conversation: string): Sample[] {
    const moved = report.files.filter(({ path, hash }) => (hashes.get(path) ?? hash) !== hash);
    if (moved.length === 0) return [];
    const back = moved.filter(({ path }) => hashes.get(path) === report.known.get(path));
    const files = report.files.flatMap((state): FileState[] => {
      if (!moved.includes(state)) return [state];
      const view = this.#viewOf(state.path, conversation);
      const hash = hashes.get(state.path) ?? state.hash;
      // The file is as the conversation knows it, or another producer has reported it.
      if (back.includes(state) || view === undefined || view.announced === hash) return [];
      return [{ path: state.path, hash, complete: hash === view.hash }];
    });
    const operation = { ...report.operation, alone: files.length + back.length === report.files.length };
    const draft = isWorthReporting(report, files) ? gitHeadChanged(operation, files, report.author) : undefined;
    return [
      { kind: GIT_KIND, subject, replaces: report.message, ...(draft && { draft }) },
      // A file that is again as it was read needs no report if none was delivered before.
      ...back.map(({ path }) => ({ kind: { source: 'file', name: 'changed' }, subject: fileScope(path) })),
    ];
  }

  #pendingFor(conversation: string): Map<string, PendingReport> {
    const pendingReports = this.#pending.get(conversation) ?? new Map<string, PendingReport>();
    this.#pending.set(conversation, pendingReports);
    return pendingReports;
  }

  /** Seen files whose state the conversation does not know. `complete`: the file is again as it was read. */
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

  /** The report of the operation replaces the notifications of single files. */
  async #withdrawFiles(files: readonly FileState[], conversation: string): Promise<void> {
    for (const { path } of files) {
      for (const name of ['changed', 'deleted']) {
        await this.#publisher.withdraw({ source: 'file', name }, fileScope(path), 'git changed it', conversation);
      }
    }
  }
}

/** An operation that changed files only, such as a stash, is reported only if it changed seen files. */
function isWorthReporting(
  { operation, filesOnly }: Pick<PendingReport, 'operation' | 'filesOnly'>,
  files: readonly FileState[],
): boolean {
  return !filesOnly || files.length > 0 || operation.conflicts.length > 0;
}

function describeHead({ branch, commit }: GitHead): string {
  return branch ?? `commit ${commit.slice(0, 7)}`;
}

function describeSwitch(before: GitHead, after: GitHead): string {
  return `switched from ${describeHead(before)} to ${describeHead(after)}`;
}

function repositorySubject(tree: string): string {
  return `git:${tree}`;
}

function isSameHead(one: GitHead, other: GitHead): boolean {
  return one.branch === other.branch && one.commit === other.commit;
}

/** Parses a head from the data of a notification in the log. */
function toHead(data: unknown): GitHead | undefined {
  if (typeof data !== 'object' || data === null || !('commit' in data) || typeof data.commit !== 'string')
    return undefined;
  const branch = 'branch' in data && typeof data.branch === 'string' ? data.branch : undefined;
  return { branch, commit: data.commit };
}
