// Appends a request and everything pending to the log: a message of the user, queued messages, or an automated request.
import { SYSTEM_REQUEST } from '../conversation/projections/messages.ts';
import { Prompting } from '../prompt/prompting.ts';
import { collect, seenIn } from './delivery.ts';
import { appendCarrier, sampleAt } from './sampling.ts';
import { type Interruption } from './turnControl.ts';
import { type TurnDeps } from './turnDeps.ts';
import { type AcceptedText } from './userText.ts';

export interface TurnRequest extends AcceptedText {
  /** JSON Schema of the wanted answer. */
  readonly schema?: Readonly<Record<string, unknown>>;
}

/** The reason for an interruption may have been withdrawn before its delivery. */
const NO_LONGER_TRUE = `${SYSTEM_REQUEST} What it was about is no longer true: go on.`;

/** Begins a turn with the user's message. Resolves once it is on disk. */
export async function beginUserTurn(deps: TurnDeps, request: TurnRequest): Promise<void> {
  const { log, ports } = deps;
  const { content, attachments = [] } = request;
  await sampleAt(deps, new Prompting(deps), 'request');
  const started = log.append({ type: 'turn_started', source: 'user' });
  const { notifications, seen = [] } = collect(deps.log, deps.ports);
  const shown = [...seen, ...seenIn(attachments, ports.snapshots)];
  const requested = appendCarrier(deps, {
    type: 'chat_request',
    content,
    ...(request.typed !== undefined && { typed: request.typed }),
    source: 'user',
    ...(attachments.length > 0 && { attachments: [...attachments] }),
    ...(request.schema !== undefined && { schema: { ...request.schema } }),
    ...(notifications && { notifications }),
    ...(shown.length > 0 && { seen: shown }),
  });
  await Promise.all([started, requested]);
}

/** Begins a turn with the messages that the user queued during the previous one. */
export async function beginQueuedTurn(deps: TurnDeps): Promise<void> {
  await sampleAt(deps, new Prompting(deps), 'request');
  const started = deps.log.append({ type: 'turn_started', source: 'user' });
  await Promise.all([started, appendQueued(deps)]);
}

/**
 * Begins a turn with the pending notifications. `source`: `user` if the user chose *Deliver Now*, otherwise `system`.
 */
export async function beginSystemTurn(deps: TurnDeps, source: 'system' | 'user'): Promise<void> {
  // `result`, not `request`: counts are delivered only together with something else.
  await sampleAt(deps, new Prompting(deps), 'result');
  const started = deps.log.append({ type: 'turn_started', source });
  const content = deps.log.state.pending.isEmpty ? NO_LONGER_TRUE : SYSTEM_REQUEST;
  await Promise.all([started, appendAutomated(deps, content, source === 'user')]);
}

/**
 * Appends the request for which a running turn is interrupted; queued messages come before notifications. Resolves to
 * false if nothing is left to append although an answer was interrupted for it.
 */
export async function appendInterruption(
  deps: TurnDeps,
  { by, broke }: { readonly by: Interruption; readonly broke: boolean },
): Promise<boolean> {
  const { pending } = deps.log.state;
  await sampleAt(deps, new Prompting(deps), pending.queuedMessages.length > 0 ? 'request' : 'result');
  if (pending.queuedMessages.length > 0) await appendQueued(deps);
  else if (by === 'user') return !broke;
  else if (!pending.isEmpty) await appendAutomated(deps, SYSTEM_REQUEST, by === 'delivery');
  else if (broke) await appendAutomated(deps, NO_LONGER_TRUE);
  return true;
}

async function appendQueued(deps: TurnDeps): Promise<void> {
  const { queuedMessages: texts } = deps.log.state.pending;
  const attachments = texts.flatMap((text) => text.attachments ?? []);
  await appendCarrier(deps, {
    type: 'chat_request',
    content: joined(texts.map(({ content }) => content)),
    ...(texts.some(({ typed }) => typed !== undefined) && {
      typed: joined(texts.map(({ content, typed = content }) => typed)),
    }),
    source: 'user',
    ...(attachments.length > 0 && { attachments }),
    ...collect(deps.log, deps.ports, true),
  });
}

async function appendAutomated(deps: TurnDeps, content: string, isForced = false): Promise<void> {
  await appendCarrier(deps, {
    type: 'chat_request',
    content,
    source: 'system',
    ...(isForced && { forced: true }),
    ...collect(deps.log, deps.ports),
  });
}

function joined(texts: readonly string[]): string {
  return texts.join('\n\n');
}
