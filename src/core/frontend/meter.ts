// The meter of tokens and cost in the chat.
import { type Settings } from '../../protocol/settings.ts';
import { type Meter } from '../../protocol/webview.ts';
import { usedBy } from '../agent/limits.ts';
import { type Projections } from '../conversation/projections/project.ts';
import { type Model } from '../ports/ports.ts';

/** Null until an endpoint has counted anything. */
export function readMeter(
  { usage: spent, messages }: Projections,
  model: Pick<Model, 'contextWindow'>,
  settings: Settings,
): Meter | null {
  const { tokens, cost } = usedBy(spent, settings);
  if (tokens === 0) return null;
  const context = spent.contextTokens(
    () => messages.all,
    () => '',
  );
  return {
    context: context / model.contextWindow,
    tokens,
    notificationTokens: spent.notifications,
    cost: cost ?? null,
  };
}
