// Reports files that a conversation watches by glob and has not seen: created, changed, deleted.
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { type FailureCode } from '../../base/failureCodes.ts';
import { PROTECTED } from '../../core/consent/door.ts';
import { compileGlob, globKeyOf } from '../../core/files/globs.ts';
import { watchedFile } from '../../core/notify/wording/fileChange.ts';
import { type Publisher } from '../../core/ports/ports.ts';
import { type LiveConversations } from '../../core/ports/producers.ts';
import { type FileTouch } from '../../core/ports/sources.ts';
import { fileScope } from '../../protocol/scopes.ts';
import { type GitGate } from '../git/gitGate.ts';
import { type Authorship } from './authorship.ts';
import { type FileProducerDeps } from './currentFile.ts';
import { type WatchedPaths } from './diskWatch.ts';
import { type Exclusions } from './exclusions.ts';
import { ScheduledComparisons } from './settledFiles.ts';

const QUIET_MILLISECONDS = 300;
const HASHES_KEPT = 5000;
/** Not watched unless a glob names a folder inside: it has many files, and globs rarely mean them. */
const HEAVY = /(^|\/)(node_modules|\.git)(\/|$)/;

export interface WatchedGlobsDeps extends Omit<FileProducerDeps, 'logger'> {
  readonly publisher: Publisher;
  readonly authorship: Authorship;
  readonly exclusions: Exclusions;
  readonly watched: WatchedPaths;
  readonly live: LiveConversations;
  /** The editor's watcher covers the workspace, so Earshot's own watcher is needed only for named folders. */
  readonly hasEditor: boolean;
  readonly gate?: GitGate | undefined;
  /** Changes of seen files are reported elsewhere. */
  isSeen(path: string, conversation: string): boolean;
  report(error: unknown): void;
}

interface LastState {
  readonly hash: string;
  /** The file was deleted; the hash is that of its last bytes. */
  readonly gone: boolean;
}

interface WatchedChange {
  readonly path: string;
  /** Undefined if the file was deleted. */
  readonly hash: string | undefined;
  readonly touched: number | undefined;
  readonly before: LastState | undefined;
  /** The first event since the last comparison. */
  readonly first: FileTouch['type'];
}

interface Glob {
  readonly folder: string;
  readonly matches: (path: string) => boolean;
}

export class WatchedGlobs implements Disposable {
  readonly #deps: WatchedGlobsDeps;
  readonly #held = new DisposableStore();
  readonly #comparisons: ScheduledComparisons;
  readonly #globs = new Map<string, Glob>();
  /** Absolute paths of the watched folders, by workspace path. */
  readonly #folders = new Map<string, string>();
  /** The first event of a file since it was last compared. */
  readonly #first = new Map<string, FileTouch['type']>();
  readonly #known = new Map<string, LastState>();

  constructor(deps: WatchedGlobsDeps) {
    this.#deps = deps;
    const { clock, report, live } = deps;
    this.#comparisons = this.#held.add(
      new ScheduledComparisons({
        clock,
        quietMilliseconds: QUIET_MILLISECONDS,
        compare: (path, touched) => this.#compare(path, touched),
        report,
      }),
    );
    this.#held.add(live.onDidChange(() => this.#refresh()));
    this.#refresh();
  }

  touched(path: string, type: FileTouch['type']): void {
    if (this.#globs.size === 0 || this.#globsFor(path).length === 0 || this.#unseenBy(path).length === 0) return;
    if (!this.#first.has(path)) this.#first.set(path, type);
    this.#comparisons.soon(path, true);
  }

  dispose(): void {
    for (const absolute of this.#folders.values()) this.#deps.watched.removeFolder(absolute);
    this.#held.dispose();
  }

  #unseenBy(path: string): string[] {
    return this.#deps.live.ids().filter((conversation) => !this.#deps.isSeen(path, conversation));
  }

  #globsFor(path: string): Glob[] {
    return [...this.#globs.values()].filter(({ matches }) => matches(path));
  }

  #refresh(): void {
    const wanted = this.#deps.live.globs();
    for (const glob of [...this.#globs.keys()]) if (!wanted.has(glob)) this.#globs.delete(glob);
    for (const glob of wanted) {
      if (!this.#globs.has(glob)) this.#globs.set(glob, { folder: globKeyOf(glob).folder, matches: compileGlob(glob) });
    }
    const folders = new Set([...this.#globs.values()].map(({ folder }) => folder));
    if (this.#deps.hasEditor) folders.delete('');
    for (const [folder, absolute] of [...this.#folders]) {
      if (folders.has(folder)) continue;
      this.#folders.delete(folder);
      this.#deps.watched.removeFolder(absolute);
    }
    for (const folder of folders) if (!this.#folders.has(folder)) this.#watchFolder(folder);
  }

  #watchFolder(folder: string): void {
    this.#folders.set(folder, '');
    const watch = async () => {
      const resolved = await this.#deps.workspace.resolve(folder === '' ? '.' : folder);
      if (!resolved.ok || this.#folders.get(folder) !== '') return;
      this.#folders.set(folder, resolved.value.absolute);
      const ignores = (path: string) => HEAVY.test(path.slice(folder.length));
      this.#deps.watched.addFolder(folder, resolved.value.absolute, ignores);
    };
    void watch().catch((error: unknown) => this.#deps.report(error));
  }

  async #compare(path: string, touched: number | undefined): Promise<void> {
    const { workspace, snapshots, authorship, gate, clock } = this.#deps;
    const first = this.#first.get(path);
    if (first === undefined) return;
    if (authorship.isBeingEdited(path)) {
      // The bytes that the call writes are known once it has ended.
      this.#comparisons.soon(path, true);
      return;
    }
    this.#first.delete(path);
    if (await this.#isExcluded(path)) return;
    await gate?.passed();
    const resolved = await workspace.resolve(path);
    const content = resolved.ok ? await workspace.read(resolved.value) : undefined;
    if (content === undefined) return;
    const state = content.ok ? undefined : await this.#stateOf(path, content.failure.code);
    if (!content.ok && content.failure.code !== 'not_found' && state === undefined) return;
    const hash = content.ok ? snapshots.hash(content.value.bytes) : state;
    const before = this.#known.get(path);
    this.#remember(path, hash);
    // Git operations are reported as one notification.
    if (gate?.made(path, touched, clock.now()) === true) return;
    await authorship.savesKnown(path);
    const change = { path, hash, touched, before, first };
    await Promise.all(this.#unseenBy(path).map((conversation) => this.#report(change, conversation)));
  }

  /** Changes of protected files are reported without content; hidden files are not named at all. */
  async #stateOf(path: string, code: FailureCode): Promise<string | undefined> {
    const { workspace, snapshots } = this.#deps;
    const file = code === PROTECTED ? await workspace.resolve(path) : undefined;
    const state = file?.ok === true ? await workspace.fingerprint(file.value, snapshots) : undefined;
    return state?.ok === true ? state.value : undefined;
  }

  async #report({ path, hash, touched, before, first }: WatchedChange, conversation: string): Promise<void> {
    const { authorship, publisher, clock } = this.#deps;
    const withdraw = (name: FileTouch['type'], reason: string) =>
      publisher.withdraw({ source: 'file', name }, fileScope(path), reason, conversation);
    let name: FileTouch['type'];
    if (hash === undefined) {
      await withdraw('changed', 'it is gone');
      // The file was created and deleted before its creation was reported.
      if (before === undefined && first === 'created') return;
      if (await withdraw('created', 'it is gone again')) return;
      name = 'deleted';
    } else if (before?.gone === true) {
      const undelivered = await withdraw('deleted', 'it is there again');
      if (undelivered && before.hash === hash) return;
      name = undelivered ? 'changed' : 'created';
    } else {
      if (before?.hash === hash) return;
      name = before === undefined && first === 'created' ? 'created' : 'changed';
    }
    const author = authorship.judge({ path, hash, touched }, conversation);
    if (author === 'own') return;
    const at = new Date(clock.now()).toISOString();
    await publisher.publish({ ...watchedFile(name, path, author), at }, conversation);
  }

  /** False if a glob names an excluded folder on purpose. */
  async #isExcluded(path: string): Promise<boolean> {
    const { exclusions } = this.#deps;
    if (!(await exclusions.excludes(path))) return false;
    for (const { folder } of this.#globsFor(path)) {
      if (folder !== '' && (await exclusions.excludes(folder))) return false;
    }
    return true;
  }

  #remember(path: string, hash: string | undefined): void {
    const before = this.#known.get(path);
    this.#known.delete(path);
    const known = hash === undefined ? before && { ...before, gone: true } : { hash, gone: false };
    if (known === undefined) return;
    const [oldest] = this.#known.keys();
    if (this.#known.size >= HASHES_KEPT && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(path, known);
  }
}
