// Projects the lines that the model waits for, and how far each source was searched: a line is reported once, also if
// the editor is killed.
import { defined } from '../../../base/json/defined.ts';
import { type LogEvent } from '../../../protocol/event.ts';
import { searchedLinesSchema } from '../../../protocol/lines/lineWatch.ts';
import { type Notification } from '../../../protocol/notification.ts';
import { handleInScope } from '../../../protocol/scopes.ts';
import { type LineWatch } from '../../ports/producers.ts';

const NONE: ReadonlyMap<string, LineWatch> = new Map();

export class LineWatches {
  #byTarget = NONE;

  /** By target. A new map after each change. */
  get all(): ReadonlyMap<string, LineWatch> {
    return this.#byTarget;
  }

  /** Whether lines may wake the model by a grant of the user, so that they must be followed. */
  get mayWake(): boolean {
    return [...this.#byTarget.values()].some(({ grant }) => grant !== undefined);
  }

  fold(event: LogEvent): void {
    switch (event.type) {
      case 'lines_watched': {
        const { event_id: id, target, patterns, quiet_after_secs: quietAfterSeconds, position, grant } = event;
        const matches = patterns.map(() => 0);
        const more = {
          ...defined({ quietAfterSeconds, grant }),
        };
        const isWatched = patterns.length > 0 || quietAfterSeconds !== undefined;
        this.#set(target, isWatched ? { id, target, patterns, position, matches, ...more } : undefined);
        return;
      }
      case 'lines_searched':
        for (const watch of this.#byTarget.values()) {
          if (watch.id !== event.watch) continue;
          this.#set(watch.target, event.done === true ? undefined : { ...watch, position: event.position });
        }
        return;
      case 'notification_queued':
        if (event.notification.kind.source === 'output') this.#foldReport(event.notification);
        return;
      case 'handle_started':
        // The name was given to a new handle.
        for (const target of this.#byTarget.keys()) {
          if (handleInScope(target) === event.name) this.#set(target, undefined);
        }
        return;
      case 'forked':
        // The original goes on waiting for them.
        this.#byTarget = NONE;
        return;
      default:
        return;
    }
  }

  #foldReport({ data }: Notification): void {
    const read = searchedLinesSchema.safeParse(data?.['searched']);
    if (!read.success) return;
    const { watch: id, position, matches = {}, quiet } = read.data;
    for (const watch of this.#byTarget.values()) {
      if (watch.id !== id) continue;
      const counts = watch.matches.map((count, index) => count + (matches[index] ?? 0));
      this.#set(watch.target, { ...watch, position, matches: counts, ...defined({ quiet }) });
    }
  }

  #set(target: string, watch: LineWatch | undefined): void {
    if (watch === undefined && !this.#byTarget.has(target)) return;
    const next = new Map(this.#byTarget);
    if (watch === undefined) next.delete(target);
    else next.set(target, watch);
    this.#byTarget = next;
  }
}
