// The shipped facts about models: the file, damage to it, what endpoints say instead, and costs.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { calcPrice } from '@pydantic/genai-prices';
import { expect, test } from 'vitest';
import { parseFacts } from '../../../../src/models/facts/factsFile.ts';
import { costOfCall, KnownModels } from '../../../../src/models/facts/modelFacts.ts';
import { readFileSync } from 'node:fs';

const FILE = join(resolve(import.meta.dirname, '../../../..'), 'media/models.json');
const ANTHROPIC = 'https://api.anthropic.com/v1';
const knownFrom = (path: string, warnings: string[] = []) =>
  new KnownModels({ path, logger: { warn: (text) => void warnings.push(text) } });

test('the shipped file has window, price and levels of the models of at least twenty providers', () => {
  const providers = parseFacts(readFileSync(FILE, 'utf8'));
  expect(providers.size).toBeGreaterThanOrEqual(20);
  for (const { models } of providers.values())
    for (const { window } of Object.values(models)) expect(window).toBeGreaterThan(0);
  const known = knownFrom(FILE);
  expect(known.get(ANTHROPIC, 'claude-opus-5-5')).toMatchObject({
    window: 1_000_000,
    images: true,
    efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
  });
  expect(known.get(ANTHROPIC, 'claude-opus-5-5-20261001').window).toBe(1_000_000);
  expect(known.get('https://models.example/v1', 'claude-opus-5-5')).toEqual({});
  expect(known.get(ANTHROPIC, '__proto__')).toEqual({});
});

test('a damaged file is reported once, and then nothing is known', () => {
  const folder = mkdtempSync(join(tmpdir(), 'earshot-facts-'));
  const path = join(folder, 'models.json');
  for (const text of ['', '{', '[]', 'null', '{"providers":[]}', readFileSync(FILE, 'utf8').slice(0, 5000)]) {
    writeFileSync(path, text);
    const warnings: string[] = [];
    const known = knownFrom(path, warnings);
    expect(known.get(ANTHROPIC, 'claude-opus-5-5')).toEqual({});
    known.get(ANTHROPIC, 'claude-opus-5-5');
    expect(warnings).toHaveLength(1);
  }
});

test('a value of a wrong type counts as unknown, and the others stay', () => {
  const models = {
    a: { window: -1, price: [1, 2], efforts: ['none', 'extreme', 7], images: 'yes', name: 5 },
    b: { window: 1000, price: [1, Number.NaN, 1, 1], tiers: 'x' },
    c: 7,
  };
  const facts = parseFacts(JSON.stringify({ providers: { one: { host: 'h', models }, two: 5 } }));
  expect(facts.get('one')?.models).toEqual({ a: { efforts: ['none'] }, b: { window: 1000 } });
  expect(facts.has('two')).toBe(false);
});

test('what an endpoint lists replaces the shipped facts', () => {
  const known = knownFrom(FILE);
  known.note(ANTHROPIC, [
    { id: 'claude-opus-5-5', window: 42 },
    { id: 'new-model', window: 7 },
  ]);
  expect(known.get(ANTHROPIC, 'claude-opus-5-5')).toMatchObject({ window: 42, images: true });
  expect(known.get(ANTHROPIC, 'new-model')).toEqual({ window: 7 });
});

test('the small model is the cheapest of the same maker, and only if it costs less', () => {
  const known = knownFrom(FILE);
  expect(known.small(ANTHROPIC, 'claude-opus-5-5')).toBe('claude-haiku-5-5');
  expect(known.small(ANTHROPIC, 'claude-haiku-5-5')).toBeUndefined();
  expect(known.small(ANTHROPIC, 'unknown')).toBeUndefined();
  expect(known.small('https://api.together.ai/v1', 'any')).toBeUndefined();
});

test('a call costs by its cache reads and writes, and by the tier of its input', () => {
  const facts = {
    price: [2, 10, 0.2, 2.5] as const,
    tiers: [
      { above: 200_000, price: [4, 15, 0.4, 5] as const },
      { above: 500_000, price: [8, 20, 1, 9] as const },
    ],
  };
  const usage = { input_tokens: 100_000, cached_tokens: 60_000, written_tokens: 30_000, output_tokens: 1000 };
  expect(costOfCall(usage, facts)).toBeCloseTo((10_000 * 2 + 60_000 * 0.2 + 30_000 * 2.5 + 1000 * 10) / 1e6);
  expect(costOfCall({ input_tokens: 200_000, output_tokens: 0 }, facts)).toBeCloseTo(0.4);
  expect(costOfCall({ input_tokens: 200_001, output_tokens: 0 }, facts)).toBeCloseTo(0.800004);
  expect(costOfCall({ input_tokens: 600_000, output_tokens: 0 }, facts)).toBeCloseTo(4.8);
  expect(costOfCall({ input_tokens: 10, cached_tokens: 50, output_tokens: 0 }, facts)).toBeGreaterThan(0);
  expect(costOfCall(usage, {})).toBeUndefined();
});

/** Ids of the same provider there. */
const JUDGED = { anthropic: 'anthropic', openai: 'openai', google: 'google', deepseek: 'deepseek', xai: 'x-ai' };
/** When DeepSeek takes its full price; at other times of the day that source has a lower one. */
const FULL_PRICE = new Date('2026-11-18T06:00:00Z');

test('prices agree with another source, where both know the model', () => {
  const usage = { input_tokens: 10_000, output_tokens: 1000 };
  const compared: string[] = [];
  const differing: string[] = [];
  const known = knownFrom(FILE);
  for (const [id, provider] of parseFacts(readFileSync(FILE, 'utf8'))) {
    const providerId = Object.hasOwn(JUDGED, id) ? JUDGED[id as keyof typeof JUDGED] : undefined;
    if (providerId === undefined) continue;
    for (const model of Object.keys(provider.models)) {
      const own = costOfCall(usage, known.get(`https://${provider.host}`, model));
      const other = calcPrice(usage, model, { providerId, timestamp: FULL_PRICE });
      if (own === undefined || other === null) continue;
      compared.push(model);
      if (Math.abs(own - other.total_price) > 0.02 * other.total_price) differing.push(`${id} ${model}`);
    }
  }
  expect(compared.length).toBeGreaterThan(60);
  expect(differing).toEqual([]);
});
