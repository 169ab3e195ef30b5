// The context panel's data: cached and written tokens, and what a switch of the model costs, by what is known about models
// and by the user's own prices.
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { readContext } from '../../../../src/core/frontend/contextView.ts';
import { alternativesTo } from '../../../../src/models/facts/alternatives.ts';
import { KnownModels } from '../../../../src/models/facts/modelFacts.ts';
import { readSettings } from '../../../../src/protocol/settings.ts';
import { createMemoryLog } from '../../../support/log/memoryLog.ts';

const SHIPPED = join(resolve(import.meta.dirname, '../../../..'), 'media/models.json');

interface Given {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly current: string;
  readonly favourites?: readonly string[];
  /** In tokens. */
  readonly used: number;
  readonly listed?: Parameters<KnownModels['note']>;
}

async function view({ settings: given, current, favourites = [], used, listed }: Given) {
  const { log } = await createMemoryLog();
  await log.append({ type: 'turn_started', source: 'user' });
  await log.append({ type: 'chat_request', content: 'Hello.', source: 'user' });
  const half = { input_tokens: used - 10, output_tokens: 10 };
  for (const cache of [{ written_tokens: 900 }, { cached_tokens: 900, written_tokens: 90 }])
    await log.append({ type: 'model_call', model: current, outcome: 'succeeded', usage: { ...half, ...cache } });
  const { settings } = readSettings((name) => given[name]);
  const known = new KnownModels({ path: SHIPPED, logger: { warn: () => undefined } });
  if (listed !== undefined) known.note(...listed);
  const alternatives = alternativesTo(current, { settings, favourites, known });
  return readContext(log.state, { contextWindow: 100_000 }, settings, alternatives);
}

const anthropic = { baseUrl: 'https://api.anthropic.com/v1' };
const google = { baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai' };
const shop = { baseUrl: 'https://models.example/v1' };

test('the user’s own prices count, in any currency; cached and written tokens are summed', async () => {
  const prices = (input: number) => ({ prices: { input, output: 9 } });
  const models = { now: prices(1), dear: prices(10), cheap: prices(0.5), unknown: {} };
  const own = { models, currency: 'EUR', providers: { anthropic } };
  const { switches, ...rest } = await view({ settings: own, current: 'now', used: 10_000 });
  expect(rest).toMatchObject({ written: 990, total: { cached: 900 }, used: 10_000 });
  expect(switches).toEqual([
    { model: 'cheap', cost: 0.005 },
    { model: 'dear', cost: 0.1 },
  ]);
});

test('without settings of prices, the models of the configured providers are listed by the shipped facts', async () => {
  const settings = { providers: { anthropic } };
  const { switches } = await view({ settings, current: 'anthropic/claude-opus-5-5', used: 100_000 });
  expect(switches).toHaveLength(5);
  expect(switches.every(({ model }) => model.startsWith('anthropic/claude-'))).toBe(true);
  expect(switches.map(({ cost }) => cost)).toEqual(switches.map(({ cost }) => cost).sort((a, b) => a - b));
  expect(switches.map(({ model }) => model)).not.toContain('anthropic/claude-opus-5-5');
});

test('favourites come first, a context that is written to the cache costs what writing costs, and long ones cost more', async () => {
  const settings = { providers: { anthropic, google } };
  const favourites = ['anthropic/claude-sonnet-5-5', 'google/gemini-3.1-pro-preview', 'gone/model'];
  const given = { settings, current: 'anthropic/claude-opus-5-5', favourites };
  const costs = async (used: number) =>
    Object.fromEntries((await view({ ...given, used })).switches.map(({ model, cost }) => [model, cost]));
  const short = await costs(100_000);
  // 2.5 $ for a million tokens that are written, and 2 $ below and 4 $ above 200,000 tokens.
  expect(short).toMatchObject({ 'anthropic/claude-sonnet-5-5': 0.25, 'google/gemini-3.1-pro-preview': 0.2 });
  expect(await costs(400_000)).toMatchObject({ 'google/gemini-3.1-pro-preview': 1.6 });
});

test('a model that cannot read the whole context is left out, and what an endpoint lists itself counts', async () => {
  const price = [1, 2, 0.1, 1] as const;
  const listed: Given['listed'] = [
    shop.baseUrl,
    [
      { id: 'small', window: 50_000, price },
      { id: 'large', window: 500_000, price },
      { id: 'embed-1', window: 500_000, price },
    ],
  ];
  const { switches } = await view({ settings: { providers: { shop } }, current: 'shop/x', used: 60_000, listed });
  expect(switches).toEqual([{ model: 'shop/large', cost: 0.06 }]);
});
