// What endpoints say about their models stays known in later windows, for a while and within limits.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { KnownModels, ListedFacts } from '../../../../src/models/facts/modelFacts.ts';

const BASE = 'https://models.example/v1';
const DAY = 24 * 60 * 60 * 1000;

function openWindow(state: Map<string, unknown>, now = 0) {
  const warnings: string[] = [];
  const store = {
    get: (key: string) => state.get(key),
    update: async (key: string, value: unknown) => void state.set(key, JSON.parse(JSON.stringify(value))),
  };
  const logger = { warn: (message: string) => void warnings.push(message) };
  return { listed: new ListedFacts({ store, logger, now: () => now }), store, logger, warnings };
}

test('a later window knows window, price and abilities, and a new list replaces the old one', () => {
  const state = new Map<string, unknown>();
  const facts = { name: 'Tea', window: 5000, output: 100, images: true, price: [1, 2, 0.1, 1] as const };
  openWindow(state).listed.note(BASE, [{ id: 'tea', ...facts }, { id: 'plain' }]);
  expect(openWindow(state).listed.get(BASE, 'tea')).toEqual(facts);
  expect(openWindow(state).listed.get(BASE, 'plain')).toBeUndefined();
  expect(openWindow(state).listed.get('https://other.example/v1', 'tea')).toBeUndefined();
  openWindow(state, DAY).listed.note(BASE, [{ id: 'tea', window: 6000 }]);
  expect(openWindow(state, DAY).listed.get(BASE, 'tea')).toEqual({ window: 6000 });
});

test('they override the shipped file, and are forgotten after 30 days', () => {
  const state = new Map<string, unknown>();
  const { store, logger } = openWindow(state);
  const path = join(mkdtempSync(join(tmpdir(), 'earshot-facts-')), 'models.json');
  const models = { 'claude-opus-5-5': { window: 1_000_000 } };
  writeFileSync(path, JSON.stringify({ providers: { anthropic: { host: 'api.anthropic.com', models } } }));
  const anthropic = 'https://api.anthropic.com/v1';
  const shipped = new KnownModels({ path, logger }).get(anthropic, 'claude-opus-5-5').window;
  new KnownModels({ path, logger, store }).note(anthropic, [{ id: 'claude-opus-5-5', window: 7 }]);
  expect(new KnownModels({ path, logger, store }).get(anthropic, 'claude-opus-5-5').window).toBe(7);
  openWindow(state, 0).listed.note(BASE, [{ id: 'tea', window: 1 }]);
  expect(openWindow(state, 30 * DAY).listed.get(BASE, 'tea')).toBeDefined();
  expect(openWindow(state, 31 * DAY).listed.get(BASE, 'tea')).toBeUndefined();
  expect(shipped).toBe(1_000_000);
});

test.each([
  ['nothing', undefined],
  ['a list', [1]],
  ['endpoints of another shape', { [BASE]: 1, b: { at: 'x', models: {} }, c: { at: 0, models: 1 } }],
  ['facts of another shape', { [BASE]: { at: 0, models: { tea: { window: -1, price: ['x'], images: 'yes' } } } }],
])('a stored value of another shape is ignored: %s', (_name, stored) => {
  const { listed } = openWindow(new Map([['models.listed', stored]]));
  expect(listed.get(BASE, 'tea') ?? {}).toEqual({});
  expect(listed.get(BASE, '__proto__')).toBeUndefined();
});

test('only the newest endpoints that fit are stored', () => {
  const state = new Map<string, unknown>();
  const many = Array.from({ length: 1000 }, (_, index) => ({ id: `model-${index}`, name: 'x'.repeat(80), window: 1 }));
  for (let day = 0; day < 4; day += 1) openWindow(state, day).listed.note(`${BASE}/${day}`, many);
  expect(JSON.stringify(state.get('models.listed')).length).toBeLessThan(200_100);
  expect(Object.keys(state.get('models.listed') as object)).toEqual([`${BASE}/3`]);
});

test('a store that fails is reported, and the facts hold in this window', async () => {
  const { logger, warnings } = openWindow(new Map());
  const store = { get: () => undefined, update: () => Promise.reject(new Error('full')) };
  const listed = new ListedFacts({ store, logger });
  listed.note(BASE, [{ id: 'tea', window: 1 }]);
  await expect.poll(() => warnings).toEqual([expect.stringContaining('full')]);
  expect(listed.get(BASE, 'tea')).toEqual({ window: 1 });
});
