// The diagnostics producer: reports to each conversation the new and resolved problems in the files that it has seen.
import { Sequence } from '../../base/async.ts';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import {
  compareProblems,
  describeSettled,
  INTRODUCED,
  introducedDraft,
  type KnownProblems,
  type ProblemDelta,
  RESOLVED,
  resolvedDraft,
} from '../../core/notify/wording/problems.ts';
import { type Clock, type Logger, type Producer, type Publisher, type SeenFiles } from '../../core/ports/ports.ts';
import { type EditWatch, type Problem, type Problems, type ReportedProblems } from '../../core/ports/problems.ts';
import { type LiveConversations } from '../../core/ports/producers.ts';
import { type FilePath, type Workspace } from '../../core/ports/workspace.ts';
import { fileScope } from '../../protocol/scopes.ts';
import { ReportOnce } from '../reportOnce.ts';
import { KnownFiles } from './knownFiles.ts';
import { type ChangeTime, type Observation, ObservedProblems } from './observedProblems.ts';
import { OtherErrors } from './otherErrors.ts';

/** How many documents are kept open at most, and how many of them only because they were seen last. */
const MOST_OPEN = 120;
const NEWEST_SEEN = 100;

export interface DiagnosticsDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly problems: Problems;
  readonly workspace: Workspace;
}

export function createDiagnosticsProducer(deps: DiagnosticsDeps): Producer & ReportedProblems {
  let running: DiagnosticsWatch | undefined;
  const nothing: EditWatch = { settle: async () => undefined, dispose: () => undefined };
  return {
    name: 'diagnostics',
    start: (publisher, seen, { live }) => {
      const watch = new DiagnosticsWatch(deps, publisher, seen, live);
      running = watch;
      return {
        dispose: () => {
          if (running === watch) running = undefined;
          watch.dispose();
        },
      };
    },
    sample: async ({ conversation }) => {
      await running?.settleReports(conversation);
      return [];
    },
    beginEdit: (conversation) => running?.beginEdit(conversation) ?? nothing,
    look: async (file, signal) => running?.look(file, signal),
    shown: async (conversation, files) => running?.shown(conversation, files),
  };
}

/** One conversation: the problems that it knows, and the state of its reports. */
interface Recipient {
  readonly known: KnownFiles;
  /** Number of its edits that are not settled. */
  editing: number;
  /** Files that servers reported on during those edits. */
  readonly heldBack: Map<string, FilePath>;
  /** Reports are made one after the other, so that no report is made twice. */
  readonly reports: Sequence;
}

class DiagnosticsWatch implements Disposable {
  readonly #deps: DiagnosticsDeps;
  readonly #seen: SeenFiles;
  readonly #held = new DisposableStore();
  readonly #observed: ObservedProblems;
  readonly #others: OtherErrors;
  /** The problems of a file that were reported last. */
  readonly #reports: ReportOnce<readonly Problem[]>;
  readonly #recipients = new Map<string, Recipient>();
  readonly #files = new Map<string, FilePath>();
  /** Files that were changed or requested recently, newest last. */
  #recent: readonly FilePath[] = [];
  #ended = false;

  constructor(deps: DiagnosticsDeps, publisher: Publisher, seen: SeenFiles, live: LiveConversations) {
    this.#deps = deps;
    this.#seen = seen;
    this.#observed = this.#held.add(
      new ObservedProblems(deps, {
        quiet: (files) => this.#observeAll(files),
        changing: (path, time) => this.#changing(path, time),
      }),
    );
    const failed = (error: unknown) => this.#report(error);
    const reporting = { clock: deps.clock, publisher, until: 'withdrawn', failed } as const;
    this.#reports = new ReportOnce(reporting);
    this.#others = new OtherErrors(reporting, this.#observed.all);
    this.#held.add(seen.onDidChange(() => this.#follow()));
    this.#held.add(live.onDidChange(() => this.#forgetClosed(new Set(live.ids()))));
    this.#follow();
  }

  dispose(): void {
    this.#ended = true;
    this.#held.dispose();
    this.#deps.problems.keepOpen([]);
  }

  beginEdit(conversation: string): EditWatch {
    const recipient = this.#recipient(conversation);
    const began = this.#deps.clock.now();
    recipient.editing += 1;
    recipient.known.confirmSettled();
    let ended = false;
    return {
      settle: (changed, signal) => this.#settle(conversation, changed, began, signal),
      dispose: () => {
        if (ended) return;
        ended = true;
        recipient.editing -= 1;
        if (recipient.editing === 0) this.#releaseHeldBack(conversation, recipient);
      },
    };
  }

  async look(file: FilePath, signal: AbortSignal): Promise<void> {
    this.#files.set(file.path, file);
    this.#remember([file]);
    if (this.#deps.problems.of(file).open && this.#observed.isSettled(file.path)) return;
    await this.#observed.settled([file.path], this.#deps.clock.now(), signal);
  }

  async shown(conversation: string, files: readonly FilePath[]): Promise<void> {
    const recipient = this.#recipient(conversation);
    await recipient.reports.run(async () => {
      for (const file of files) await this.#takeDelta(conversation, recipient, this.#observed.observe(file));
    });
  }

  /** Resolves once problems that servers have just reported are published to this conversation. */
  async settleReports(conversation: string): Promise<void> {
    const isSeen = (path: string) => this.#seen.get(path)?.by.some((one) => one.conversation === conversation) === true;
    await this.#observed.quiet(isSeen);
    await this.#recipients.get(conversation)?.reports.settled();
  }

  #recipient(conversation: string): Recipient {
    const known = this.#recipients.get(conversation);
    if (known !== undefined) return known;
    const recipient: Recipient = {
      known: new KnownFiles(this.#deps.clock, this.#observed),
      editing: 0,
      heldBack: new Map(),
      reports: new Sequence(),
    };
    this.#recipients.set(conversation, recipient);
    this.#others.join(conversation);
    return recipient;
  }

  /** A reopened conversation starts from scratch, since nothing was reported to it while it was closed. */
  #forgetClosed(live: ReadonlySet<string>): void {
    if (live.size === 0 && this.#recent.length > 0) {
      this.#recent = [];
      this.#keepOpen();
    }
    for (const conversation of [...this.#recipients.keys()]) {
      if (live.has(conversation)) continue;
      this.#recipients.delete(conversation);
      this.#reports.forget(conversation);
      this.#others.leave(conversation);
    }
  }

  #report(error: unknown): void {
    this.#deps.logger.error('reporting problems failed', error);
  }

  /** Problems that exist when a conversation first sees a file are its starting state. */
  #follow(): void {
    const all = this.#seen.all();
    // Noted before the first `await`, so that later changes are reported.
    for (const { path, by } of all)
      for (const { conversation } of by) this.#recipient(conversation).known.noteRead(path);
    const follow = async () => {
      for (const { path, by } of all) {
        const file = this.#files.get(path) ?? (await this.#resolve(path));
        if (file === undefined || this.#ended) continue;
        for (const { conversation } of by) {
          // A document that is not open yet will be opened; the first report on it is the starting state.
          if (this.#deps.problems.of(file).open) this.#recipient(conversation).known.takeStart(file);
        }
      }
      if (!this.#ended) this.#keepOpen();
    };
    void follow().catch((error: unknown) => this.#report(error));
  }

  #changing(changed: string, time: ChangeTime): void {
    for (const { known } of this.#recipients.values()) {
      known.confirmSettled();
      for (const path of known.doubtFirstReports(changed, time)) {
        const file = this.#files.get(path);
        if (file !== undefined) this.#observed.recheckSoon(file);
      }
    }
  }

  async #resolve(path: string): Promise<FilePath | undefined> {
    const resolved = await this.#deps.workspace.resolve(path);
    if (!resolved.ok) return undefined;
    this.#files.set(path, resolved.value);
    return resolved.value;
  }

  /** Keeps open: recently changed files, files with known problems, and the files seen last. */
  #keepOpen(): void {
    const seen = this.#seen.all().map(({ path }) => path);
    const faulty = seen.filter((path) =>
      [...this.#recipients].some(
        ([conversation, { known }]) =>
          this.#reports.get(conversation, fileScope(path)) !== undefined || (known.get(path)?.problems.length ?? 0) > 0,
      ),
    );
    const paths = [
      ...this.#recent.map(({ path }) => path).toReversed(),
      ...faulty,
      ...seen.slice(-NEWEST_SEEN).toReversed(),
    ];
    const files = [...new Set(paths)].slice(0, MOST_OPEN).flatMap((path) => this.#files.get(path) ?? []);
    this.#deps.problems.keepOpen(files);
  }

  #observeAll(files: readonly FilePath[]): void {
    for (const file of files) {
      const observation = this.#observed.observe(file);
      const by = this.#seen.get(file.path)?.by ?? [];
      const changed = this.#observed.changedSince(file.path, this.#observed.openedAt(file.path)) !== undefined;
      if (observation.warming && !changed) this.#others.wasThere(file.path);
      for (const { conversation } of by) this.#reportIfNew(conversation, observation);
    }
    for (const [conversation, recipient] of this.#recipients) {
      if (recipient.editing > 0) continue;
      const unseen = (path: string) => !recipient.known.has(path);
      const reporting = recipient.reports.run(() => this.#others.report(conversation, unseen));
      void reporting.catch((error: unknown) => this.#report(error));
    }
  }

  #reportIfNew(conversation: string, observation: Observation): void {
    const recipient = this.#recipient(conversation);
    const { path } = observation.file;
    if (recipient.editing > 0) {
      recipient.heldBack.set(path, observation.file);
      return;
    }
    if (!recipient.known.isNew(observation)) return;
    const reporting = recipient.reports.run(() => this.#reportFile(conversation, recipient, observation));
    void reporting.catch((error: unknown) => this.#report(error));
  }

  async #reportFile(conversation: string, recipient: Recipient, { file, problems }: Observation): Promise<void> {
    const last = this.#reports.get(conversation, fileScope(file.path));
    if (last !== undefined && isUnchanged(compareProblems({ problems: last, sure: true }, problems))) return;
    // A problem quotes the file, and its path may meanwhile lead outside the workspace.
    if (!(await this.#deps.workspace.mayShow(file))) return;
    const known = await this.#withdraw(conversation, recipient, file.path);
    const delta = recipient.known.compare(file.path, known, problems);
    if (isUnchanged(delta)) {
      recipient.known.set(file.path, problems, known.sure);
      return;
    }
    // The more severe one is published last, so that it is the newest notification of the file.
    const drafts = [
      ...(delta.resolved.length > 0 ? [resolvedDraft(file.path, delta)] : []),
      ...(delta.introduced.length > 0 ? [introducedDraft(file.path, delta)] : []),
    ];
    this.#reports.report(conversation, fileScope(file.path), problems, ...drafts);
    this.#keepOpen();
  }

  /** Withdraws the last report unless it was delivered. Returns the problems that the conversation knows then. */
  async #withdraw(conversation: string, { known }: Recipient, path: string): Promise<KnownProblems> {
    const kinds = [INTRODUCED, RESOLVED];
    const last = await this.#reports.withdraw(conversation, fileScope(path), kinds, 'it is no longer so');
    if (last?.delivered === true) known.set(path, last.state, true);
    return known.get(path) ?? { problems: [], sure: false };
  }

  /** The problems are shown to the model now, so they count as known. */
  async #takeDelta(conversation: string, recipient: Recipient, { file, problems }: Observation): Promise<ProblemDelta> {
    const known = await this.#withdraw(conversation, recipient, file.path);
    recipient.heldBack.delete(file.path);
    recipient.known.set(file.path, problems, known.sure);
    return recipient.known.compare(file.path, known, problems);
  }

  async #settle(
    conversation: string,
    changed: readonly FilePath[],
    began: number,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const recipient = this.#recipient(conversation);
    for (const file of changed) {
      this.#files.set(file.path, file);
      // No server has checked the file before, so its problems may be older than the edit.
      if (!recipient.known.has(file.path)) recipient.known.markUnknown(file.path);
      recipient.known.noteRead(file.path, began);
    }
    this.#remember(changed);
    const paths = changed.map(({ path }) => path);
    await this.#observed.settled(paths, began, signal);
    return recipient.reports.run(async () => {
      const files = new Map([...changed.map((file) => [file.path, file] as const), ...recipient.heldBack]);
      const deltas: [string, ProblemDelta][] = [];
      for (const [path, file] of files) {
        const observation = this.#observed.observe(file);
        if (!paths.includes(path) && !recipient.known.isNew(observation)) recipient.heldBack.delete(path);
        else deltas.push([path, await this.#takeDelta(conversation, recipient, observation)]);
      }
      const others = await this.#others.take(conversation, (path) => !recipient.known.has(path));
      this.#keepOpen();
      return describeSettled({ files: deltas, others });
    });
  }

  #remember(files: readonly FilePath[]): void {
    const paths = new Set(files.map(({ path }) => path));
    this.#recent = [...this.#recent.filter(({ path }) => !paths.has(path)), ...files].slice(-NEWEST_SEEN);
    this.#keepOpen();
  }

  /** Reports the problems that arrived during the conversation's edits and are not part of a result. */
  #releaseHeldBack(conversation: string, recipient: Recipient): void {
    const files = [...recipient.heldBack.values()];
    recipient.heldBack.clear();
    for (const file of files) this.#reportIfNew(conversation, this.#observed.observe(file));
  }
}

function isUnchanged({ introduced, resolved }: ProblemDelta): boolean {
  return introduced.length + resolved.length === 0;
}
