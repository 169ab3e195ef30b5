// The editor producer: reports unsaved changes and renames of seen files.
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { fileNoLongerUnsaved, fileRenamed, fileUnsaved } from '../../core/notify/wording/fileChange.ts';
import { type Producer, type Publisher, type SeenFile, type SeenFiles } from '../../core/ports/ports.ts';
import { type ProducerHost } from '../../core/ports/producers.ts';
import { type EditorBuffers, type Renamed } from '../../core/ports/sources.ts';
import { fileScope } from '../../protocol/scopes.ts';
import { ReportOnce } from '../reportOnce.ts';
import { Authorship } from './authorship.ts';
import { ScheduledComparisons } from './settledFiles.ts';
import { checkWithheld, type FileProducerDeps } from './currentFile.ts';

/** A buffer is compared once the user has not typed for this long. */
const QUIET_MILLISECONDS = 700;
const UNSAVED = { source: 'file', name: 'unsaved' } as const;
const RENAMED = { source: 'file', name: 'renamed' } as const;
const MOVED_KEPT = 100;

export interface EditorDeps extends FileProducerDeps {
  readonly buffers: EditorBuffers;
}

export function createEditorProducer(deps: EditorDeps): Producer {
  return { name: 'editor', start: (publisher, seen, host) => new EditorWatch(deps, publisher, seen, host) };
}

type View = SeenFile['by'][number];
type RenamedFiles = Parameters<typeof fileRenamed>[2];

interface ReportedRename extends Renamed {
  readonly files: RenamedFiles;
}

class EditorWatch implements Disposable {
  readonly #deps: EditorDeps;
  readonly #publisher: Publisher;
  readonly #seen: SeenFiles;
  readonly #host: ProducerHost;
  readonly #held = new DisposableStore();
  readonly #authorship: Authorship;
  readonly #comparisons: ScheduledComparisons;
  /** The hash of the unsaved text that was reported last. */
  readonly #reports: ReportOnce<string>;
  /** Reported renames that may still be pending, by conversation. */
  readonly #renames = new Map<string, readonly ReportedRename[]>();

  constructor(deps: EditorDeps, publisher: Publisher, seen: SeenFiles, host: ProducerHost) {
    this.#deps = deps;
    this.#publisher = publisher;
    this.#seen = seen;
    this.#host = host;
    const { clock, buffers, snapshots } = deps;
    this.#reports = new ReportOnce({ clock, publisher, until: 'queued', failed: (error) => this.#report(error) });
    this.#authorship = this.#held.add(new Authorship({ clock, live: host.live, snapshots }));
    this.#comparisons = this.#held.add(
      new ScheduledComparisons({
        clock,
        quietMilliseconds: QUIET_MILLISECONDS,
        compare: (path) => this.#compare(path),
        report: (error) => this.#report(error),
      }),
    );
    this.#held.add(buffers.onDidChange((path) => this.#changed(path)));
    this.#held.add(
      buffers.onDidSave(({ path }) => {
        if (this.#seen.get(path) !== undefined) this.#comparisons.now(path);
      }),
    );
    this.#held.add(buffers.onDidRename((renamed) => this.#renamed(renamed)));
    this.#held.add(seen.onDidChange(() => this.#compareUnsaved()));
    // Whether a buffer was changed by a call is known only once the call has ended.
    this.#held.add(host.live.onDidChange(() => this.#compareUnsaved()));
    this.#compareUnsaved();
  }

  dispose(): void {
    this.#held.dispose();
  }

  #report(error: unknown): void {
    this.#deps.logger.error('comparing an unsaved file failed', error);
  }

  #compareUnsaved(): void {
    for (const path of this.#deps.buffers.unsaved()) this.#changed(path);
  }

  #changed(path: string): void {
    if (this.#seen.get(path) !== undefined) this.#comparisons.soon(path, true);
  }

  async #compare(path: string): Promise<void> {
    if (this.#authorship.isBeingEdited(path)) return;
    const { workspace, snapshots } = this.#deps;
    const resolved = await workspace.resolve(path);
    const content = resolved.ok ? await workspace.read(resolved.value) : undefined;
    if (content === undefined) return;
    const withheld = content.ok ? undefined : await checkWithheld(this.#deps, path, content.failure);
    const bytes = content.ok ? content.value.bytes : undefined;
    const hash = bytes === undefined ? withheld?.state : snapshots.hash(bytes);
    if (hash === undefined) return;
    const unsaved = content.ok ? content.value.unsaved : this.#deps.buffers.unsaved().includes(path);
    const views = this.#seen.get(path)?.by ?? [];
    if (unsaved && bytes !== undefined && views.some((view) => view.hash !== hash)) await snapshots.put(bytes);
    for (const view of views) {
      if (unsaved && view.hash !== hash) await this.#reportUnsaved(path, view, { ...(bytes && { bytes }), hash });
      else await this.#withdrawUnsaved(path, view, hash);
    }
  }

  async #reportUnsaved(path: string, view: View, now: { bytes?: Uint8Array; hash: string }): Promise<void> {
    const { conversation, hash } = view;
    if (now.hash === (this.#reports.get(conversation, fileScope(path)) ?? view.unsaved)) return;
    if (this.#authorship.judge({ path, hash: now.hash, touched: undefined }, conversation) === 'own') return;
    const before = await this.#deps.snapshots.get(hash);
    this.#reports.report(conversation, fileScope(path), now.hash, fileUnsaved(path, before, now));
  }

  /** Called when the file was saved, or its buffer is as the model has seen it. */
  async #withdrawUnsaved(path: string, { conversation }: View, hash: string): Promise<void> {
    this.#reports.forget(conversation, fileScope(path));
    await this.#publisher.withdraw(UNSAVED, fileScope(path), 'there are no unsaved changes any more', conversation);
    const view = this.#seen.get(path)?.by.find((one) => one.conversation === conversation);
    // If other content was saved, the files producer reports the change.
    if (view?.unsaved === undefined || view.unsaved === hash || view.hash !== hash) return;
    this.#reports.report(conversation, fileScope(path), hash, fileNoLongerUnsaved(path, hash));
  }

  #renamed(renamed: readonly Renamed[]): void {
    const { live } = this.#host;
    const movers = live.callsSince(Number.POSITIVE_INFINITY);
    for (const conversation of [...this.#renames.keys()]) {
      if (!live.ids().includes(conversation)) this.#renames.delete(conversation);
    }
    for (const one of renamed) {
      for (const conversation of live.ids()) {
        const own = movers.some((call) => call.conversation === conversation && call.paths.includes(one.from));
        if (!own) void this.#addRename(one, conversation).catch((error: unknown) => this.#report(error));
      }
    }
  }

  /** Combines the rename with pending renames of the same file, so that only the final name is reported. */
  async #addRename(renamed: Renamed, conversation: string): Promise<void> {
    const seen = this.#seenBelow(renamed.from, renamed.to, conversation);
    const before = (this.#renames.get(conversation) ?? []).filter(({ to }) => isBelow(to, renamed.from));
    this.#renames.set(
      conversation,
      (this.#renames.get(conversation) ?? []).filter((one) => !before.includes(one)),
    );
    for (const one of before) {
      if (!(await this.#publisher.withdraw(RENAMED, fileScope(one.from), 'it was renamed again', conversation)))
        continue;
      const moved = {
        from: one.from,
        to: moveTo(one.to, renamed),
        files: one.files.map((file) => ({ ...file, to: moveTo(file.to, renamed) })),
      };
      if (moved.to !== moved.from) this.#reportRename(moved, conversation);
    }
    if (seen.length > 0) this.#reportRename({ ...renamed, files: seen }, conversation);
  }

  #reportRename(moved: ReportedRename, conversation: string): void {
    this.#renames.set(conversation, [...(this.#renames.get(conversation) ?? []), moved].slice(-MOVED_KEPT));
    const at = new Date(this.#deps.clock.now()).toISOString();
    void this.#publisher
      .publish({ ...fileRenamed(moved.from, moved.to, moved.files), at }, conversation)
      .catch((error: unknown) => this.#report(error));
  }

  #seenBelow(from: string, to: string, conversation: string) {
    const files = this.#seen.all().flatMap(({ path, by }) => {
      const view = by.find((one) => one.conversation === conversation);
      if (view === undefined || !isBelow(path, from)) return [];
      return [{ from: path, to: moveTo(path, { from, to }), hash: view.hash }];
    });
    return files.sort((a, b) => (a.from < b.from ? -1 : 1));
  }
}

/** True for the path itself, and for files in it if it is a folder. */
function isBelow(path: string, from: string): boolean {
  return path === from || path.startsWith(`${from}/`);
}

function moveTo(path: string, { from, to }: Renamed): string {
  return `${to}${path.slice(from.length)}`;
}
