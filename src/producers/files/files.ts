// Watches the files that live conversations have seen, and tells each of them when its view is out of date.
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { CHANGING, GONE } from '../../core/files/fileState.ts';
import {
  fileAgainAsRead,
  fileChanged,
  fileDeleted,
  fileKeepsChanging,
  fileWithheld,
} from '../../core/notify/wording/fileChange.ts';
import {
  type Clock,
  type Logger,
  type Producer,
  type Publisher,
  type SeenFile,
  type SeenFiles,
} from '../../core/ports/ports.ts';
import {
  type DeliveryPoint,
  type LiveConversations,
  type ProducerHost,
  type Sample,
} from '../../core/ports/producers.ts';
import { type EditorBuffers, type EditorFiles } from '../../core/ports/sources.ts';
import { type Snapshots } from '../../core/ports/storage.ts';
import { type Workspace } from '../../core/ports/workspace.ts';
import { type NotificationDraft } from '../../protocol/notification.ts';
import { type GitGate } from '../git/gitGate.ts';
import { Authorship, type Change } from './authorship.ts';
import { type DiskWatchDeps, WatchedPaths } from './diskWatch.ts';
import { createExclusions, type Exclusions } from './exclusions.ts';
import { NewFiles } from './newFiles.ts';
import { sampleOverwritten } from './overwritten.ts';
import { ScheduledComparisons, observeTwice } from './scheduledComparisons.ts';
import { knownOf } from './seenHashes.ts';
import { isCutShort, type Sighting, Steadiness } from './steadiness.ts';
import { WatchedGlobs } from './watchedGlobs.ts';
import { lookAtWithheld } from './withheld.ts';
import { WorkspaceCounts } from './workspaceCounts.ts';

const QUIET_MILLISECONDS = 100;
/** A file that is written all the time is looked at all the same. */
const MOST_QUIET_MILLISECONDS = 2000;
/** The newest of what was seen; the others are told when they are noticed. */
const MOST_LOOKED_AT = 200;
/** Git may be at work in the background: the result does not wait for that. */
const LOOKED_AT_MILLISECONDS = { request: 2000, result: 1000 } as const;

export interface FilesDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly snapshots: Snapshots;
  readonly workspace: Workspace;
  /** Absent where there is no editor. */
  readonly editorFiles?: EditorFiles;
  readonly buffers?: EditorBuffers;
  /** Closed while git is at work: what it does to many files is told as one. */
  readonly gate?: GitGate;
  /** What a test puts in the place of chokidar. */
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

type View = SeenFile['by'][number];

class FilesWatch implements Disposable {
  readonly #deps: FilesDeps;
  readonly #publisher: Publisher;
  readonly #seen: SeenFiles;
  readonly #live: LiveConversations;
  readonly #held = new DisposableStore();
  readonly #watched: WatchedPaths;
  readonly #authorship: Authorship;
  readonly #looks: ScheduledComparisons;
  readonly #steadiness: Steadiness;
  readonly #newcomers: NewFiles;
  readonly #exclusions: Exclusions;
  readonly #globs: WatchedGlobs;
  readonly counts: WorkspaceCounts;
  /** What each conversation had seen when the file was last looked at. */
  readonly #lookedAt = new Map<string, string>();
  /** Conversations that were there when what is seen was last looked at. */
  #known: ReadonlySet<string> = new Set();
  /** Who was not there before, by path, until the file is looked at. */
  readonly #unheard = new Map<string, readonly string[]>();
  /** Looked at again when the call that edits them has ended. */
  readonly #edited = new Map<string, number | undefined>();
  /** What was published and may still be held back, by conversation and path. */
  readonly #said = new Map<string, string>();
  #following: Promise<void> = Promise.resolve();
  #ended = false;

  constructor(deps: FilesDeps, publisher: Publisher, seen: SeenFiles, host: ProducerHost) {
    this.#deps = deps;
    this.#publisher = publisher;
    this.#seen = seen;
    this.#live = host.live;
    const { clock, snapshots, workspace, logger, editorFiles, buffers, watch } = deps;
    const report = (error: unknown) => this.#report(error);
    this.#authorship = this.#held.add(
      new Authorship({ clock, live: host.live, snapshots, ...(buffers && { buffers }) }),
    );
    this.#exclusions = createExclusions(workspace);
    this.#newcomers = new NewFiles({ clock, snapshots, workspace, report });
    this.#steadiness = new Steadiness(clock);
    this.#looks = this.#held.add(
      new ScheduledComparisons({
        clock,
        quietMilliseconds: QUIET_MILLISECONDS,
        mostMilliseconds: MOST_QUIET_MILLISECONDS,
        look: (path, touched) => this.#look(path, touched),
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
        isSeen: (path, conversation) => seen.get(path)?.by.some((one) => one.conversation === conversation) === true,
        report,
      }),
    );
    const { gate } = deps;
    const isSeen = (path: string) => seen.get(path) !== undefined;
    const { live } = host;
    this.counts = new WorkspaceCounts({ clock, live, exclusions: this.#exclusions, isSeen, ...(gate && { gate }) });
    if (editorFiles !== undefined) {
      this.#held.add(
        editorFiles.onDidTouch(({ path, type }) => {
          this.counts.touched(path, type);
          this.#touched(path, type);
        }),
      );
    }
    if (buffers !== undefined) {
      this.#held.add(buffers.onDidSave(({ path }) => this.#touched(path, 'changed')));
      // What was undone or given up is nothing that the disk could tell of, but what was shown of it is no longer so.
      this.#held.add(
        buffers.onDidChange((path) => {
          if (this.#lookedAt.has(path) && !buffers.unsaved().includes(path)) this.#looks.soon(path, false);
        }),
      );
    }
    this.#held.add(seen.onDidChange(() => this.#follow()));
    this.#held.add(
      host.live.onDidChange(() => {
        this.counts.followLive();
        this.#callsChanged();
      }),
    );
    this.#follow();
  }

  /** What was done to files it has seen before the user wrote, or by its own command, goes with what is delivered. */
  async sample(point: DeliveryPoint): Promise<readonly Sample[]> {
    const { conversation, type } = point;
    const running = this.#live.callsSince(Number.POSITIVE_INFINITY);
    const own = running.some((call) => call.conversation === conversation && call.command !== undefined);
    const { waiting } = this.#looks;
    const all = type === 'request' || own;
    if (all || waiting.size > 0) {
      const seen = this.#seen.all().filter(({ by }) => by.some((one) => one.conversation === conversation));
      const paths = seen.map(({ path }) => path).filter((path) => all || waiting.has(path));
      const looking = observeTwice(this.#deps.clock, this.#looks, this.#steadiness, paths.slice(-MOST_LOOKED_AT));
      await this.#atMost(looking, LOOKED_AT_MILLISECONDS[type]);
    }
    const { snapshots, workspace } = this.#deps;
    const parts = { live: this.#live, seen: this.#seen, snapshots, workspace, publisher: this.#publisher };
    return [...(await sampleOverwritten(parts, conversation)), ...(await this.counts.sample(point))];
  }

  dispose(): void {
    this.#ended = true;
    this.#held.dispose();
  }

  async #atMost(work: Promise<unknown>, milliseconds: number): Promise<void> {
    const late = Promise.withResolvers<void>();
    const timer = this.#deps.clock.after(milliseconds, late.resolve);
    await Promise.race([work, late.promise]);
    timer.dispose();
  }

  #report(error: unknown): void {
    this.#deps.logger.error('looking at a changed file failed', error);
  }

  /** Watches what is seen now, and looks at once at every file whose view moved: it may have changed before the watch. */
  #follow(): void {
    this.#following = this.#following
      .then(() => (this.#ended ? undefined : this.#followNow()))
      .catch((error: unknown) => this.#report(error));
  }

  async #followNow(): Promise<void> {
    const files = this.#seen.all();
    const wanted = new Set(files.map((file) => file.path));
    const known = this.#known;
    this.#known = new Set(this.#live.ids());
    for (const path of [...this.#lookedAt.keys()]) {
      if (wanted.has(path)) continue;
      this.#lookedAt.delete(path);
      this.#steadiness.forget(path);
      this.#watched.remove(path);
    }
    for (const file of files) {
      const view = JSON.stringify(file.by.map(({ conversation, hash }) => [conversation, hash]));
      if (this.#lookedAt.get(file.path) === view) continue;
      this.#lookedAt.set(file.path, view);
      const joined = file.by.map(({ conversation }) => conversation).filter((id) => !known.has(id));
      if (joined.length > 0) this.#unheard.set(file.path, joined);
      const resolved = await this.#deps.workspace.resolve(file.path);
      if (this.#ended) return;
      if (resolved.ok) this.#watched.add(file.path, resolved.value.absolute);
      this.#looks.now(file.path);
    }
  }

  #touched(path: string, type: 'created' | 'changed' | 'deleted'): void {
    if (type === 'created') this.#newcomers.add(path);
    this.#exclusions.touched(path);
    this.#globs.touched(path, type);
    if (this.#lookedAt.has(path)) this.#looks.soon(path, true);
    // A folder that went or came says nothing of what was in it.
    else if (type !== 'changed') for (const inside of this.#below(path)) this.#looks.soon(inside, true);
  }

  #below(folder: string): string[] {
    return [...this.#lookedAt.keys()].filter((path) => path.startsWith(`${folder}/`));
  }

  #callsChanged(): void {
    for (const path of this.#edited.keys()) {
      if (this.#authorship.isBeingEdited(path)) continue;
      this.#edited.delete(path);
      this.#looks.soon(path, true);
    }
  }

  async #look(path: string, touched: number | undefined): Promise<void> {
    if (this.#authorship.isBeingEdited(path)) {
      this.#edited.set(path, touched);
      return;
    }
    const { content, git } = await this.#read(path);
    const withheld = content.ok ? undefined : await lookAtWithheld(this.#deps, path, content.failure);
    if (this.#ended || (!content.ok && content.failure.code !== 'not_found' && withheld === undefined)) return;
    // What tools would read is the buffer: that it is not saved is the editor's news.
    if (content.ok && content.value.unsaved) return;
    const bytes = content.ok ? content.value.bytes : undefined;
    const hash = bytes === undefined ? withheld?.state : this.#deps.snapshots.hash(bytes);
    const steady = await this.#atRest(path, bytes, { hash: hash ?? GONE, touched, git });
    if (steady === undefined) return;
    const unheard = this.#unheard.get(path) ?? [];
    this.#unheard.delete(path);
    const views = this.#seen.get(path)?.by ?? [];
    if (bytes !== undefined && views.some((view) => view.hash !== hash)) {
      // Kept before anyone is told: the carrier of the notification names it as seen.
      await this.#deps.snapshots.put(bytes);
    }
    await this.#authorship.savesKnown(path);
    const change = { path, hash, ...steady, ...(withheld && { withheld: withheld.what }) };
    for (const view of views) {
      await this.#tell({ ...change, unheard: unheard.includes(view.conversation) }, view, bytes);
    }
  }

  /** Undefined: what is news to anybody was found only once yet, and is looked at again. */
  async #atRest(path: string, bytes: Uint8Array | undefined, found: Omit<Sighting, 'doubtful'>) {
    const views = this.#seen.get(path)?.by ?? [];
    if (views.every((view) => this.#knownTo(path, view) === found.hash)) {
      this.#steadiness.forget(path);
      return found;
    }
    const before = views[0] && (await this.#deps.snapshots.get(views[0].hash));
    const doubtful = bytes === undefined || isCutShort(bytes, before);
    const verdict = this.#steadiness.judge(path, { ...found, doubtful });
    if (verdict.steady) return verdict;
    if (verdict.restless) {
      for (const view of views) {
        if (this.#knownTo(path, view) === CHANGING) continue;
        const at = new Date(this.#deps.clock.now()).toISOString();
        this.#say({ ...fileKeepsChanging(path), at }, view.conversation, path, CHANGING);
      }
    }
    this.#looks.soon(path, found.touched !== undefined, verdict.wait);
    return undefined;
  }

  /** The state that the conversation was shown or notified of last. */
  #knownTo(path: string, view: View): string {
    return this.#said.get(keyOf(view.conversation, path)) ?? knownOf(view);
  }

  /** What was read while git was at work is read again once it has finished and told of it. */
  async #read(path: string) {
    const { workspace, gate } = this.#deps;
    for (let git = false; ; git = true) {
      const resolved = await workspace.resolve(path);
      const content = resolved.ok ? await workspace.read(resolved.value) : resolved;
      if ((await gate?.passed()) !== 'during' || this.#ended) return { content, git };
    }
  }

  async #tell(
    change: Change & { readonly withheld?: string },
    view: View,
    bytes: Uint8Array | undefined,
  ): Promise<void> {
    const { path } = change;
    const { conversation, hash } = view;
    const now = change.hash ?? GONE;
    const at = new Date(this.#deps.clock.now()).toISOString();
    const withdraw = (name: string, reason: string) =>
      this.#publisher.withdraw({ source: 'file', name }, `file:${path}`, reason, conversation);
    const said = this.#said.get(keyOf(conversation, path)) ?? view.announced;
    if (now === said) return;
    if (now === hash) {
      this.#said.delete(keyOf(conversation, path));
      await withdraw('changed', 'it is again as it was seen');
      await withdraw('deleted', 'it is there again, as it was seen');
      const told = this.#seen.get(path)?.by.find((one) => one.conversation === conversation)?.announced;
      if (told === undefined || told === hash) return;
      this.#say({ ...fileAgainAsRead(path, now), at }, conversation, path, now);
      return;
    }
    const author = this.#authorship.judge(change, conversation);
    if (author === 'own') return;
    if (change.withheld !== undefined) {
      await withdraw('deleted', 'it is there again');
      this.#say({ ...fileWithheld(path, now, change.withheld, author), at }, conversation, path, now);
      return;
    }
    if (bytes === undefined) {
      await withdraw('changed', 'it was deleted');
      const elsewhere = await this.#newcomers.find(hash, path);
      const say = (where?: string) => this.#say({ ...fileDeleted(path, author, where), at }, conversation, path, now);
      say(elsewhere);
      if (elsewhere !== undefined) return;
      this.#newcomers.seek(hash, path, async (where) => {
        // What was carried is not told again for a name.
        if (!this.#ended && (await withdraw('deleted', 'it is known where it went'))) say(where);
      });
      return;
    }
    await withdraw('deleted', 'it is there again');
    const before = await this.#deps.snapshots.get(hash);
    this.#say({ ...fileChanged(path, before, { bytes, hash: now }, author), at }, conversation, path, now);
  }

  /** Not waited for: a calm publisher may hold it back, and the next look must be able to replace it or take it back. */
  #say(draft: NotificationDraft, conversation: string, path: string, hash: string): void {
    const key = keyOf(conversation, path);
    this.#said.set(key, hash);
    const settled = () => {
      if (this.#said.get(key) === hash) this.#said.delete(key);
    };
    void this.#publisher
      .publish(draft, conversation)
      .finally(settled)
      .catch((error: unknown) => this.#report(error));
  }
}

function keyOf(conversation: string, path: string): string {
  return JSON.stringify([conversation, path]);
}
