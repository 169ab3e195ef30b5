// The files producer: watches seen files, reads each changed file once it is stable, and reports the change.
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { GONE } from '../../core/files/fileState.ts';
import { type Clock, type Logger, type Producer, type Publisher, type SeenFiles } from '../../core/ports/ports.ts';
import {
  type DeliveryPoint,
  type LiveConversations,
  type ProducerHost,
  type Sample,
} from '../../core/ports/producers.ts';
import { type EditorBuffers, type EditorFiles } from '../../core/ports/sources.ts';
import { type Snapshots } from '../../core/ports/storage.ts';
import { type Workspace } from '../../core/ports/workspace.ts';
import { type GitGate } from '../git/gitGate.ts';
import { Authorship } from './authorship.ts';
import { type DiskWatchDeps, WatchedPaths } from './diskWatch.ts';
import { createExclusions, type Exclusions } from './exclusions.ts';
import { FileReports } from './fileReports.ts';
import { FollowedFiles } from './followedFiles.ts';
import { NewFiles } from './newFiles.ts';
import { sampleOverwritten } from './overwritten.ts';
import { type FileRead, isCutShort, observeTwice, ScheduledComparisons, Steadiness } from './scheduledComparisons.ts';
import { WatchedGlobs } from './watchedGlobs.ts';
import { checkWithheld } from './withheld.ts';
import { WorkspaceCounts } from './workspaceCounts.ts';

const QUIET_MILLISECONDS = 100;
/** A file that is written continuously is compared after this long. */
const MOST_QUIET_MILLISECONDS = 2000;
/** Sampling compares only the newest of the seen files; the others are compared when a watcher reports them. */
const MOST_SAMPLED = 200;
/** Limits of the wait: the delivery does not wait for a git operation that runs in the background. */
const SAMPLED_WITHIN = { request: 2000, result: 1000 } as const;

export interface FilesDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly snapshots: Snapshots;
  readonly workspace: Workspace;
  /** Absent where there is no editor. */
  readonly editorFiles?: EditorFiles;
  readonly buffers?: EditorBuffers;
  /** Closed during git operations, which are reported as one notification. */
  readonly gate?: GitGate;
  /** Replaces chokidar in tests. */
  readonly watch?: DiskWatchDeps['watch'];
}

export function createFilesProducer(deps: FilesDeps): Producer {
  let running: FilesWatch | undefined;
  return {
    name: 'files',
    start: (publisher, seen, host) => (running = new FilesWatch(deps, publisher, seen, host)),
    sample: (point) => running?.sample(point) ?? [],
  };
}

class FilesWatch implements Disposable {
  readonly #deps: FilesDeps;
  readonly #publisher: Publisher;
  readonly #seen: SeenFiles;
  readonly #live: LiveConversations;
  readonly #held = new DisposableStore();
  readonly #watched: WatchedPaths;
  readonly #authorship: Authorship;
  readonly #comparisons: ScheduledComparisons;
  readonly #steadiness: Steadiness;
  readonly #newFiles: NewFiles;
  readonly #exclusions: Exclusions;
  readonly #globs: WatchedGlobs;
  readonly #counts: WorkspaceCounts;
  readonly #reports: FileReports;
  readonly #followed: FollowedFiles;
  /** Files to compare again when the call that edits them has ended. */
  readonly #edited = new Set<string>();
  #ended = false;

  constructor(deps: FilesDeps, publisher: Publisher, read: SeenFiles, host: ProducerHost) {
    const seen = read.withSearched ?? read;
    this.#deps = deps;
    this.#publisher = publisher;
    this.#seen = seen;
    this.#live = host.live;
    const { clock, snapshots, workspace, logger, editorFiles, buffers, watch } = deps;
    const report = (error: unknown) => logger.error('comparing a changed file failed', error);
    this.#authorship = this.#held.add(
      new Authorship({ clock, live: host.live, snapshots, ...(buffers && { buffers }) }),
    );
    this.#exclusions = createExclusions(workspace);
    this.#newFiles = new NewFiles({ clock, snapshots, workspace, report });
    this.#steadiness = new Steadiness(clock);
    this.#comparisons = this.#held.add(
      new ScheduledComparisons({
        clock,
        quietMilliseconds: QUIET_MILLISECONDS,
        mostMilliseconds: MOST_QUIET_MILLISECONDS,
        compare: (path, touched) => this.#compare(path, touched),
        report,
      }),
    );
    this.#watched = this.#held.add(
      new WatchedPaths({
        logger,
        broke: (error) => host.broke(error),
        touched: (path, type) => this.#touched(path, type),
        ...(watch && { watch }),
        hasOther: editorFiles !== undefined,
      }),
    );
    this.#reports = new FileReports({
      clock,
      publisher,
      seen,
      snapshots,
      authorship: this.#authorship,
      newFiles: this.#newFiles,
      isEnded: () => this.#ended,
      failed: report,
    });
    this.#followed = new FollowedFiles({
      seen,
      live: host.live,
      workspace,
      watched: this.#watched,
      compare: (path) => this.#comparisons.now(path),
      forgotten: (path) => this.#steadiness.forget(path),
      failed: report,
    });
    this.#globs = this.#held.add(
      new WatchedGlobs({
        clock,
        workspace,
        snapshots,
        publisher,
        authorship: this.#authorship,
        exclusions: this.#exclusions,
        watched: this.#watched,
        live: host.live,
        hasEditor: editorFiles !== undefined,
        ...(deps.gate && { gate: deps.gate }),
        isSeen: (path, conversation) => read.get(path)?.by.some((one) => one.conversation === conversation) === true,
        report,
      }),
    );
    const { gate } = deps;
    const isSeen = (path: string) => read.get(path) !== undefined;
    const { live } = host;
    this.#counts = new WorkspaceCounts({ clock, live, exclusions: this.#exclusions, isSeen, ...(gate && { gate }) });
    if (editorFiles !== undefined) {
      this.#held.add(
        editorFiles.onDidTouch(({ path, type }) => {
          this.#counts.touched(path, type);
          this.#touched(path, type);
        }),
      );
    }
    if (buffers !== undefined) {
      this.#held.add(buffers.onDidSave(({ path }) => this.#touched(path, 'changed')));
      // Undone or discarded changes do not touch the disk, but make the unsaved text that was shown outdated.
      this.#held.add(
        buffers.onDidChange((path) => {
          if (this.#followed.has(path) && !buffers.unsaved().includes(path)) this.#comparisons.soon(path, false);
        }),
      );
    }
    this.#held.add(seen.onDidChange(() => this.#followed.refresh()));
    this.#held.add(
      host.live.onDidChange(() => {
        this.#counts.followLive();
        this.#callsChanged();
      }),
    );
    this.#followed.refresh();
  }

  /** Compares touched seen files; for a user's request and after a command of the conversation, all seen files. */
  async sample(point: DeliveryPoint): Promise<readonly Sample[]> {
    const { conversation, type } = point;
    const running = this.#live.callsSince(Number.POSITIVE_INFINITY);
    const own = running.some((call) => call.conversation === conversation && call.command !== undefined);
    const { waiting } = this.#comparisons;
    const all = type === 'request' || own;
    if (all || waiting.size > 0) {
      const seen = this.#seen.all().filter(({ by }) => by.some((one) => one.conversation === conversation));
      const paths = seen.map(({ path }) => path).filter((path) => all || waiting.has(path));
      const comparing = observeTwice(this.#deps.clock, this.#comparisons, this.#steadiness, paths.slice(-MOST_SAMPLED));
      await this.#atMost(comparing, SAMPLED_WITHIN[type]);
    }
    const { snapshots, workspace } = this.#deps;
    const parts = { live: this.#live, seen: this.#seen, snapshots, workspace, publisher: this.#publisher };
    return [...(await sampleOverwritten(parts, conversation)), ...(await this.#counts.sample(point))];
  }

  dispose(): void {
    this.#ended = true;
    this.#followed.end();
    this.#held.dispose();
  }

  async #atMost(work: Promise<unknown>, milliseconds: number): Promise<void> {
    const late = Promise.withResolvers<void>();
    const timer = this.#deps.clock.after(milliseconds, late.resolve);
    await Promise.race([work, late.promise]);
    timer.dispose();
  }

  #touched(path: string, type: 'created' | 'changed' | 'deleted'): void {
    if (type === 'created') this.#newFiles.add(path);
    this.#exclusions.touched(path);
    this.#globs.touched(path, type);
    if (this.#followed.has(path)) this.#comparisons.soon(path, true);
    // The watcher reports a deleted or created folder without the files in it.
    else if (type !== 'changed')
      for (const inside of this.#followed.inFolder(path)) this.#comparisons.soon(inside, true);
  }

  #callsChanged(): void {
    for (const path of this.#edited) {
      if (this.#authorship.isBeingEdited(path)) continue;
      this.#edited.delete(path);
      this.#comparisons.soon(path, true);
    }
  }

  async #compare(path: string, touched: number | undefined): Promise<void> {
    if (this.#authorship.isBeingEdited(path)) {
      this.#edited.add(path);
      return;
    }
    const { content, git } = await this.#read(path);
    const withheld = content.ok ? undefined : await checkWithheld(this.#deps, path, content.failure);
    if (this.#ended || (!content.ok && content.failure.code !== 'not_found' && withheld === undefined)) return;
    // Tools read the buffer; the editor producer reports unsaved changes.
    if (content.ok && content.value.unsaved) return;
    const bytes = content.ok ? content.value.bytes : undefined;
    const hash = bytes === undefined ? withheld?.state : this.#deps.snapshots.hash(bytes);
    const steady = await this.#atRest(path, bytes, { hash: hash ?? GONE, touched, git });
    if (steady === undefined) return;
    const joined = this.#followed.takeJoined(path);
    const views = this.#seen.get(path)?.by ?? [];
    if (bytes !== undefined && views.some((view) => view.hash !== hash)) {
      // Stored before anybody is notified, since the carrier of the notification names these bytes as seen.
      await this.#deps.snapshots.put(bytes);
    }
    await this.#authorship.savesKnown(path);
    const change = { path, hash, ...steady, ...(withheld && { withheld: withheld.what }) };
    for (const view of views) {
      await this.#reports.report({ ...change, unobserved: joined.includes(view.conversation) }, view, bytes);
    }
  }

  /** Undefined if a state that some conversation does not know was found only once; the file is then compared again. */
  async #atRest(path: string, bytes: Uint8Array | undefined, found: Omit<FileRead, 'doubtful'>) {
    const views = this.#seen.get(path)?.by ?? [];
    if (views.every((view) => this.#reports.knownTo(path, view) === found.hash)) {
      this.#steadiness.forget(path);
      return found;
    }
    const before = views[0] && (await this.#deps.snapshots.get(views[0].hash));
    const doubtful = bytes === undefined || isCutShort(bytes, before);
    const verdict = this.#steadiness.judge(path, { ...found, doubtful });
    if (verdict.steady) return verdict;
    if (verdict.restless) this.#reports.reportKeepsChanging(path, views);
    this.#comparisons.soon(path, found.touched !== undefined, verdict.wait);
    return undefined;
  }

  /** A file that was read during a git operation is read again after the operation was reported. */
  async #read(path: string) {
    const { workspace, gate } = this.#deps;
    for (let git = false; ; git = true) {
      const resolved = await workspace.resolve(path);
      const content = resolved.ok ? await workspace.read(resolved.value) : resolved;
      if ((await gate?.passed()) !== 'during' || this.#ended) return { content, git };
    }
  }
}
