// Reports in one line how many other files of the workspace changed since the last report, without naming them.
import { printPath } from '../../base/printPath.ts';
import { matchesAny } from '../../core/files/globs.ts';
import { type Clock } from '../../core/ports/ports.ts';
import { type DeliveryPoint, type LiveConversations, type Sample } from '../../core/ports/producers.ts';
import { type FileTouch } from '../../core/ports/sources.ts';
import { type GitGate } from '../git/gitGate.ts';
import { type Exclusions } from './exclusions.ts';
import { foldersAbove } from './folders.ts';

const KIND = { source: 'file', name: 'workspace' } as const;
/** How many touched files are remembered. */
const MOST = 10_000;
const FOLDERS_NAMED = 3;
/** Smaller counts are not reported: a count of unread, unnamed files helps only if it is large. */
const FEWEST_REPORTED = 10;

export interface WorkspaceCountsDeps {
  readonly clock: Clock;
  readonly live: LiveConversations;
  readonly exclusions: Exclusions;
  readonly gate?: GitGate | undefined;
  isSeen(path: string): boolean;
}

interface Touch {
  readonly type: FileTouch['type'];
  readonly at: number;
}

/** The net change of a file over a period. */
interface FileOutcome {
  readonly path: string;
  readonly type: FileTouch['type'];
}

/** The first touch and the last few of a file are enough to know whether it existed before, and who touched it. */
const LAST_TOUCHES_KEPT = 3;

export class WorkspaceCounts {
  readonly #deps: WorkspaceCountsDeps;
  /** By path; the most recently touched file is last. */
  readonly #touched = new Map<string, readonly Touch[]>();
  /** When each conversation got its last report, or was opened. */
  readonly #reportedAt = new Map<string, number>();

  constructor(deps: WorkspaceCountsDeps) {
    this.#deps = deps;
  }

  /** Changes from before a conversation was opened are not reported to it. */
  followLive(): void {
    const ids = new Set(this.#deps.live.ids());
    for (const id of ids) if (!this.#reportedAt.has(id)) this.#reportedAt.set(id, this.#deps.clock.now());
    for (const id of [...this.#reportedAt.keys()]) if (!ids.has(id)) this.#reportedAt.delete(id);
  }

  /** Must be cheap: git may touch ten thousand files at once. */
  touched(path: string, type: FileTouch['type']): void {
    const { gate, clock } = this.#deps;
    if (gate?.isLate(path, clock.now()) === true || gate?.isEcho(clock.now()) === true) return;
    const before = this.#touched.get(path) ?? [];
    this.#touched.delete(path);
    const touches = [...before, { type, at: clock.now() }];
    const few = touches.length <= 1 + LAST_TOUCHES_KEPT;
    this.#touched.set(path, few ? touches : [...touches.slice(0, 1), ...touches.slice(-LAST_TOUCHES_KEPT)]);
    const [oldest] = this.#touched.keys();
    if (this.#touched.size > MOST && oldest !== undefined) this.#touched.delete(oldest);
  }

  /** Reported only with the user's next request or together with other notifications, never alone. */
  async sample({ conversation, type, carries }: DeliveryPoint): Promise<Sample[]> {
    if (this.#touched.size === 0 || (type === 'result' && !carries)) return [];
    const now = this.#deps.clock.now();
    const others = await this.#othersSince(this.#reportedAt.get(conversation) ?? 0, conversation);
    if (others.length < FEWEST_REPORTED) return [];
    this.#reportedAt.set(conversation, now);
    this.#forget();
    const counts = (['changed', 'created', 'deleted'] as const)
      .map((kind) => ({ kind, count: others.filter((one) => one.type === kind).length }))
      .filter(({ count }) => count > 0)
      .map(({ kind, count }) => `${count} ${kind}`);
    const message = `Other files of the workspace meanwhile: ${counts.join(', ')} (${describePlaces(others)}).`;
    return [{ kind: KIND, subject: 'workspace', draft: { level: 'info', message, origin: 'filesystem' } }];
  }

  async #othersSince(since: number, conversation: string): Promise<FileOutcome[]> {
    const { exclusions, gate, isSeen } = this.#deps;
    const own = this.#madeBy(conversation);
    // Watched files are reported one by one.
    const watched = [...this.#deps.live.globs(conversation)];
    // Folders are reported too when files are created in them.
    const folders = foldersAbove(this.#touched.keys());
    const others: FileOutcome[] = [];
    for (const [path, touches] of this.#touched) {
      const later = touches.filter(({ at }) => at > since);
      const byOthers = later.findIndex(({ at }) => gate?.isDuringOperation(at) !== true);
      const type = netChange(byOthers === -1 ? later : later.slice(byOthers));
      if (type === undefined || own.has(path) || isSeen(path) || matchesAny(watched, path)) continue;
      const excluded =
        folders.has(path) ||
        byOthers === -1 ||
        (await exclusions.excludes(path)) ||
        // The path may be a folder, and some rules apply only to folders.
        (await exclusions.excludes(`${path}/`));
      // Removed, so that the path is not checked again.
      if (excluded) this.#touched.delete(path);
      else others.push({ path, type });
    }
    return others;
  }

  #madeBy(conversation: string): ReadonlySet<string> {
    const calls = this.#deps.live.callsSince(0).filter((call) => call.conversation === conversation);
    return new Set(calls.flatMap(({ made }) => [...made.keys()]));
  }

  /** Removes touches that were already reported to every live conversation. */
  #forget(): void {
    const oldest = Math.min(...this.#deps.live.ids().map((id) => this.#reportedAt.get(id) ?? 0));
    for (const [path, touches] of this.#touched) {
      if ((touches.at(-1)?.at ?? 0) > oldest) return;
      this.#touched.delete(path);
    }
  }
}

/** Undefined if nothing happened, or if the file was created and deleted. */
function netChange(touches: readonly Touch[]): FileTouch['type'] | undefined {
  const [first, last] = [touches[0], touches.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const [wasThere, isThere] = [first.type !== 'created', last.type !== 'deleted'];
  if (!isThere) return wasThere ? 'deleted' : undefined;
  return wasThere ? 'changed' : 'created';
}

/** `src 12, test 3, 2 more folders` */
function describePlaces(others: readonly FileOutcome[]): string {
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
