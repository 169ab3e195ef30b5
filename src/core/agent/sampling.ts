// Compares state that is not watched, at every delivery point, before the carrier is made.
import { within } from '../../base/async.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { enqueue, withdraw } from '../notify/queue.ts';
import { type Ports } from '../ports/ports.ts';
import { type DeliveryPoint, type RequestConfig, type Sample } from '../ports/producers.ts';
import { type Prompting } from '../prompt/prompting.ts';
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
  const read = await within(ports.clock, SAMPLED_WITHIN, readSamples(deps, sampling, prompting, type));
  if (read === undefined) {
    ports.logger.warn('State that is not watched could not be compared in time.');
    return;
  }
  for (const sample of read.samples) await applySample(deps, sample);
  await prompting.compare(read.config);
}

async function readSamples(
  { log, ports }: TurnDeps,
  sampling: Sampling,
  prompting: Prompting,
  type: DeliveryPoint['type'],
): Promise<{ readonly samples: readonly Sample[]; readonly config: RequestConfig }> {
  await Promise.all([prompting.refresh(), ports.toolsReady()]);
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
