// One model call: sends the request, renders the stream, and appends the answer to the log.
import { type Failure } from '../../base/errors.ts';
import { isDeeperThan, MOST_DEPTH, parseObject } from '../../base/outsideJson.ts';
import { type EventDraft, type EventOf, type Usage } from '../../protocol/event.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { type Clock, type Frontend, type Ids, type Model, type ModelPart, type ModelRequest } from '../ports/ports.ts';
import { answerTooLong, createAnswerBound } from './answerBound.ts';
import { watchIdle } from './idle.ts';

export interface CycleDeps {
  readonly log: ConversationLog;
  readonly model: Model;
  readonly frontend: Frontend;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly idleMilliseconds: number;
}

type CallRequest = EventOf<'tool_call_request'>;

export type CycleOutcome =
  /** `misfit`: why the answer does not fit the schema that was asked for. */
  | {
      readonly type: 'answered';
      readonly calls: readonly CallRequest[];
      /** Resolves once the answer is on disk. */
      readonly kept: Promise<void>;
      readonly misfit?: string;
    }
  /** `shown`: some of the answer was seen, so that it cannot be taken back silently. */
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
  failed?: Omit<Extract<ModelPart, { type: 'failed' }>, 'type'>;
  finished: boolean;
  truncated: boolean;
}

/**
 * Half-streamed tool calls never get here; a partial text is kept as truncated. Calls are returned before they are on disk:
 * looking around does no harm, and whatever does waits for its approval, which is in the log behind them.
 */
export async function runCycle(deps: CycleDeps, request: ModelRequest, signal: AbortSignal): Promise<CycleOutcome> {
  const id = deps.ids.ulid();
  const heard = await listen(deps, request, signal, id);
  const ended = outcomeOf(heard, signal);
  const succeeded = ended === 'succeeded';
  const wanted = succeeded && heard.calls.length === 0 ? request.schema : undefined;
  const structured = wanted && (await import('../prompt/structured.ts')).readStructured(heard.text, wanted);
  const shown = heard.text !== '' || heard.reasoning !== '';
  const drafts: EventDraft[] = [];
  if (shown) {
    drafts.push({
      type: 'chat_response',
      ...(heard.text !== '' && { message: heard.text }),
      ...(heard.reasoning !== '' && { reasoning: heard.reasoning }),
      ...(structured?.ok === true && { data: structured.value }),
      ...((!succeeded || heard.truncated) && { truncated: true }),
    });
  }
  if (succeeded) drafts.push(...requestsOf(heard.calls, deps));
  drafts.push({
    type: 'model_call',
    model: deps.model.id,
    outcome: ended,
    ...(heard.usage !== undefined && { usage: heard.usage }),
    ...(heard.failed !== undefined && { failure: heard.failed.failure }),
  });
  // All numbered together: nothing else can stand between an answer and its calls.
  const { events, onDisk: kept } = deps.log.appendTogether(
    drafts.map((draft) => ({ draft, id: draft.type === 'chat_response' ? id : undefined })),
  );
  // Only what this very answer asks for may run.
  const calls = events.filter((event) => event.type === 'tool_call_request');
  if (calls.length === 0) await kept;
  if (ended === 'aborted') return { type: 'aborted' };
  if (heard.failed !== undefined) return { type: 'failed', shown, ...heard.failed };
  return {
    type: 'answered',
    calls,
    kept,
    ...(structured?.ok === false && { misfit: structured.failure.message }),
  };
}

async function listen(
  deps: CycleDeps,
  request: ModelRequest,
  signal: AbortSignal,
  id: string,
): Promise<ReceivedAnswer> {
  const { frontend, log } = deps;
  const heard: ReceivedAnswer = { text: '', reasoning: '', calls: [], finished: false, truncated: false };
  const idle = watchIdle(deps.clock, deps.idleMilliseconds, signal);
  const fits = createAnswerBound();
  try {
    frontend.render(log.id, { type: 'answer_started', id });
    for await (const part of deps.model.stream(request, idle.signal)) {
      if (idle.signal.aborted) break;
      idle.heard();
      if (!fits(part)) {
        // Leaving the loop ends the request. What was shown is kept; calls of such an answer are not.
        heard.failed = { failure: answerTooLong };
        break;
      }
      take(heard, part);
      if (part.type === 'text' || part.type === 'reasoning') {
        frontend.render(log.id, { type: 'answer_text', id, field: part.type, text: part.text });
      } else if (part.type === 'writing_call') {
        const { index, name, text } = part;
        frontend.render(log.id, { type: 'call_text', answer: id, index, name, text });
      }
    }
  } finally {
    idle.dispose();
    frontend.render(log.id, { type: 'answer_ended', id });
  }
  if (!signal.aborted && heard.failed === undefined) {
    const missing = whatIsMissing(heard, idle.gaveUp ? deps.idleMilliseconds : undefined);
    if (missing !== undefined) heard.failed = { failure: missing, retry: {} };
  }
  return heard;
}

function take(heard: ReceivedAnswer, part: ModelPart): void {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      heard[part.type] += part.text;
      return;
    case 'tool_call':
      heard.calls.push(part);
      return;
    case 'alive':
    case 'writing_call':
      return;
    case 'finished':
      heard.finished = true;
      heard.truncated = part.truncated === true;
      if (part.usage !== undefined) heard.usage = part.usage;
      return;
    case 'failed':
      heard.failed = { failure: part.failure, ...(part.retry !== undefined && { retry: part.retry }) };
  }
}

/** A stream that ended without saying so, or said nothing. */
function whatIsMissing(heard: ReceivedAnswer, quietFor: number | undefined): Failure | undefined {
  if (quietFor !== undefined) {
    return {
      code: 'idle',
      message: `The model gave no sign of life for ${Math.round(quietFor / 1000)} s.`,
      nextStep: 'Send the request again. If this model needs longer, raise earshot.idleTimeout.',
    };
  }
  if (!heard.finished) {
    return {
      code: 'stream_cut',
      message: 'The model’s answer stopped half-way.',
      nextStep: 'Send the request again.',
    };
  }
  if (heard.text !== '' || heard.reasoning !== '' || heard.calls.length > 0) return undefined;
  return {
    code: 'empty_answer',
    message: heard.truncated ? 'The model reached its limit before it said anything.' : 'The model answered nothing.',
    nextStep: heard.truncated ? 'Raise maxTokens for it in earshot.models.' : 'Send the request again.',
  };
}

function outcomeOf(heard: ReceivedAnswer, signal: AbortSignal): EventOf<'model_call'>['outcome'] {
  if (signal.aborted) return 'aborted';
  return heard.failed === undefined ? 'succeeded' : 'failed';
}

/** An id that is missing or was used before would tie a result to the wrong call: such a call gets one of ours. */
function requestsOf(calls: ReceivedAnswer['calls'], { log, ids }: CycleDeps): EventDraft[] {
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

/** Undefined for what cannot be an event's data: it stays text, and the call is refused. */
function parseArguments(text: string): Record<string, unknown> | undefined {
  const value = parseObject(text === '' ? '{}' : text);
  return value === undefined || isDeeperThan(value, MOST_DEPTH) ? undefined : value;
}
