// Projects the lines from scripts that a conversation got, so that each is queued once, also if the editor was killed
// before it removed the line from the spool.
import * as z from 'zod';
import { type LogEvent } from '../../../protocol/event.ts';

const DAY_MILLISECONDS = 24 * 3600_000;
/** More lines than the spool has. */
const MOST_IDS = 5000;

/** In the data of `script.*`. */
const scriptDataSchema = z.object({
  lines: z.array(z.object({ id: z.string(), key: z.string().optional() })),
  /** The command of this conversation by whose grant it wakes. */
  run: z.string().optional(),
});

export class ScriptLines {
  readonly #ids = new Set<string>();
  /** When a line with this key was queued last. */
  readonly #keys = new Map<string, number>();
  readonly #wakes = new Map<string, number>();

  /** `now`: milliseconds since 1970. */
  isKnown({ id, key }: { readonly id: string; readonly key?: string | undefined }, now: number): boolean {
    if (this.#ids.has(id)) return true;
    const at = key === undefined ? undefined : this.#keys.get(key);
    return at !== undefined && now - at < DAY_MILLISECONDS;
  }

  /** How often lines of a command have used its grant to wake. */
  wakesOf(run: string): number {
    return this.#wakes.get(run) ?? 0;
  }

  fold(event: LogEvent): void {
    if (event.type !== 'notification_queued' || event.notification.kind.source !== 'script') return;
    const read = scriptDataSchema.safeParse(event.notification.data);
    if (!read.success) return;
    const { lines, run } = read.data;
    for (const { id, key } of lines) {
      this.#ids.add(id);
      if (key !== undefined) this.#keys.set(key, Date.parse(event.timestamp));
    }
    for (const id of this.#ids) {
      if (this.#ids.size <= MOST_IDS) break;
      this.#ids.delete(id);
    }
    if (run !== undefined) this.#wakes.set(run, this.wakesOf(run) + 1);
  }
}
