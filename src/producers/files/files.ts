// The files producer: watches seen files. A touched file is read until it is settled, then the change is reported.
import { within, coalesce } from '../../base/async.ts';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { type Producer, type Publisher, type SeenFiles } from '../../core/ports/ports.ts';
import {
  type DeliveryPoint,
  type LiveConversations,
  type ProducerHost,
  type Sample,
  type ConversationOverwrite,
} from '../../core/ports/producers.ts';
import { type EditorBuffers, type EditorFiles, type FileTouch } from '../../core/ports/sources.ts';
import { type GitGate } from '../git/gitGate.ts';
import { Authorship } from './authorship.ts';
import { type FileProducerDeps, readCurrentFile } from './currentFile.ts';
import { type DiskWatchDeps, WatchedPaths } from './diskWatch.ts';
import { createExclusions, type Exclusions } from './exclusions.ts';
import { FileReports } from './fileReports.ts';
import { NewFiles } from './newFiles.ts';
import { SettledFiles } from './settledFiles.ts';
import { WatchedGlobs } from './watchedGlobs.ts';
import { WorkspaceCounts } from './workspaceCounts.ts';
import { fileOverwritten } from '../../core/notify/wording/fileChange.ts';
import { type Workspace } from '../../core/ports/workspace.ts';

/** Sampling compares only the newest of the seen files; the others are compared when a watcher reports them. */
const MOST_SAMPLED = 200;
/** Limits of the wait: the delivery does not wait for a git operation that runs in the background. */
const SAMPLED_WITHIN = { request: 2000, result: 1000 } as const;

export interface FilesDeps extends FileProducerDeps {
  /** Absent where there is no editor. */
  readonly editorFiles?: EditorFiles;
  readonly buffers?: EditorBuffers | undefined;
  /** Closed during git operations, which are reported as one notification. */
  readonly gate?: GitGate | undefined;
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
  readonly #settled: SettledFiles;
  readonly #newFiles: NewFiles;
  readonly #exclusions: Exclusions;
  readonly #globs: WatchedGlobs;
  readonly #counts: WorkspaceCounts;
  readonly #followed: FollowedFiles;
  #ended = false;

  constructor(deps: FilesDeps, publisher: Publisher, read: SeenFiles, host: ProducerHost) {
    const seen = read.withSearched ?? read;
    this.#deps = deps;
    this.#publisher = publisher;
    this.#seen = seen;
    this.#live = host.live;
    const { clock, workspace, logger, editorFiles, buffers, gate } = deps;
    const { live } = host;
    const report = (error: unknown) => logger.error('comparing a changed file failed', error);
    const authorship = this.#held.add(new Authorship({ ...deps, live }));
    const watched = this.#held.add(
      new WatchedPaths({
        ...deps,
        broke: (error) => host.broke(error),
        touched: (path, type) => this.#touched(path, type),
        hasOther: editorFiles !== undefined,
      }),
    );
    this.#exclusions = createExclusions(workspace);
    this.#newFiles = new NewFiles({ ...deps, report });
    this.#followed = new FollowedFiles({
      seen,
      live,
      workspace,
      watched,
      compare: (path) => this.#settled.now(path),
      forgotten: (path) => this.#settled.forget(path),
      failed: report,
    });
    const reports = new FileReports({
      ...deps,
      publisher,
      seen,
      authorship,
      newFiles: this.#newFiles,
      takeJoined: (path) => this.#followed.takeJoined(path),
      isEnded: () => this.#ended,
      failed: report,
    });
    const readFile = (path: string) => readCurrentFile(deps, path);
    this.#settled = this.#held.add(new SettledFiles({ clock, authorship, read: readFile, reports, report }));
    this.#globs = this.#held.add(
      new WatchedGlobs({
        ...deps,
        publisher,
        authorship,
        exclusions: this.#exclusions,
        watched,
        live,
        hasEditor: editorFiles !== undefined,
        isSeen: (path, conversation) => read.get(path)?.by.some((one) => one.conversation === conversation) === true,
        report,
      }),
    );
    const isSeen = (path: string) => read.get(path) !== undefined;
    this.#counts = new WorkspaceCounts({ clock, live, exclusions: this.#exclusions, isSeen, gate });
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
          if (this.#followed.has(path) && !buffers.unsaved().includes(path)) this.#settled.soon(path, false);
        }),
      );
    }
    this.#held.add(seen.onDidChange(() => this.#followed.refresh()));
    this.#held.add(
      live.onDidChange(() => {
        this.#counts.followLive();
        this.#settled.callsChanged();
      }),
    );
    this.#followed.refresh();
  }

  /** Compares touched seen files; for a user's request and after a command of the conversation, all seen files. */
  async sample(point: DeliveryPoint): Promise<readonly Sample[]> {
    const { conversation, type } = point;
    const running = this.#live.callsSince(Number.POSITIVE_INFINITY);
    const own = running.some((call) => call.conversation === conversation && call.command !== undefined);
    const { waiting } = this.#settled;
    const all = type === 'request' || own;
    if (all || waiting.size > 0) {
      const seen = this.#seen.all().filter(({ by }) => by.some((one) => one.conversation === conversation));
      const paths = seen.map(({ path }) => path).filter((path) => all || waiting.has(path));
      const observing = this.#settled.observe(paths.slice(-MOST_SAMPLED));
      await within(this.#deps.clock, SAMPLED_WITHIN[type], observing);
    }
    const parts = { ...this.#deps, live: this.#live, seen: this.#seen, publisher: this.#publisher };
    return [...(await sampleOverwritten(parts, conversation)), ...(await this.#counts.sample(point))];
  }

  dispose(): void {
    this.#ended = true;
    this.#followed.end();
    this.#held.dispose();
  }

  #touched(path: string, type: FileTouch['type']): void {
    if (type === 'created') this.#newFiles.add(path);
    this.#exclusions.touched(path);
    this.#globs.touched(path, type);
    for (const file of this.#followed.concerned(path, type)) this.#settled.soon(file, true);
  }
}

interface OverwrittenDeps extends FileProducerDeps {
  readonly live: LiveConversations;
  readonly seen: SeenFiles;
  readonly publisher: Publisher;
}

/** Replaces other pending notifications of the same file, which would show both changes as one diff. */
async function sampleOverwritten(deps: OverwrittenDeps, conversation: string): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  for (const overwrite of deps.live.takeOverwritten(conversation)) {
    const sample = await sampleOf(deps, conversation, overwrite);
    if (sample !== undefined) samples.push(sample);
  }
  return samples;
}

async function sampleOf(
  { seen, snapshots, workspace, publisher }: OverwrittenDeps,
  conversation: string,
  { path, lost, now, command }: ConversationOverwrite,
): Promise<Sample | undefined> {
  const view = seen.get(path)?.by.find((one) => one.conversation === conversation);
  const file = await workspace.resolve(path);
  if (view === undefined || !file.ok) return undefined;
  const content = await workspace.read(file.value);
  const present = content.ok && !content.value.unsaved ? content.value.bytes : undefined;
  // If the file was written again since, that change is reported by its own notification.
  if ((present && snapshots.hash(present)) !== now || (content.ok && content.value.unsaved)) return undefined;
  const [before, gone] = [await snapshots.get(view.hash), await snapshots.get(lost)];
  const draft = fileOverwritten(path, { before, lost: gone, now: present, hash: now }, command);
  const { kind, subject = '', level, message, origin, data } = draft;
  for (const name of ['changed', 'deleted']) {
    await publisher.withdraw({ source: 'file', name }, subject, 'its own command overwrote it', conversation);
  }
  return { kind, subject, draft: { level, message, origin, ...(data && { data }) } };
}

interface FollowedFilesDeps {
  readonly seen: SeenFiles;
  readonly live: LiveConversations;
  readonly workspace: Workspace;
  readonly watched: WatchedPaths;
  /** Compares the file, which may have changed before it was watched. */
  compare(path: string): void;
  /** Called when no live conversation has seen the file any more. */
  forgotten(path: string): void;
  failed(error: unknown): void;
}

/**
 * Watches exactly the files that live conversations have seen. Requests a comparison when a conversation sees a file.
 */
class FollowedFiles {
  readonly #deps: FollowedFilesDeps;
  /** What each conversation had seen when the file was last compared, by path. */
  readonly #views = new Map<string, string>();
  /** Conversations that were live at the last refresh. */
  #live: ReadonlySet<string> = new Set();
  /** Conversations that joined since the file was last compared, by path. */
  readonly #joined = new Map<string, readonly string[]>();
  readonly #refresh = coalesce(async () => {
    if (!this.#ended) await this.#refreshNow();
  });
  #ended = false;

  constructor(deps: FollowedFilesDeps) {
    this.#deps = deps;
  }

  has(path: string): boolean {
    return this.#views.has(path);
  }

  /** The files that a touch concerns: a watcher reports a deleted or created folder without the files in it. */
  concerned(path: string, type: FileTouch['type']): readonly string[] {
    if (this.has(path)) return [path];
    return type === 'changed' ? [] : [...this.#views.keys()].filter((inside) => inside.startsWith(`${path}/`));
  }

  /** Conversations for which the file was not observed until now. Each is returned once. */
  takeJoined(path: string): readonly string[] {
    const joined = this.#joined.get(path) ?? [];
    this.#joined.delete(path);
    return joined;
  }

  /** Call after a file was seen, or a conversation was opened or closed. */
  refresh(): void {
    void this.#refresh().catch((error: unknown) => this.#deps.failed(error));
  }

  end(): void {
    this.#ended = true;
  }

  async #refreshNow(): Promise<void> {
    const { seen, live, workspace, watched, compare, forgotten } = this.#deps;
    const files = seen.all();
    const wanted = new Set(files.map((file) => file.path));
    const before = this.#live;
    this.#live = new Set(live.ids());
    for (const path of [...this.#views.keys()]) {
      if (wanted.has(path)) continue;
      this.#views.delete(path);
      forgotten(path);
      watched.remove(path);
    }
    for (const { path, by } of files) {
      const view = JSON.stringify(by.map(({ conversation, hash }) => [conversation, hash]));
      if (this.#views.get(path) === view) continue;
      this.#views.set(path, view);
      const joined = by.map(({ conversation }) => conversation).filter((id) => !before.has(id));
      if (joined.length > 0) this.#joined.set(path, joined);
      const resolved = await workspace.resolve(path);
      if (this.#ended) return;
      if (resolved.ok) watched.add(path, resolved.value.absolute);
      compare(path);
    }
  }
}
