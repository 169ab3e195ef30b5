// Decides the one line that says how many other files of the workspace changed: counted, never named, since the last time.
import { printPath } from '../core/notify/printPath.ts';
import { type Clock } from '../core/ports.ts';
import { type DeliveryPoint, type LiveConversations, type Sample } from '../core/producerPorts.ts';
import { type FileTouch } from '../core/sourcePorts.ts';
import { type Exclusions } from './exclusions.ts';
import { type GitGate } from './gitGate.ts';

const KIND = { source: 'file', name: 'workspace' } as const;
/** More than this many are not told apart any more. */
const MOST = 10_000;
const FOLDERS_NAMED = 3;
/** Of files that nobody has read, fewer than this with other bytes make nothing that is known untrue: they wait for more. */
const WORTH_A_WORD = 5;

export interface WorkspaceCountsDeps {
  readonly clock: Clock;
  readonly live: LiveConversations;
  readonly exclusions: Exclusions;
  readonly gate?: GitGate;
  isSeen(path: string): boolean;
}

interface Touched {
  readonly type: FileTouch['type'];
  readonly at: number;
}

export class WorkspaceCounts {
  readonly #deps: WorkspaceCountsDeps;
  /** The oldest first. */
  readonly #touched = new Map<string, Touched>();
  /** When each conversation was last told, or joined. */
  readonly #told = new Map<string, number>();

  constructor(deps: WorkspaceCountsDeps) {
    this.#deps = deps;
  }

  /** Cheap: git may touch ten thousand at once. */
  touched(path: string, type: FileTouch['type']): void {
    const { gate, clock } = this.#deps;
    if (gate?.isLate(path, clock.now()) === true || gate?.echoes(clock.now()) === true) return;
    const before = this.#touched.get(path);
    this.#touched.delete(path);
    // A file that was made and then written is a new one.
    const kept = before?.type === 'created' && type === 'changed' ? 'created' : type;
    this.#touched.set(path, { type: kept, at: clock.now() });
    const [oldest] = this.#touched.keys();
    if (this.#touched.size > MOST && oldest !== undefined) this.#touched.delete(oldest);
  }

  /** With the user's next request, or beside something else: alone it is not worth a word. */
  async sample({ conversation, type, carries }: DeliveryPoint): Promise<Sample[]> {
    if (this.#touched.size === 0 || (type === 'result' && !carries)) return [];
    const now = this.#deps.clock.now();
    const others = await this.#othersSince(this.#told.get(conversation) ?? 0, conversation);
    if (others.length < WORTH_A_WORD && others.every(([, touched]) => touched.type === 'changed')) return [];
    this.#told.set(conversation, now);
    this.#forget();
    const counts = (['changed', 'created', 'deleted'] as const)
      .map((kind) => ({ kind, count: others.filter(([, touched]) => touched.type === kind).length }))
      .filter(({ count }) => count > 0)
      .map(({ kind, count }) => `${count} ${kind}`);
    const message = `Other files of the workspace meanwhile: ${counts.join(', ')} (${describePlaces(others)}).`;
    return [{ kind: KIND, subject: 'workspace', draft: { level: 'info', message, origin: 'filesystem' } }];
  }

  async #othersSince(since: number, conversation: string): Promise<(readonly [string, Touched])[]> {
    const { exclusions, gate, isSeen } = this.#deps;
    const own = this.#madeBy(conversation);
    const folders = foldersOf(this.#touched.keys());
    const others: (readonly [string, Touched])[] = [];
    for (const [path, touched] of this.#touched) {
      if (touched.at <= since || own.has(path) || isSeen(path)) continue;
      const excluded =
        folders.has(path) ||
        gate?.covers(touched.at) === true ||
        (await exclusions.excludes(path)) ||
        // The editor does not say whether it is a folder, of which rules may speak as one.
        (await exclusions.excludes(`${path}/`));
      // For good: it is not asked about again while the others wait.
      if (excluded) this.#touched.delete(path);
      else others.push([path, touched]);
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
    for (const [path, { at }] of this.#touched) {
      if (at > oldest) return;
      this.#touched.delete(path);
    }
  }
}

/** Folders come with what was made in them, and are no files. */
function foldersOf(paths: Iterable<string>): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const path of paths) {
    for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
      const folder = path.slice(0, slash);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  return folders;
}

/** `src 12, test 3, 2 more folders` */
function describePlaces(others: readonly (readonly [string, Touched])[]): string {
  const places = new Map<string, number>();
  for (const [path] of others) {
    const place = path.includes('/') ? `${printPath(path.slice(0, path.indexOf('/')))}/` : 'at the top';
    places.set(place, (places.get(place) ?? 0) + 1);
  }
  const sorted = [...places].sort(([, a], [, b]) => b - a);
  const named = sorted.slice(0, FOLDERS_NAMED).map(([place, count]) => `${place} ${count}`);
  const more = sorted.length - named.length;
  return [...named, ...(more > 0 ? [`${more} more folders`] : [])].join(', ');
}
