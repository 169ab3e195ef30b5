// Computes the meter of tokens and cost in the chat.
import { type Settings } from '../../protocol/settings.ts';
import { type Meter } from '../../protocol/webview.ts';
import { usedBy } from '../agent/limits.ts';
import { type Projections } from '../conversation/projections/project.ts';
import { type Model } from '../ports/ports.ts';

/** Null until an endpoint has counted anything. */
export function readMeter(
  { usage, messages }: Projections,
  model: Pick<Model, 'contextWindow'>,
  settings: Settings,
): Meter | null {
  const { tokens, cost } = usedBy(usage, settings);
  if (tokens === 0) return null;
  const context = usage.contextTokens(
    () => messages.all,
    () => '',
  );
  return {
    context: context / model.contextWindow,
    tokens,
    notificationTokens: usage.notifications,
    cost: cost ?? null,
  };
}
