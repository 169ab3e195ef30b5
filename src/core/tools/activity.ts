// Tracks the tool calls of one conversation that may change something, from its log.
import { type EventOf, type LogEvent } from '../../protocol/event.ts';
import { type ActiveCall } from '../ports/producers.ts';
import { type ToolRegistry } from './registry.ts';

/** Ended calls are kept for this long, because their changes are noticed a while later. */
const KEPT_MILLISECONDS = 30_000;

/** Every call that does more than read has an approval in the log before it begins. */
export class Activity {
  readonly #conversation: string;
  readonly #registry: ToolRegistry;
  readonly #requests = new Map<string, EventOf<'tool_call_request'>>();
  readonly #calls = new Map<string, ActiveCall>();

  constructor(conversation: string, registry: ToolRegistry) {
    this.#conversation = conversation;
    this.#registry = registry;
  }

  get calls(): readonly ActiveCall[] {
    return [...this.#calls.values()];
  }

  /** Returns whether the set of running calls has changed. */
  take(event: LogEvent): boolean {
    switch (event.type) {
      case 'tool_call_request':
        this.#requests.set(event.id, event);
        return false;
      case 'approval':
        return this.#allowed(event);
      case 'tool_call_response':
        this.#requests.delete(event.id);
        return this.#ended(event);
      case 'changes_reviewed':
        return this.#reviewed(event);
      default:
        return false;
    }
  }

  #reviewed({ event_id, action, files, timestamp }: EventOf<'changes_reviewed'>): boolean {
    if (action === 'keep') return false;
    const ended = Date.parse(timestamp);
    const made = new Map(files.map(({ path, after }) => [path, after]));
    const { review, paths } = { review: action, paths: [...made.keys()] };
    this.#add(
      event_id,
      { conversation: this.#conversation, tool: '', review, paths, started: ended, ended, made },
      ended,
    );
    return true;
  }

  #allowed({ tool_call_id, action, arguments: changed, timestamp }: EventOf<'approval'>): boolean {
    const request = this.#requests.get(tool_call_id);
    if (request === undefined || action === 'reject') return false;
    const tool = this.#registry.known(request.name);
    const parsed = tool?.parse(changed ?? request.arguments);
    const touched = parsed?.ok === true ? tool?.touches?.(parsed.value) : undefined;
    this.#calls.set(tool_call_id, {
      conversation: this.#conversation,
      tool: request.name,
      ...(touched?.command !== undefined && { command: touched.command }),
      paths: touched?.paths ?? [],
      started: Date.parse(timestamp),
      made: new Map(),
    });
    return true;
  }

  #ended({ id, changes = [], timestamp }: EventOf<'tool_call_response'>): boolean {
    const call = this.#calls.get(id);
    if (call === undefined) return false;
    const ended = Date.parse(timestamp);
    this.#add(id, { ...call, ended, made: new Map(changes.map(({ path, after }) => [path, after])) }, ended);
    return true;
  }

  /** Adds an ended call, and removes old ones. */
  #add(id: string, call: ActiveCall, ended: number): void {
    this.#calls.set(id, call);
    for (const [old, { ended: before = ended }] of this.#calls) {
      if (ended - before > KEPT_MILLISECONDS) this.#calls.delete(old);
    }
  }
}
