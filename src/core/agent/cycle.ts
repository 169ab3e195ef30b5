// Decides one model call: sends what the log says, draws what comes, and puts the answer into the log.
import { type Failure } from '../../base/errors.ts';
import { type EventDraft, type EventOf, type Usage } from '../../protocol/event.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { type Frontend, type Ids, type Model, type ModelPart, type ModelRequest } from '../ports.ts';

export interface CycleDeps {
  readonly log: ConversationLog;
  readonly model: Model;
  readonly frontend: Frontend;
  readonly ids: Ids;
}

type CallRequest = EventOf<'tool_call_request'>;

export type CycleOutcome =
  | { readonly type: 'answered'; readonly calls: readonly CallRequest[] }
  | { readonly type: 'failed'; readonly failure: Failure }
  | { readonly type: 'aborted' };

interface Heard {
  text: string;
  reasoning: string;
  calls: Extract<ModelPart, { type: 'tool_call' }>[];
  usage?: Usage;
  failure?: Failure;
  finished: boolean;
}

/** Resolves once the answer is on disk. Half-streamed tool calls never get here; a partial text is kept as truncated. */
export async function runCycle(deps: CycleDeps, request: ModelRequest, signal: AbortSignal): Promise<CycleOutcome> {
  const id = deps.ids.ulid();
  const heard = await listen(deps, request, signal, id);
  const ended = outcomeOf(heard, signal);
  const cut = ended !== 'succeeded';
  const drafts: EventDraft[] = [];
  if (heard.text !== '' || heard.reasoning !== '') {
    drafts.push({
      type: 'chat_response',
      ...(heard.text !== '' && { message: heard.text }),
      ...(heard.reasoning !== '' && { reasoning: heard.reasoning }),
      ...(cut && { truncated: true }),
    });
  }
  if (!cut) drafts.push(...heard.calls.map((call) => requestOf(call, deps)));
  drafts.push({
    type: 'model_call',
    model: deps.model.id,
    outcome: ended,
    ...(heard.usage !== undefined && { usage: heard.usage }),
    ...(heard.failure !== undefined && { failure: heard.failure }),
  });
  // All numbered in one breath: nothing else can stand between an answer and its calls.
  const events = await Promise.all(
    drafts.map((draft) => deps.log.append(draft, draft.type === 'chat_response' ? id : undefined)),
  );
  if (ended === 'aborted') return { type: 'aborted' };
  if (heard.failure !== undefined) return { type: 'failed', failure: heard.failure };
  return { type: 'answered', calls: events.filter((event) => event.type === 'tool_call_request') };
}

async function listen(deps: CycleDeps, request: ModelRequest, signal: AbortSignal, id: string): Promise<Heard> {
  const { frontend, log } = deps;
  const heard: Heard = { text: '', reasoning: '', calls: [], finished: false };
  frontend.render(log.id, { type: 'answer_started', id });
  for await (const part of deps.model.stream(request, signal)) {
    if (signal.aborted) break;
    switch (part.type) {
      case 'text':
      case 'reasoning':
        heard[part.type] += part.text;
        frontend.render(log.id, { type: 'answer_text', id, field: part.type, text: part.text });
        break;
      case 'tool_call':
        heard.calls.push(part);
        break;
      case 'finished':
        heard.finished = true;
        if (part.usage !== undefined) heard.usage = part.usage;
        break;
      case 'failed':
        heard.failure = part.failure;
        break;
    }
  }
  frontend.render(log.id, { type: 'answer_ended', id });
  if (!heard.finished && heard.failure === undefined && !signal.aborted) {
    heard.failure = {
      code: 'stream_cut',
      message: 'The model’s answer stopped half-way.',
      nextStep: 'Send the request again.',
    };
  }
  return heard;
}

function outcomeOf(heard: Heard, signal: AbortSignal): EventOf<'model_call'>['outcome'] {
  if (signal.aborted) return 'aborted';
  return heard.failure === undefined ? 'succeeded' : 'failed';
}

/** An id that is missing or was used before would tie a result to the wrong call: such a call gets one of ours. */
function requestOf(call: Heard['calls'][number], { log, ids }: CycleDeps): EventDraft {
  const taken = call.id === '' || log.state.turn.hasCall(call.id);
  const id = taken ? `call_${ids.ulid()}` : call.id;
  const parsed = parseObject(call.arguments);
  return parsed === undefined
    ? { type: 'tool_call_request', id, name: call.name, arguments: {}, arguments_text: call.arguments }
    : { type: 'tool_call_request', id, name: call.name, arguments: parsed };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text === '' ? '{}' : text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
