// The requests that a conversation has sent, rebuilt from its log on demand.
import { defined } from '../../base/json/defined.ts';
import { type EventOf, type LogEvent } from '../../protocol/event.ts';
import { Projections } from '../conversation/projections/project.ts';
import { type ModelRequest } from '../ports/ports.ts';
import { type Snapshots } from '../ports/storage.ts';
import { readDescription, readPrefix } from './frozenPrefix.ts';

export interface SentCall {
  readonly call: EventOf<'model_call'>;
  /** The last event that the request contains. */
  readonly through: number;
  /** The events of the answer, which follow the request. */
  readonly answer: readonly LogEvent[];
}

/** The model calls of turns, oldest first. */
export function sentCalls(events: readonly LogEvent[]): readonly SentCall[] {
  return events.flatMap((event, index): SentCall[] => {
    if (event.type !== 'model_call' || event.purpose !== undefined) return [];
    let start = index;
    // They were appended together.
    while (isOfAnswer(events[start - 1])) start -= 1;
    const through = event.sent?.through ?? events[start - 1]?.seq ?? 0;
    return [{ call: event, through, answer: events.slice(start, index) }];
  });
}

function isOfAnswer(event: LogEvent | undefined): boolean {
  return event?.type === 'chat_response' || event?.type === 'tool_call_request';
}

/** The call that produced an answer or a tool call, or the next one after another event. */
export function callOf(calls: readonly SentCall[], events: readonly LogEvent[], item: string): SentCall | undefined {
  const isNamed = (event: LogEvent) =>
    event.event_id === item || (event.type === 'tool_call_request' && event.id === item);
  const found = calls.find(({ call, answer }) => isNamed(call) || answer.some(isNamed));
  if (found !== undefined) return found;
  const seq = events.find(isNamed)?.seq;
  return seq === undefined ? undefined : calls.find(({ call }) => call.seq > seq);
}

export interface RebuiltRequest {
  readonly request: ModelRequest;
  /** What the conversation knew at that moment. */
  readonly state: Projections;
  /** What is no longer stored. */
  readonly missing: readonly ('prompt' | 'tools')[];
}

export async function rebuildRequest(
  events: readonly LogEvent[],
  { through }: Pick<SentCall, 'through'>,
  snapshots: Pick<Snapshots, 'get'>,
): Promise<RebuiltRequest> {
  const state = new Projections();
  for (const event of events) if (event.seq <= through) state.fold(event);
  const { frozen, found } = state.prefix;
  const prefix = frozen && (await readPrefix(snapshots, frozen));
  const described = await Promise.all([...found.values()].map((hash) => readDescription(snapshots, hash)));
  const known = described.filter((one) => one !== undefined);
  const request: ModelRequest = {
    system: prefix?.system ?? '',
    messages: state.messages.all,
    tools: prefix?.tools ?? [],
    ...(known.length > 0 && { found: known }),
    image: (hash) => snapshots.get(hash),
    ...defined({ schema: state.turn.schema }),
  };
  const missing = [
    ...(prefix === undefined ? (['prompt'] as const) : []),
    ...(known.length < described.length ? (['tools'] as const) : []),
  ];
  return { request, state, missing };
}
