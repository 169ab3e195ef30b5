// Compares state that is not watched, at every delivery point, before the carrier is made, and appends carriers.
import { type EventDraft } from '../../protocol/event.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { enqueue, withdraw } from '../notify/queue.ts';
import { type Ports } from '../ports/ports.ts';
import { type DeliveryPoint, type RequestConfig, type Sample } from '../ports/producers.ts';
import { configUsed, type Prompting } from '../prompt/prompting.ts';
import { type Sampling, type TurnDeps } from './turnDeps.ts';

/** A limit, because in a window whose UI is gone, reading a file through the editor never resolves. */
const SAMPLED_WITHIN = 10_000;

/**
 * Resolves once new notifications are queued and outdated ones withdrawn. Samples that take too long are left for the
 * next delivery point. Does nothing once the conversation was released.
 */
export async function sampleAt(deps: TurnDeps, prompting: Prompting, type: DeliveryPoint['type']): Promise<void> {
  const { log, ports, sampling } = deps;
  if (sampling === undefined || !log.isWritable) return;
  const late = Promise.withResolvers<undefined>();
  const timer = ports.clock.after(SAMPLED_WITHIN, () => late.resolve(undefined));
  try {
    const read = await Promise.race([readSamples(deps, sampling, prompting, type), late.promise]);
    if (read === undefined) {
      ports.logger.warn('State that is not watched could not be compared in time.');
      return;
    }
    for (const sample of read.samples) await applySample(deps, sample);
    await prompting.compare(read.config);
  } finally {
    timer.dispose();
  }
}

async function readSamples(
  { log, ports }: TurnDeps,
  sampling: Sampling,
  prompting: Prompting,
  type: DeliveryPoint['type'],
): Promise<{ readonly samples: readonly Sample[]; readonly config: RequestConfig }> {
  await Promise.all([prompting.refresh(), ports.toolsReady?.()]);
  const { state } = log;
  const config = prompting.config();
  const point: DeliveryPoint = {
    conversation: log.id,
    type,
    carries: !state.pending.isEmpty,
    state: state.sampled,
    used: state.sampled.used,
    config,
    contextTokens: state.usage.contextTokens(
      () => state.messages.all,
      () => prompting.overhead,
    ),
    contextWindow: ports.model().contextWindow,
  };
  return { samples: await sampling.producers.sample(point), config };
}

/** Queues the notification of a sample, and withdraws the one it replaces. */
export async function applySample(
  { log, ports }: { readonly log: ConversationLog; readonly ports: Pick<Ports, 'ids' | 'clock'> },
  { kind, subject, draft, keep, replaces }: Sample,
): Promise<void> {
  if (keep === true) return;
  const { pending } = log.state;
  const [id = ''] = pending.idsOf(kind, subject).toReversed();
  const newest = pending.newest(id);
  if (replaces !== undefined && newest?.message !== replaces) return;
  if (newest?.message === draft?.message) return;
  // Both in one step: a notification must not be withdrawn without its replacement.
  const withdrawn = withdraw(log, kind, subject, draft === undefined ? 'it is as it was' : 'it has changed again');
  const at = replaces === undefined ? undefined : newest?.at;
  const queued =
    draft && enqueue(log, ports.ids, { ...draft, kind, subject, at: at ?? new Date(ports.clock.now()).toISOString() });
  await Promise.all([withdrawn, queued]);
}

type Carrier = Extract<EventDraft, { type: 'chat_request' | 'tool_call_response' }>;

/**
 * The configuration is known to the model once a carrier has announced it, whether or not a request follows. Both are
 * appended in one step, so that nothing is announced twice or lost.
 */
export function appendCarrier({ log, prompt }: Pick<TurnDeps, 'log' | 'prompt'>, carrier: Carrier): Promise<void> {
  const compared = prompt?.take();
  if (compared === undefined) return log.append(carrier).then(() => undefined);
  const { config, additions } = compared;
  const { instructions, found } = additions;
  const draft: EventDraft = { ...carrier, ...(instructions && { instructions }) };
  // APIs can add tools behind a result that succeeded, and nowhere else without a new prefix.
  if (draft.type === 'tool_call_response' && !draft.is_error && found !== undefined)
    draft.found = [...new Map([...(draft.found ?? []), ...found].map((one) => [one.name, one])).values()];
  const used = isKnown(log.state.sampled.used, config) ? [] : [{ draft: configUsed(config) }];
  return log.appendTogether([...used, { draft }]).onDisk;
}

function isKnown(known: Partial<RequestConfig>, config: RequestConfig): boolean {
  const { model, mode, tools, servers, instructions, skills, folders, date } = known;
  if (!model || !mode || !tools || !servers || !instructions || !skills || !folders || !date) return false;
  const { parent } = known;
  const before = { model, mode, tools, servers, instructions, skills, folders, date, ...(parent && { parent }) };
  return JSON.stringify(configUsed(before)) === JSON.stringify(configUsed(config));
}
