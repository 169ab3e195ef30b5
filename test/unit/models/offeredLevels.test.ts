// The levels of reasoning that are offered, over all shipped facts: any two of a model are different requests.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { type Model } from '../../../src/core/ports/ports.ts';
import { createConfiguredModels } from '../../../src/models/configuredModels.ts';
import { parseFacts } from '../../../src/models/facts/factsFile.ts';
import { KnownModels } from '../../../src/models/facts/modelFacts.ts';
import { PRESETS } from '../../../src/models/providers.ts';
import { type Effort, readSettings } from '../../../src/protocol/settings.ts';

const FILE = join(resolve(import.meta.dirname, '../../..'), 'media/models.json');
const shipped = parseFacts(readFileSync(FILE, 'utf8'));
const baseUrls = new Map(
  [...shipped].map(([id, { host }]) => {
    const preset = PRESETS.find(({ baseUrl }) => new URL(baseUrl).host === host);
    return [id, preset?.baseUrl ?? `https://${host}/v1`] as const;
  }),
);
const { settings } = readSettings((name) =>
  name === 'providers' ? Object.fromEntries([...baseUrls].map(([id, baseUrl]) => [id, { baseUrl }])) : undefined,
);
const get = createConfiguredModels({
  settings: () => settings,
  known: new KnownModels({ path: FILE, logger: { warn: () => undefined } }),
  key: async () => 'k',
});

afterEach(() => void vi.unstubAllGlobals());

/** The body of the request with this effort. */
async function bodyOf(model: Model, effort: Effort): Promise<string> {
  let body = '';
  vi.stubGlobal('fetch', async (_url: string, init: RequestInit) => {
    body = Buffer.from(init.body as Uint8Array).toString();
    return new Response('{}', { status: 401 });
  });
  const request = { system: 's', messages: [{ role: 'user', content: 'Hi.' }], tools: [], effort } as const;
  await Array.fromAsync(model.stream(request, new AbortController().signal));
  expect(body).not.toBe('');
  return body;
}

test.each([...shipped])('%s: two offered levels are never the same request', async (id, { models }) => {
  const same: string[] = [];
  for (const [name, { efforts = [] }] of Object.entries(models)) {
    if (efforts.length === 0) continue;
    const model = get(`${id}/${name}`);
    if (model === undefined) throw new Error(`${id}/${name} is missing`);
    const offered = model.efforts ?? [];
    expect(offered.filter((level) => level !== 'none' && !efforts.includes(level))).toEqual([]);
    const bodies = new Map<string, Effort>();
    for (const level of offered) {
      const body = await bodyOf(model, level);
      const before = bodies.get(body);
      if (before !== undefined) same.push(`${name}: ${before} and ${level}`);
      bodies.set(body, level);
    }
  }
  expect(same).toEqual([]);
});

test.each([
  [
    'zai/glm-5.3',
    ['low', 'high', 'max'],
    'high',
    { thinking: { type: 'enabled', clear_thinking: false }, reasoning_effort: 'high' },
  ],
  ['zai/glm-4.7', ['none', 'high'], 'none', { thinking: { type: 'disabled', clear_thinking: false } }],
  ['moonshotai/kimi-k2.6', ['none', 'high'], 'high', { thinking: { type: 'enabled' } }],
  ['kimi-coding/k3', ['low', 'high', 'max'], 'max', { reasoning_effort: 'max' }],
  ['together/openai/gpt-oss-120b', ['low', 'medium', 'high'], 'low', { reasoning_effort: 'low' }],
  ['fireworks/accounts/fireworks/models/glm-5p3', ['low', 'high', 'max'], 'max', { reasoning_effort: 'max' }],
] as const)('%s offers %o and sends %s', async (reference, levels, level, sent) => {
  const model = get(reference);
  if (model === undefined) throw new Error('it is missing');
  expect(model.efforts).toEqual(levels);
  expect(JSON.parse(await bodyOf(model, level))).toMatchObject(sent);
});
