// Checks whether a conversation has used so much that the user is asked before it continues. Pure.
import { type Failure } from '../../base/errors.ts';
import { type ModelOptions, modelOptions, type Settings } from '../../protocol/settings.ts';
import { type CountedUsage, costOf, type Tokens } from '../conversation/projections/usage.ts';

export interface Used {
  readonly tokens: number;
  /** Undefined if a price is not known. */
  readonly cost: number | undefined;
}

export function usedBy(usage: CountedUsage, settings: Settings): Used {
  const { input, output } = usage.total;
  const costs = [...usage.byModel].map(([model, tokens]) =>
    costOfModel(tokens, modelOptions(settings, model), settings),
  );
  const cost = costs.includes(undefined) ? undefined : costs.reduce<number>((sum, one) => sum + (one ?? 0), 0);
  return { tokens: input + output, cost };
}

/** Known prices are in US dollars; in another currency only the user's own prices count. */
function costOfModel(tokens: Tokens, { prices }: ModelOptions, { currency }: Settings): number | undefined {
  if (currency !== 'USD') return prices && costOf(tokens, prices);
  const { unpriced, cost } = tokens;
  if (unpriced.input === 0 && unpriced.output === 0) return cost;
  return prices && cost + costOf(unpriced, prices);
}

/**
 * A limit is reached each time another such amount was used: the turn ends, and the user's next request continues.
 * `before`: what had been used when the turn began.
 */
export function limitReached(before: Used, now: Used, settings: Settings): Failure | undefined {
  const { 'limits.tokens': tokens, 'limits.cost': cost } = settings;
  if (isCrossed(before.tokens, now.tokens, tokens)) {
    return limitFailure(
      `${formatNumber(now.tokens)} tokens`,
      `${formatNumber(tokens)} tokens`,
      'earshot.limits.tokens',
    );
  }
  if (now.cost !== undefined && isCrossed(before.cost ?? 0, now.cost, cost)) {
    return limitFailure(now.cost.toFixed(2), cost.toFixed(2), 'earshot.limits.cost');
  }
  return undefined;
}

function isCrossed(before: number, now: number, limit: number): boolean {
  return limit > 0 && Math.floor(now / limit) > Math.floor(before / limit);
}

function limitFailure(used: string, limit: string, setting: string): Failure {
  return {
    code: 'limit',
    message: `This conversation has used ${used}; you wanted to be asked after every ${limit}.`,
    nextStep: `Write a message to continue, or change ${setting}.`,
  };
}

function formatNumber(value: number): string {
  return value.toLocaleString('en-US');
}
