// Describes what fills the context window of a conversation, for the meter.
import { type ContextView } from '../../protocol/page/controlsView.ts';
import { type AlternativeModel } from '../../protocol/page/windowView.ts';
import { type Settings } from '../../protocol/settings.ts';
import { usedBy } from '../agent/limits.ts';
import { type Projections } from '../conversation/projections/project.ts';
import { estimateImages, estimateTokens } from '../conversation/tokens.ts';
import { type Model } from '../ports/ports.ts';

/** The parts are estimated and scaled; the rest of the endpoint's count is the fixed part. */
export function readContext(
  { usage, messages }: Projections,
  model: Pick<Model, 'contextWindow'>,
  settings: Settings,
  alternatives: readonly AlternativeModel[],
): ContextView {
  const parts = { requests: 0, answers: 0, results: 0, notifications: 0 };
  const all = messages.all;
  for (const message of all) {
    if (message.role === 'assistant') {
      parts.answers += estimateTokens(message.content);
      for (const call of message.calls) parts.answers += estimateTokens(call.arguments);
      continue;
    }
    parts[message.role === 'user' ? 'requests' : 'results'] += estimateTokens(message.content);
    parts.requests += estimateImages(message.images);
    if (message.role === 'tool') parts.results += estimateImages(message.resultImages);
    parts.notifications += estimateTokens(message.block?.text ?? '');
    for (const text of message.queued ?? []) parts.requests += estimateTokens(text);
  }
  const scaled = Object.entries(parts).map(([part, tokens]) => ({
    part: part as keyof typeof parts,
    tokens: Math.round(tokens * usage.ratio),
  }));
  const sum = scaled.reduce((total, { tokens }) => total + tokens, 0);
  const used = usage.contextTokens(
    () => all,
    () => '',
  );
  return {
    window: model.contextWindow,
    used: Math.max(used, sum),
    parts: [{ part: 'fixed', tokens: Math.max(0, used - sum) }, ...scaled],
    total: usage.total,
    written: usage.written,
    switches: switchCosts(Math.max(used, sum), alternatives),
    woken: usage.woken.input + usage.woken.output,
    cost: usedBy(usage, settings).cost ?? null,
  };
}

const MOST_SWITCHES = 5;

/** The first models that can read the context; the cheapest first. */
function switchCosts(tokens: number, alternatives: readonly AlternativeModel[]): ContextView['switches'] {
  return alternatives
    .filter(({ window = tokens }) => window >= tokens)
    .slice(0, MOST_SWITCHES)
    .map(({ model, price, tiers = [] }) => {
      const tier = tiers.filter(({ above }) => tokens > above).sort((a, b) => b.above - a.above)[0];
      return { model, cost: (tokens * (tier?.price ?? price)) / 1_000_000 };
    })
    .sort((a, b) => a.cost - b.cost);
}
