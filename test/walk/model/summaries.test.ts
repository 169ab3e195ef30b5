// The request for a summary reads the conversation from the endpoint's cache: on every API it extends the request before,
// with the same effort, and changes no parameter that belongs to the cached prefix.
import { afterEach, expect, test, vi } from 'vitest';
import { type Model } from '../../../src/core/ports/ports.ts';
import { createModel } from '../../../src/models/model.ts';
import { atTestEnd, endAll } from '../../support/endings.ts';
import { startAnthropic, textContent, thinkingBlock, useBlock } from '../../support/models/native/anthropicEndpoint.ts';
import {
  type Body,
  findChangedPrefix,
  type NativeEndpoint,
  startNativeEndpoint,
} from '../../support/models/native/nativeEndpoint.ts';
import { callItem, reasoningItem, startOpenAi, textItem } from '../../support/models/native/openaiEndpoint.ts';
import { startHeadless } from '../../support/walk/headless.ts';

afterEach(endAll);

const isSummary = (body: Body) => JSON.stringify(body).includes('The conversation is about to be shortened');

/** With `calling`, the request for the summary is answered with a call. */
const openAi = (calling: boolean) =>
  startOpenAi((number, body) => {
    const said = [reasoningItem('Hm.'), textItem(`Said ${number}.`)];
    return { items: calling && isSummary(body) ? [...said, callItem('c1', 'list_directory', {})] : said };
  });
const anthropic = (calling: boolean) =>
  startAnthropic((number, body) => {
    const said = [thinkingBlock('Hm.'), textContent(`Said ${number}.`)];
    return { content: calling && isSummary(body) ? [...said, useBlock('c1', 'list_directory', {})] : said };
  });
const chat = (calling: boolean) =>
  startNativeEndpoint({
    title: 'data: [DONE]\n\n',
    reply: ({ body }) => {
      const calls = [{ index: 0, id: 'c1', type: 'function', function: { name: 'list_directory', arguments: '{}' } }];
      const delta = {
        reasoning_content: 'Hm.',
        content: 'Said.',
        ...(calling && isSummary(body) && { tool_calls: calls }),
      };
      const chunk = { choices: [{ index: 0, delta, finish_reason: 'stop' }] };
      return { sse: `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n` };
    },
  });

interface Case {
  readonly baseUrl: string;
  readonly model: string;
  start(calling: boolean): Promise<NativeEndpoint>;
  readonly list: 'input' | 'messages';
  /** No part of what is cached. */
  readonly ignored: readonly string[];
}

const responses = { start: openAi, list: 'input', ignored: ['tool_choice'] } as const;
const messages = { start: anthropic, list: 'messages', ignored: ['cache_control', 'diagnostics'] } as const;
const completions = { start: chat, list: 'messages', ignored: [] } as const;
const CASES: readonly Case[] = [
  { ...responses, baseUrl: 'https://api.openai.com/v1', model: 'gpt-6-sol' },
  { ...responses, baseUrl: 'https://api.openai.com/v1', model: 'gpt-5.6-sol' },
  { ...responses, baseUrl: 'https://api.openai.com/v1', model: 'gpt-5.4' },
  { ...messages, baseUrl: 'https://api.anthropic.com/v1', model: 'claude-opus-5-5' },
  { ...messages, baseUrl: 'https://api.anthropic.com/v1', model: 'claude-opus-4-8' },
  { ...messages, baseUrl: 'https://api.anthropic.com/v1', model: 'claude-sonnet-5' },
  { ...messages, baseUrl: 'https://api.anthropic.com/v1', model: 'claude-haiku-4-5' },
  { ...completions, baseUrl: 'https://api.deepseek.com/v1', model: 'deepseek-v4-pro' },
  { ...completions, baseUrl: 'https://api.moonshot.ai/v1', model: 'kimi-k3' },
  { ...completions, baseUrl: 'https://gateway.example/v1', model: 'm' },
];

async function compactAfterTwoTurns({ baseUrl, model, start }: Case, calling = false) {
  const endpoint = await start(calling);
  const { origin } = new URL(baseUrl);
  const real = globalThis.fetch;
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => real(url.replace(origin, endpoint.address), init));
  atTestEnd(async () => void vi.unstubAllGlobals());
  const made = createModel({ baseUrl, model, apiKey: async () => 'k' });
  const headless = await startHeadless({ model: Object.setPrototypeOf({ efforts: ['low', 'high'] }, made) as Model });
  atTestEnd(() => headless.end());
  const opened = await headless.earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  const { log } = opened.value;
  await log.append({ type: 'choice_made', effort: 'high' });
  for (const text of ['Hello.', 'More.', '/compact']) {
    expect(await headless.earshot.send(log.id, text)).toMatchObject({ ok: true });
    await headless.earshot.settled(log.id);
  }
  const first = log.state.messages.all[0]?.content;
  return { requests: endpoint.requests, refusals: endpoint.refusals, first };
}

test.each(CASES)('$baseUrl, $model: extends the last request', async (one) => {
  const { requests, refusals, first } = await compactAfterTwoTurns(one);
  expect(refusals).toEqual([]);
  expect(requests).toHaveLength(3);
  const [, last, summary] = requests;
  if (last === undefined || summary === undefined) throw new Error('a request is missing');
  expect([isSummary(last.body), isSummary(summary.body)]).toEqual([false, true]);
  expect(JSON.stringify(last.body)).toMatch(/"effort":"high"|"reasoning_effort":"high"|"budget_tokens":16000/);
  expect(findChangedPrefix([last, summary], one.list, one.ignored)).toBeUndefined();
  expect(last.headers['anthropic-beta']).toBe(summary.headers['anthropic-beta']);
  expect(first).toContain('Said');
});

test.each(CASES.filter(({ model }) => ['gpt-6-sol', 'claude-opus-5-5', 'm'].includes(model)))(
  '$model: if it calls a tool instead, the summary is made of the text, and nothing runs',
  async (one) => {
    const { requests, first } = await compactAfterTwoTurns(one, true);
    expect(requests).toHaveLength(4);
    const last = requests.at(-1)?.body ?? {};
    expect(last['tools']).toBeUndefined();
    expect(JSON.stringify(last[one.list])).toContain('[User]\\nHello.');
    expect(first).toContain('Said');
  },
);
