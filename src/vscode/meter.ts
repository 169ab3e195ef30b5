// Decides what the chat shows of tokens and money.
import { type Projections } from '../core/conversation/project.ts';
import { costOf } from '../core/conversation/spent.ts';
import { type Model } from '../core/ports.ts';
import { type Settings } from '../protocol/settings.ts';
import { type Meter } from '../protocol/webview.ts';

/** Null until an endpoint has counted anything. */
export function readMeter({ spent, messages }: Projections, model: Model, settings: Settings): Meter | null {
  const { input, output } = spent.total;
  if (input + output === 0) return null;
  const context = spent.contextTokens(
    () => messages.all,
    () => '',
  );
  const costs = [...spent.byModel].map(([name, tokens]) => {
    const prices = settings.models[name]?.prices;
    return prices === undefined ? undefined : costOf(tokens, prices);
  });
  return {
    context: context / model.contextWindow,
    tokens: input + output,
    notificationTokens: spent.notifications,
    cost: costs.includes(undefined) ? null : costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0),
  };
}
