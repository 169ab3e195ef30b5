// Maps events of a conversation's log to session updates of the Agent Client Protocol.
import { join } from 'node:path';
import { decodeText } from '../base/text.ts';
import { maskKey } from '../core/conversation/key.ts';
import { type ToolTraits } from '../core/ports/toolTraits.ts';
import { type Snapshots } from '../core/ports/storage.ts';
import { type EventOf, type LogEvent } from '../protocol/event.ts';
import { todoArgumentsSchema } from '../protocol/todo.ts';
import { type Effect } from '../protocol/tool.ts';

export interface UpdateDeps {
  readonly folder: string;
  readonly snapshots: Pick<Snapshots, 'get'>;
  effectOf(tool: string): Effect | undefined;
  traitsOf(tool: string): ToolTraits | undefined;
  /** The conversation's key, which only the model may see. */
  key(): string;
}

export type SessionUpdate = Readonly<Record<string, unknown>> & { readonly sessionUpdate: string };

/** Limit of each side of a diff in characters; no diff is sent for a longer file. */
const LONGEST_TEXT = 200_000;
const LONGEST_TITLE = 200;
const KINDS: Readonly<Record<Effect, string>> = { read: 'read', edit: 'edit', execute: 'execute' };

/** `replay`: the client has not seen the event. Otherwise its own prompts and streamed answers are left out. */
export async function updatesOf(event: LogEvent, deps: UpdateDeps, replay: boolean): Promise<readonly SessionUpdate[]> {
  switch (event.type) {
    case 'chat_request':
      return [
        ...(replay || event.source === 'system' ? [chunk('user_message_chunk', event.content)] : []),
        ...queuedUpdates(event, deps),
      ];
    case 'chat_response':
      return replay ? answerChunks(event) : [];
    case 'tool_call_request':
      return [callUpdate(event, deps), ...planOf(event, deps)];
    case 'tool_call_response':
      return [await resultUpdate(event, deps), ...queuedUpdates(event, deps)];
    case 'title_set':
      return [{ sessionUpdate: 'session_info_update', title: event.title }];
    default:
      return [];
  }
}

export function chunk(sessionUpdate: string, text: string): SessionUpdate {
  return { sessionUpdate, content: { type: 'text', text } };
}

export function textContent(text: string) {
  return { type: 'content', content: { type: 'text', text } };
}

/** Shows the last output of a running call. */
export function outputUpdate(toolCallId: string, output: string): SessionUpdate {
  return { ...startedUpdate(toolCallId), content: [textContent(output)] };
}

export function startedUpdate(toolCallId: string): SessionUpdate {
  return { sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress' };
}

function answerChunks({ message = '', reasoning = '' }: EventOf<'chat_response'>): SessionUpdate[] {
  return [
    ...(reasoning === '' ? [] : [chunk('agent_thought_chunk', reasoning)]),
    ...(message === '' ? [] : [chunk('agent_message_chunk', message)]),
  ];
}

function callUpdate({ id, name, arguments: args }: EventOf<'tool_call_request'>, deps: UpdateDeps): SessionUpdate {
  const call = describeCall(id, name, args, deps);
  return { sessionUpdate: 'tool_call', ...call, status: 'pending' };
}

/** A call as a client shows it, in an update and in a request for permission. */
export function describeCall(
  toolCallId: string,
  name: string,
  args: Readonly<Record<string, unknown>>,
  { effectOf, folder }: Pick<UpdateDeps, 'effectOf' | 'folder'>,
) {
  const effect = effectOf(name);
  const { path, command } = args;
  const what = typeof command === 'string' ? command : typeof path === 'string' ? path : '';
  return {
    toolCallId,
    title: `${name} ${what}`.replace(/\s+/g, ' ').trim().slice(0, LONGEST_TITLE),
    kind: effect === undefined ? 'other' : KINDS[effect],
    rawInput: args,
    ...(typeof path === 'string' && { locations: [{ path: join(folder, path) }] }),
  };
}

/** Notifications follow the result, with the text that the model got except for the key. */
async function resultUpdate(event: EventOf<'tool_call_response'>, deps: UpdateDeps): Promise<SessionUpdate> {
  const { id, content, is_error: isError, notifications, changes = [] } = event;
  const block = notifications?.text ?? '';
  const texts = [content, ...(block === '' ? [] : [maskKey(block, deps.key())])];
  const diffs = await Promise.all(changes.map((change) => diffOf(change, deps)));
  return {
    sessionUpdate: 'tool_call_update',
    toolCallId: id,
    status: isError ? 'failed' : 'completed',
    content: [...diffs.filter((diff) => diff !== undefined), ...texts.map(textContent)],
  };
}

/** Messages that the user queued elsewhere, where the model reads them. */
function queuedUpdates(
  { notifications }: EventOf<'chat_request' | 'tool_call_response'>,
  deps: UpdateDeps,
): SessionUpdate[] {
  return (notifications?.user ?? []).map((text) => chunk('user_message_chunk', maskKey(text, deps.key())));
}

type Change = NonNullable<EventOf<'tool_call_response'>['changes']>[number];

/** Undefined: a side is not text, is too long, or its bytes are gone. */
async function diffOf({ path, before, after }: Change, { snapshots, folder }: UpdateDeps) {
  const textOf = async (hash: string | undefined) => {
    const bytes = hash === undefined ? undefined : await snapshots.get(hash);
    const text = bytes && decodeText(bytes);
    return text !== undefined && text.length <= LONGEST_TEXT ? text : undefined;
  };
  const [oldText, newText] = await Promise.all([textOf(before), textOf(after)]);
  if (before !== undefined && oldText === undefined) return undefined;
  if (after !== undefined && newText === undefined) return undefined;
  return { type: 'diff', path: join(folder, path), oldText: oldText ?? null, newText: newText ?? '' };
}

const STATUS = { open: 'pending', doing: 'in_progress', done: 'completed' } as const;

function planOf({ name, arguments: args }: EventOf<'tool_call_request'>, { traitsOf }: UpdateDeps): SessionUpdate[] {
  if (traitsOf(name)?.writesTodo !== true) return [];
  const todo = todoArgumentsSchema.safeParse(args);
  if (!todo.success) return [];
  const entries = todo.data.items.map(({ text, state }) => ({
    content: text,
    priority: 'medium',
    status: STATUS[state],
  }));
  return [{ sessionUpdate: 'plan', entries }];
}
