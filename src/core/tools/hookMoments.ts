// Runs the user's hooks at a moment of a conversation, and queues the texts they add as notifications.
import { type Disposable } from '../../base/disposable.ts';
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { defined } from '../../base/json/defined.ts';
import { printPath } from '../../base/printPath.ts';
import { type LogEvent } from '../../protocol/event.ts';
import { type ShippedKind } from '../../protocol/kinds.ts';
import { printKind } from '../../protocol/notification.ts';
import { maskKey } from '../conversation/key.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { enqueue } from '../notify/queue.ts';
import { type Hooks, type HookMoment, type HookVerdict } from '../ports/hooks.ts';
import { type Clock, type Ids, type Logger, type Touched } from '../ports/ports.ts';
import { type Workspace } from '../ports/workspace.ts';

interface HookPorts {
  readonly ids: Ids;
  readonly clock: Clock;
  readonly hooks: Hooks;
}

export interface HookDeps extends HookPorts {
  readonly log: ConversationLog;
}

interface HookedCall {
  readonly tool: string;
  readonly id: string;
  readonly args: unknown;
  /** As in HookMoment. */
  readonly folder: string | undefined;
}

const NOTHING: HookVerdict = { added: [] };
const ADDED = 'hook.added' satisfies ShippedKind;
const OBJECTED = 'hook.objected' satisfies ShippedKind;

/** Resolves once the added texts are queued, to be delivered by the next carrier. */
export async function runHooks(
  deps: HookDeps,
  moment: Omit<HookMoment, 'conversation'>,
  signal: AbortSignal,
): Promise<HookVerdict> {
  const { hooks, log } = deps;
  if (!hooks.has(moment.event, moment.tool)) return NOTHING;
  const { mode } = log.state.choice.current;
  const verdict = await hooks.run({ ...moment, conversation: log.id, mode }, signal);
  if (!log.isWritable) return verdict;
  for (const { hook, text } of verdict.added) {
    await queue(deps, ADDED, 'info', `The user’s hook ${printPath(hook)} adds:\n${text}`);
  }
  return verdict;
}

/** Notifies the model of an objection to something that can no longer be refused. */
export async function queueObjection(deps: HookDeps, message: string): Promise<void> {
  await queue(deps, OBJECTED, 'warning', message);
}

/** The moment before a call runs. `args`: the arguments it will run with. */
export function beforeTool({ tool, id, args, folder }: HookedCall): Omit<HookMoment, 'conversation'> {
  const input = { tool_name: tool, tool_input: args, tool_use_id: id };
  return { event: 'before_tool', tool, ...defined({ folder }), input };
}

/** The folder of a command, or the one of the first file; undefined without several folders, and if it is in none. */
export async function folderOfCall(
  { folders, resolve }: Pick<Workspace, 'folders' | 'resolve'>,
  { folder, paths: [first] = [] }: Touched,
): Promise<string | undefined> {
  if (folders.length < 2) return undefined;
  const file = first === undefined ? undefined : await resolve(first);
  const path = folder ?? (file?.ok === true ? file.value.path : '');
  return folders.find((one) => path === one.path || path.startsWith(`${one.path}/`))?.absolute;
}

/** Runs the hooks after a call. Their texts are delivered with its result. */
export async function hooksAfterTool(
  deps: HookDeps,
  call: HookedCall,
  outcome: { readonly content: string; readonly isError: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { tool, id, args, folder } = call;
  if (!deps.hooks.has('after_tool', tool)) return;
  const content = maskKey(outcome.content.slice(0, MOST_SHOWN), deps.log.state.turn.key);
  const response = { content, is_error: outcome.isError };
  const input = { tool_name: tool, tool_input: args, tool_use_id: id, tool_response: response };
  const { refused } = await runHooks(deps, { event: 'after_tool', tool, ...defined({ folder }), input }, signal);
  if (refused !== undefined) await queueObjection(deps, `A hook of the user objects to this call: ${refused}`);
}

/** The number of characters of a result that hooks get. */
const MOST_SHOWN = 30_000;

async function queue(
  { log, ids, clock }: HookDeps,
  kind: typeof ADDED | typeof OBJECTED,
  level: 'info' | 'warning',
  message: string,
): Promise<void> {
  const [source = '', name = ''] = kind.split('.');
  const at = new Date(clock.now()).toISOString();
  await enqueue(log, ids, { kind: { source, name }, level, origin: 'host', message, at });
}

/** Runs hooks for events outside a turn: messages of the user, and notifications. Running hooks end with the window. */
export class ConversationHooks implements Disposable {
  readonly #ports: HookPorts & { readonly logger: Logger };
  readonly #ended = new AbortController();

  constructor(ports: HookPorts & { readonly logger: Logger }) {
    this.#ports = ports;
  }

  /** Fails if a hook refuses the message. */
  async userPrompt(log: ConversationLog, prompt: string): Promise<Result<void>> {
    // The task of a subagent is not a message of the user.
    if (log.state.summary.subagent !== undefined && log.state.messages.count === 0) return succeeded(undefined);
    const moment = { event: 'user_prompt', input: { prompt } } as const;
    const { refused } = await runHooks({ ...this.#ports, log }, moment, this.#ended.signal);
    if (refused === undefined) return succeeded(undefined);
    return failed('refused', `A hook refused this message: ${refused}`, 'Change it and send it again.');
  }

  /** Hooks get notifications but cannot change them. */
  appended(log: ConversationLog, event: LogEvent): void {
    const { hooks } = this.#ports;
    if (event.type !== 'notification_queued' || !log.owned || !hooks.has('notification')) return;
    const { kind, level, message } = event.notification;
    // A notification added by a hook must not start hooks again.
    if (kind.source === HOOK_SOURCE) return;
    const input = { message, notification_type: printKind(kind), level };
    void hooks
      .run({ event: 'notification', conversation: log.id, input }, this.#ended.signal)
      .catch((error: unknown) => this.#ports.logger.error('a hook failed unexpectedly', error));
  }

  dispose(): void {
    this.#ended.abort();
  }
}

const HOOK_SOURCE = 'hook';
