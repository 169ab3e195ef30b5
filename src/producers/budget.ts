// Reports how full the context window is, and that the endpoint asked to slow down.
import { toDisposable } from '../base/disposable.ts';
import { type Producer } from '../core/ports/ports.ts';
import { type DeliveryPoint, type Sample } from '../core/ports/producers.ts';

const STEPS = [
  { percent: 80, level: 'warning', advice: 'Finish soon, or write down what must not be lost.' },
  { percent: 60, level: 'info', advice: 'From 90 % on, older parts are replaced by a summary.' },
] as const;

const CONTEXT = { source: 'budget', name: 'context' } as const;
const RATE_LIMITED = { source: 'budget', name: 'rate_limited' } as const;

export function createBudgetProducer(): Producer {
  return {
    name: 'budget',
    start: () => toDisposable(() => undefined),
    sample: (point) => [sampleContext(point), ...sampleRate(point)],
  };
}

/** Reports each step once until the context is compacted; withdraws it if the current model has a larger window. */
function sampleContext({ contextTokens, contextWindow, state }: DeliveryPoint): Sample {
  const sample = { kind: CONTEXT, subject: 'budget:context' };
  const percent = Math.floor((contextTokens / contextWindow) * 100);
  const reached = STEPS.find((step) => percent >= step.percent);
  if (reached === undefined) return sample;
  const said = `The context window is ${percent} % full (about ${printTokens(contextTokens)} of ${printTokens(contextWindow)} tokens). ${reached.advice}`;
  const draft = { level: reached.level, message: said, origin: 'host', data: { percent: reached.percent } } as const;
  return state.reportedContext >= reached.percent ? { ...sample, keep: true } : { ...sample, draft };
}

function sampleRate({ state: { rateLimited } }: DeliveryPoint): Sample[] {
  if (rateLimited === undefined) return [];
  const { count, since } = rateLimited;
  const times = count === 1 ? 'once' : `${count} times`;
  const message = `The endpoint asked ${times} to slow down since ${since.slice(11, 19)}; requests waited for it. Fewer, larger steps help.`;
  return [{ kind: RATE_LIMITED, subject: 'budget:rate', draft: { level: 'warning', message, origin: 'host' } }];
}

function printTokens(tokens: number): string {
  return tokens.toLocaleString('en');
}
