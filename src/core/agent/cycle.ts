// One model call: sends the request, renders the stream, and appends the answer to the log.
import { type Disposable } from '../../base/disposable.ts';
import { type Failure } from '../../base/errors.ts';
import { defined } from '../../base/json/defined.ts';
import { isDeeperThan, MOST_DEPTH, parseObject, TOO_DEEP } from '../../base/json/outsideJson.ts';
import { type SentRequest } from '../../protocol/client/sentRequest.ts';
import { type EventDraft, type EventOf, type Usage, type WireOrigin } from '../../protocol/event.ts';
import { type ConversationLog } from '../conversation/log.ts';
import {
  type Clock,
  type Frontend,
  type Ids,
  type Logger,
  type Model,
  type ModelPart,
  type ModelRequest,
} from '../ports/ports.ts';
import { answerTooLong, createAnswerBound } from './answerBound.ts';
import { watchIdle } from './idle.ts';

export interface CycleDeps {
  readonly log: ConversationLog;
  readonly model: Model;
  readonly frontend: Frontend;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn'>;
  readonly idleMilliseconds: number;
}

type CallRequest = EventOf<'tool_call_request'>;

/** The code of an answer without text and calls. */
export const EMPTY_ANSWER = 'empty_answer';

export type CycleOutcome =
  /** `misfit`: why the answer does not fit the requested schema. */
  | {
      readonly type: 'answered';
      readonly calls: readonly CallRequest[];
      /** Resolves once the answer is on disk. */
      readonly kept: Promise<void>;
      readonly misfit?: string;
    }
  /** `shown`: part of the answer was rendered, so the call cannot be retried silently. */
  | {
      readonly type: 'failed';
      readonly failure: Failure;
      readonly shown: boolean;
      readonly retry?: { readonly afterMilliseconds?: number };
    }
  | { readonly type: 'aborted' };

interface ReceivedAnswer {
  text: string;
  reasoning: string;
  calls: Extract<ModelPart, { type: 'tool_call' }>[];
  usage?: Usage;
  origin?: WireOrigin;
  sent?: SentRequest;
  failed?: Omit<Extract<ModelPart, { type: 'failed' }>, 'type'>;
  finished: boolean;
  truncated: boolean;
}

/**
 * Incomplete tool calls are dropped; a partial text is kept as truncated. Calls are returned before they are on disk:
 * reading does no harm, and any other call waits for its approval, which follows it in the log.
 */
export async function runCycle(deps: CycleDeps, request: ModelRequest, signal: AbortSignal): Promise<CycleOutcome> {
  const id = deps.ids.ulid();
  const shownPart = keepShown(deps, id);
  const received = await receive(deps, request, signal, id, shownPart);
  const ended = callOutcome(received, signal);
  const succeeded = ended === 'succeeded';
  const wanted = succeeded && received.calls.length === 0 ? request.schema : undefined;
  const structured = wanted && (await import('../prompt/structured.ts')).readStructured(received.text, wanted);
  const shown = received.text !== '' || received.reasoning !== '';
  const drafts: EventDraft[] = [];
  if (shown) {
    drafts.push({
      type: 'chat_response',
      ...(received.text !== '' && { message: received.text }),
      ...(received.reasoning !== '' && { reasoning: received.reasoning }),
      ...(structured?.ok === true && { data: structured.value }),
      ...((!succeeded || received.truncated) && { truncated: true }),
    });
  }
  const requests = succeeded ? requestsOf(received.calls, deps) : [];
  drafts.push(...requests);
  const isWhole = succeeded && !received.truncated && received.origin !== undefined;
  const origin = isWhole ? checkOrigin(received.origin, replacedIds(received.calls, requests), deps.logger) : undefined;
  drafts.push({
    type: 'model_call',
    model: deps.model.id,
    outcome: ended,
    ...defined({ usage: received.usage }),
    ...(received.failed !== undefined && { failure: received.failed.failure }),
    ...defined({ sent: received.sent, origin }),
  });
  // Appended together, so that no other event can be between an answer and its calls.
  const { events, onDisk: kept } = deps.log.appendTogether(
    drafts.map((draft) => ({ draft, id: draft.type === 'chat_response' ? id : undefined })),
  );
  // Only calls of this answer may run.
  const calls = events.filter((event) => event.type === 'tool_call_request');
  shownPart.dropAfter(kept);
  if (calls.length === 0) await kept;
  if (ended === 'aborted') return { type: 'aborted' };
  if (received.failed !== undefined) return { type: 'failed', shown, ...received.failed };
  return {
    type: 'answered',
    calls,
    kept,
    ...(structured?.ok === false && { misfit: structured.failure.message }),
  };
}

async function receive(
  deps: CycleDeps,
  request: ModelRequest,
  signal: AbortSignal,
  id: string,
  shownPart: ShownPart,
): Promise<ReceivedAnswer> {
  const { frontend, log } = deps;
  const received: ReceivedAnswer = { text: '', reasoning: '', calls: [], finished: false, truncated: false };
  const idle = watchIdle(deps.clock, deps.idleMilliseconds, signal);
  const fits = createAnswerBound();
  const through = log.state.pending.through;
  const sending: ModelRequest['sending'] = (printed) => {
    received.sent = { ...printed, through };
  };
  try {
    frontend.render(log.id, { type: 'answer_started', id });
    for await (const part of deps.model.stream({ ...request, sending }, idle.signal)) {
      if (idle.signal.aborted) break;
      idle.noteActivity();
      if (!fits(part)) {
        // Leaving the loop ends the request. The shown text is kept; the calls of such an answer are dropped.
        received.failed = { failure: answerTooLong };
        break;
      }
      addPart(received, part);
      if (part.type === 'text' || part.type === 'reasoning') {
        frontend.render(log.id, { type: 'answer_text', id, field: part.type, text: part.text });
        shownPart.add(part.type, part.text);
      } else if (part.type === 'writing_call') {
        const { index, name, text } = part;
        frontend.render(log.id, { type: 'call_text', answer: id, index, name, text });
      }
    }
  } finally {
    idle.dispose();
    shownPart.end();
    frontend.render(log.id, { type: 'answer_ended', id });
  }
  if (!signal.aborted && received.failed === undefined) {
    const missing = whatIsMissing(received, idle.timedOut ? deps.idleMilliseconds : undefined);
    // At its limit, the model would reach it again.
    if (missing !== undefined) received.failed = { failure: missing, ...(!received.truncated && { retry: {} }) };
  }
  return received;
}

/** Written at most once in this time; a quick answer is never written twice. */
const KEPT_EVERY = 1000;

interface ShownPart {
  add(field: 'text' | 'reasoning', text: string): void;
  end(): void;
  /** What was stored is removed once the answer is on disk. */
  dropAfter(kept: Promise<void>): void;
}

/** Stores what was shown of an answer before the answer is in the log, so that a killed editor does not lose it. */
function keepShown({ log, clock, model }: CycleDeps, id: string): ShownPart {
  let added = { text: '', reasoning: '' };
  let timer: Disposable | undefined;
  let isStored = false;
  const store = () => {
    timer = undefined;
    isStored = true;
    log.partial?.add({ id, model: model.id, ...added });
    added = { text: '', reasoning: '' };
  };
  return {
    add: (field, text) => {
      added[field] += text;
      timer ??= clock.after(KEPT_EVERY, store);
    },
    end: () => timer?.dispose(),
    dropAfter: (kept) => {
      if (isStored)
        void kept.then(
          () => log.partial?.drop(),
          () => undefined,
        );
    },
  };
}

function addPart(received: ReceivedAnswer, part: ModelPart): void {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      received[part.type] += part.text;
      return;
    case 'tool_call':
      received.calls.push(part);
      return;
    case 'alive':
    case 'writing_call':
      return;
    case 'finished':
      received.finished = true;
      received.truncated = part.truncated === true;
      if (part.usage !== undefined) received.usage = part.usage;
      if (part.origin !== undefined) received.origin = part.origin;
      return;
    case 'failed':
      received.failed = { failure: part.failure, ...defined({ retry: part.retry }) };
  }
}

/** The failure of a stream that went silent, ended without its end marker, or had neither text nor calls. */
function whatIsMissing(received: ReceivedAnswer, quietFor: number | undefined): Failure | undefined {
  if (quietFor !== undefined) {
    return {
      code: 'idle',
      message: `The model gave no sign of life for ${Math.round(quietFor / 1000)} s.`,
      nextStep: 'Send the request again. If this model needs longer, raise earshot.idleTimeout.',
    };
  }
  if (!received.finished) {
    return {
      code: 'stream_cut',
      message: 'The model’s answer stopped half-way.',
      nextStep: 'Send the request again.',
    };
  }
  if (received.text !== '' || received.calls.length > 0) return undefined;
  return {
    code: EMPTY_ANSWER,
    message: received.truncated
      ? 'The model reached its limit before it said anything.'
      : received.reasoning === ''
        ? 'The model answered nothing.'
        : 'The model answered nothing after its reasoning.',
    nextStep: received.truncated ? 'Raise maxTokens for it in earshot.models.' : 'Send the request again.',
  };
}

function callOutcome(received: ReceivedAnswer, signal: AbortSignal): EventOf<'model_call'>['outcome'] {
  if (signal.aborted) return 'aborted';
  return received.failed === undefined ? 'succeeded' : 'failed';
}

/** A missing or reused id would assign a result to the wrong call, so such a call gets a new id. */
function requestsOf(
  calls: ReceivedAnswer['calls'],
  { log, ids }: CycleDeps,
): Extract<EventDraft, { type: 'tool_call_request' }>[] {
  const taken = new Set<string>();
  return calls.map((call) => {
    const usable = call.id !== '' && !taken.has(call.id) && !log.state.turn.hasCall(call.id);
    const id = usable ? call.id : `call_${ids.ulid()}`;
    taken.add(id);
    const parsed = parseArguments(call.arguments);
    return parsed === undefined
      ? { type: 'tool_call_request', id, name: call.name, arguments: {}, arguments_text: call.arguments }
      : { type: 'tool_call_request', id, name: call.name, arguments: parsed };
  });
}

function replacedIds(calls: ReceivedAnswer['calls'], requests: readonly { readonly id: string }[]): Set<string> {
  return new Set(calls.map(({ id }) => id).filter((id, index) => requests[index]?.id !== id));
}

/** Undefined if the arguments cannot be stored as data: then their text is stored, and the call is refused. */
function parseArguments(text: string): Record<string, unknown> | undefined {
  const value = parseObject(text === '' ? '{}' : text);
  return value === undefined || isDeeperThan(value, MOST_DEPTH) ? undefined : value;
}

/** In characters of JSON. It is stored in one line of the log and sent with every later request. */
const MOST_ORIGIN_CHARACTERS = 8 * 1024 * 1024;

/** `replaced`: ids of calls that got other ids in the log. Results would not match calls that are sent under the old ones. */
export function checkOrigin(
  origin: WireOrigin | undefined,
  replaced: ReadonlySet<string>,
  logger: Pick<Logger, 'warn'>,
): WireOrigin | undefined {
  if (origin === undefined) return undefined;
  const fault = findOriginFault(origin.items, replaced);
  if (fault === undefined) return origin;
  logger.warn(`the output of ${origin.model} is not stored in the form of its API: ${fault}`);
  return undefined;
}

function findOriginFault(items: readonly unknown[], replaced: ReadonlySet<string>): string | undefined {
  if (isDeeperThan(items, MOST_DEPTH)) return TOO_DEEP;
  if (replaced.size > 0 && contains(items, replaced)) return 'an id of its calls is missing or was used before';
  const { length } = JSON.stringify(items);
  return length > MOST_ORIGIN_CHARACTERS ? `it has ${length.toLocaleString('en')} characters` : undefined;
}

function contains(value: unknown, texts: ReadonlySet<string>): boolean {
  if (typeof value === 'string') return texts.has(value);
  return typeof value === 'object' && value !== null && Object.values(value).some((inner) => contains(inner, texts));
}
