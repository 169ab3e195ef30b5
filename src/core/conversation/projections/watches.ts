// Projects what a conversation subscribed to by its own calls: globs, handles and tasks. It is in the log, so it survives a restart.
import { type EventOf, type LogEvent } from '../../../protocol/event.ts';

export const WATCH_TOOL = 'watch';
export const RUN_TASK_TOOL = 'run_task';

export interface WatchArguments {
  readonly add?: readonly string[] | undefined;
  readonly remove?: readonly string[] | undefined;
}

export class Watches {
  #globs: ReadonlySet<string> = new Set();
  #handles: ReadonlySet<string> = new Set();
  #tasks: ReadonlySet<string> = new Set();
  readonly #asked = new Map<string, WatchArguments>();
  readonly #askedTasks = new Map<string, unknown>();

  /** A new set after each change. */
  get globs(): ReadonlySet<string> {
    return this.#globs;
  }

  /** Names of the handles it started. A new set after each change. */
  get handles(): ReadonlySet<string> {
    return this.#handles;
  }

  /** Names of the tasks it ran, as it called them. A new set after each change. */
  get tasks(): ReadonlySet<string> {
    return this.#tasks;
  }

  fold(event: LogEvent): void {
    switch (event.type) {
      case 'tool_call_request':
        if (event.name === WATCH_TOOL) this.#asked.set(event.id, event.arguments);
        if (event.name === RUN_TASK_TOOL) this.#askedTasks.set(event.id, event.arguments['name']);
        return;
      case 'approval':
        this.#approved(event);
        return;
      case 'tool_call_response': {
        const asked = this.#asked.get(event.id);
        this.#asked.delete(event.id);
        this.#askedTasks.delete(event.id);
        if (asked !== undefined && !event.is_error) this.#globs = applyWatch(this.#globs, asked);
        return;
      }
      case 'handle_started':
        this.#handles = new Set([...this.#handles, event.name]);
        return;
      case 'forked':
        // Handles stay with the original.
        this.#handles = new Set();
        return;
      default:
        return;
    }
  }

  #approved({ tool_call_id: call, action, arguments: changed }: EventOf<'approval'>): void {
    if (changed !== undefined && this.#asked.has(call)) this.#asked.set(call, changed);
    if (action === 'reject' || !this.#askedTasks.has(call)) return;
    const name = changed?.['name'] ?? this.#askedTasks.get(call);
    if (typeof name === 'string' && !this.#tasks.has(name)) this.#tasks = new Set([...this.#tasks, name]);
  }
}

/** The tool refuses arguments that this cannot apply, so the log and the tool agree about a call that succeeded. */
export function applyWatch(globs: ReadonlySet<string>, { add, remove }: WatchArguments): ReadonlySet<string> {
  const next = new Set(globs);
  for (const glob of strings(remove)) next.delete(glob);
  for (const glob of strings(add)) next.add(glob);
  return next;
}

/** Arguments in the log are what a model wrote, so they are not validated. */
function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}
