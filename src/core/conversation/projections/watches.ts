// Projects what a conversation subscribed to by its own acts: globs, handles, tasks, resources. It is in the log, so it
// survives a restart.
import { type EventOf, type LogEvent } from '../../../protocol/event.ts';
import { type KnownTools, type ToolTraits } from '../../ports/toolTraits.ts';
import { attachedResources } from '../attachments.ts';

export interface WatchArguments {
  readonly add?: readonly string[] | undefined;
  readonly remove?: readonly string[] | undefined;
}

/** With more resources, the oldest are no longer watched. */
const MOST_RESOURCES = 100;

export class Watches {
  #globs: ReadonlySet<string> = new Set();
  #handles: ReadonlySet<string> = new Set();
  #tasks: ReadonlySet<string> = new Set();
  #servers: ReadonlySet<string> = new Set();
  #resources: ReadonlySet<string> = new Set();
  readonly #asked = new Map<string, WatchArguments>();
  readonly #askedTasks = new Map<string, { readonly tool: ToolTraits; readonly task: string | undefined }>();
  readonly #tools: KnownTools | undefined;

  constructor(tools: KnownTools | undefined) {
    this.#tools = tools;
  }

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

  /** Names of the MCP servers whose tools its last request could call. A new set after each change. */
  get servers(): ReadonlySet<string> {
    return this.#servers;
  }

  /** Resources of MCP servers that the user attached or a call has read. A new set after each change. */
  get resources(): ReadonlySet<string> {
    return this.#resources;
  }

  fold(event: LogEvent): void {
    switch (event.type) {
      case 'config_used':
        this.#servers = new Set(event.servers?.map(({ name }) => name));
        return;
      case 'chat_request':
      case 'user_text_queued':
        this.#addResources(attachedResources(event.attachments));
        return;
      case 'tool_call_request': {
        const tool = this.#tools?.traits(event.name);
        if (tool?.changesWatches === true) this.#asked.set(event.id, event.arguments);
        if (tool?.runsTask !== undefined) {
          this.#askedTasks.set(event.id, { tool, task: tool.runsTask(event.arguments) });
        }
        return;
      }
      case 'approval':
        this.#approved(event);
        return;
      case 'tool_call_response': {
        const asked = this.#asked.get(event.id);
        this.#asked.delete(event.id);
        this.#askedTasks.delete(event.id);
        if (asked !== undefined && !event.is_error) this.#globs = applyWatch(this.#globs, asked);
        this.#addResources(event.resources);
        return;
      }
      case 'watch_changed':
        this.#globs = applyWatch(this.#globs, event);
        return;
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

  #addResources(names: readonly string[] = []): void {
    const all = new Set([...this.#resources, ...names]);
    if (all.size > this.#resources.size) this.#resources = new Set([...all].slice(-MOST_RESOURCES));
  }

  #approved({ tool_call_id: call, action, arguments: changed }: EventOf<'approval'>): void {
    if (changed !== undefined && this.#asked.has(call)) this.#asked.set(call, changed);
    const asked = this.#askedTasks.get(call);
    if (action === 'reject' || asked === undefined) return;
    const task = (changed && asked.tool.runsTask?.(changed)) ?? asked.task;
    if (task !== undefined && !this.#tasks.has(task)) this.#tasks = new Set([...this.#tasks, task]);
  }
}

/** The tool refuses arguments that this function cannot apply, so log and tool agree about every successful call. */
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
