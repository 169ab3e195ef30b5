// Decides the one line that says how many other files of the workspace changed: counted, never named, since the last time.
import { printPath } from '../../base/printPath.ts';
import { matchesAny } from '../../core/files/globs.ts';
import { type Clock } from '../../core/ports/ports.ts';
import { type DeliveryPoint, type LiveConversations, type Sample } from '../../core/ports/producers.ts';
import { type FileTouch } from '../../core/ports/sources.ts';
import { type GitGate } from '../git/gitGate.ts';
import { type Exclusions } from './exclusions.ts';
import { foldersAbove } from './folders.ts';

const KIND = { source: 'file', name: 'workspace' } as const;
/** More than this many are not told apart any more. */
const MOST = 10_000;
const FOLDERS_NAMED = 3;
/** Fewer than this wait for more: a number of files that nobody has read, and does not name, helps only where it is large. */
const WORTH_A_WORD = 5;

export interface WorkspaceCountsDeps {
  readonly clock: Clock;
  readonly live: LiveConversations;
  readonly exclusions: Exclusions;
  readonly gate?: GitGate;
  isSeen(path: string): boolean;
}

interface Touch {
  readonly type: FileTouch['type'];
  readonly at: number;
}

/** What became of a file between two moments. */
interface Became {
  readonly path: string;
  readonly type: FileTouch['type'];
}

/** Of each file the first touch and the last few are enough to know what it was before, and whose doing it is. */
const LAST_TOUCHES_KEPT = 3;

export class WorkspaceCounts {
  readonly #deps: WorkspaceCountsDeps;
  /** Who was touched last comes last. */
  readonly #touched = new Map<string, readonly Touch[]>();
  /** When each conversation was last told, or joined. */
  readonly #told = new Map<string, number>();

  constructor(deps: WorkspaceCountsDeps) {
    this.#deps = deps;
  }

  /** What was before a conversation was there is no news to it. */
  followLive(): void {
    const ids = new Set(this.#deps.live.ids());
    for (const id of ids) if (!this.#told.has(id)) this.#told.set(id, this.#deps.clock.now());
    for (const id of [...this.#told.keys()]) if (!ids.has(id)) this.#told.delete(id);
  }

  /** Cheap: git may touch ten thousand at once. */
  touched(path: string, type: FileTouch['type']): void {
    const { gate, clock } = this.#deps;
    if (gate?.isLate(path, clock.now()) === true || gate?.echoes(clock.now()) === true) return;
    const before = this.#touched.get(path) ?? [];
    this.#touched.delete(path);
    const touches = [...before, { type, at: clock.now() }];
    const few = touches.length <= 1 + LAST_TOUCHES_KEPT;
    this.#touched.set(path, few ? touches : [...touches.slice(0, 1), ...touches.slice(-LAST_TOUCHES_KEPT)]);
    const [oldest] = this.#touched.keys();
    if (this.#touched.size > MOST && oldest !== undefined) this.#touched.delete(oldest);
  }

  /** With the user's next request, or beside something else: alone it is not worth a word. */
  async sample({ conversation, type, carries }: DeliveryPoint): Promise<Sample[]> {
    if (this.#touched.size === 0 || (type === 'result' && !carries)) return [];
    const now = this.#deps.clock.now();
    const others = await this.#othersSince(this.#told.get(conversation) ?? 0, conversation);
    if (others.length < WORTH_A_WORD) return [];
    this.#told.set(conversation, now);
    this.#forget();
    const counts = (['changed', 'created', 'deleted'] as const)
      .map((kind) => ({ kind, count: others.filter((one) => one.type === kind).length }))
      .filter(({ count }) => count > 0)
      .map(({ kind, count }) => `${count} ${kind}`);
    const message = `Other files of the workspace meanwhile: ${counts.join(', ')} (${describePlaces(others)}).`;
    return [{ kind: KIND, subject: 'workspace', draft: { level: 'info', message, origin: 'filesystem' } }];
  }

  async #othersSince(since: number, conversation: string): Promise<Became[]> {
    const { exclusions, gate, isSeen } = this.#deps;
    const own = this.#madeBy(conversation);
    // Of these it is told one by one.
    const watched = [...this.#deps.live.globs(conversation)];
    // Folders come with what was made in them, and are no files.
    const folders = foldersAbove(this.#touched.keys());
    const others: Became[] = [];
    for (const [path, touches] of this.#touched) {
      const later = touches.filter(({ at }) => at > since);
      const byOthers = later.findIndex(({ at }) => gate?.covers(at) !== true);
      const type = whatBecame(byOthers === -1 ? later : later.slice(byOthers));
      if (type === undefined || own.has(path) || isSeen(path) || matchesAny(watched, path)) continue;
      const excluded =
        folders.has(path) ||
        byOthers === -1 ||
        (await exclusions.excludes(path)) ||
        // The editor does not say whether it is a folder, of which rules may speak as one.
        (await exclusions.excludes(`${path}/`));
      // For good: it is not asked about again while the others wait.
      if (excluded) this.#touched.delete(path);
      else others.push({ path, type });
    }
    return others;
  }

  #madeBy(conversation: string): ReadonlySet<string> {
    const calls = this.#deps.live.callsSince(0).filter((call) => call.conversation === conversation);
    return new Set(calls.flatMap(({ made }) => [...made.keys()]));
  }

  /** What every live conversation was told of needs no keeping. */
  #forget(): void {
    const oldest = Math.min(...this.#deps.live.ids().map((id) => this.#told.get(id) ?? 0));
    for (const [path, touches] of this.#touched) {
      if ((touches.at(-1)?.at ?? 0) > oldest) return;
      this.#touched.delete(path);
    }
  }
}

/** Undefined: nothing, or it came and went. */
function whatBecame(touches: readonly Touch[]): FileTouch['type'] | undefined {
  const [first, last] = [touches[0], touches.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const [wasThere, isThere] = [first.type !== 'created', last.type !== 'deleted'];
  if (!isThere) return wasThere ? 'deleted' : undefined;
  return wasThere ? 'changed' : 'created';
}

/** `src 12, test 3, 2 more folders` */
function describePlaces(others: readonly Became[]): string {
  const places = new Map<string, number>();
  for (const { path } of others) {
    const place = path.includes('/') ? `${printPath(path.slice(0, path.indexOf('/')))}/` : 'at the top';
    places.set(place, (places.get(place) ?? 0) + 1);
  }
  const sorted = [...places].sort(([, a], [, b]) => b - a);
  const named = sorted.slice(0, FOLDERS_NAMED).map(([place, count]) => `${place} ${count}`);
  const more = sorted.length - named.length;
  return [...named, ...(more > 0 ? [`${more} more folders`] : [])].join(', ');
}
