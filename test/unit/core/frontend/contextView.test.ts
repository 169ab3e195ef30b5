// The context panel's data: cached and written tokens, and what a switch of the model costs.
import { expect, test } from 'vitest';
import { readContext } from '../../../../src/core/frontend/contextView.ts';
import { readSettings } from '../../../../src/protocol/settings.ts';
import { createMemoryLog } from '../../../support/log/memoryLog.ts';

test('cached and written tokens are summed, and a switch costs the whole context at the other model’s price', async () => {
  const { log } = await createMemoryLog();
  await log.append({ type: 'turn_started', source: 'user' });
  await log.append({ type: 'chat_request', content: 'Hello.', source: 'user' });
  for (const [cached_tokens, written_tokens] of [
    [0, 9000],
    [9000, 990],
  ] as const) {
    const usage = { input_tokens: 9990, output_tokens: 10, cached_tokens, written_tokens };
    await log.append({ type: 'model_call', model: 'now', outcome: 'succeeded', usage });
  }
  const prices = (input: number) => ({ prices: { input, output: 9 } });
  const models = { now: prices(1), dear: prices(10), cheap: prices(0.5), unknown: {} };
  const { settings } = readSettings((name) => (name === 'models' ? models : undefined));
  const view = readContext(log.state, { id: 'now', contextWindow: 100_000 }, settings);
  expect(view).toMatchObject({ written: 9990, total: { cached: 9000 }, used: 10_000 });
  expect(view.switches).toEqual([
    { model: 'cheap', cost: 0.005 },
    { model: 'dear', cost: 0.1 },
  ]);
});
