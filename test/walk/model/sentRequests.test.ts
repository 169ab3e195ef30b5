// The requests that are shown later are those that went out: printed again from the log they have the same bytes, for every
// format and API, after a compaction, a fork, a retry, an interruption, a restart and with damaged lines.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { TITLE_PROMPT } from '../../../src/core/agent/titles.ts';
import { forkEvents } from '../../../src/core/conversation/fork.ts';
import { rebuildRequest, sentCalls } from '../../../src/core/knowledge/sentRequests.ts';
import { type Tool } from '../../../src/core/ports/ports.ts';
import { createModel } from '../../../src/models/model.ts';
import { printAgain } from '../../../src/models/sentRequest.ts';
import { FORMATS, type LogEvent } from '../../../src/protocol/event.ts';
import { atTestEnd, endAll } from '../../support/endings.ts';
import { startAnthropic, textContent, thinkingBlock, useBlock } from '../../support/models/native/anthropicEndpoint.ts';
import { callItem, reasoningItem, startOpenAi, textItem } from '../../support/models/native/openaiEndpoint.ts';
import { type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { type Headless, startHeadless } from '../../support/walk/headless.ts';

afterEach(endAll);

/** Every second answer of the models calls a tool. */
const isCall = (number: number) => number % 2 === 1;

const apis = {
  chat: { baseUrl: 'https://api.mistral.ai/v1', model: 'mistral-large', start: startChat },
  responses: {
    baseUrl: 'https://api.openai.com/v1',
    model: 'gpt-6-sol',
    start: async () =>
      (
        await startOpenAi((number) => ({
          items: isCall(number)
            ? [reasoningItem(`Step ${number}.`), callItem(`call_${number}`, 'look', { at: 'a' })]
            : [reasoningItem('Done.'), textItem(`The end, ${number}.`)],
        }))
      ).address,
  },
  messages: {
    baseUrl: 'https://api.anthropic.com/v1',
    model: 'claude-opus-5-5',
    start: async () =>
      (
        await startAnthropic((number) => ({
          content: isCall(number)
            ? [thinkingBlock(`Step ${number}.`), useBlock(`toolu_${number}`, 'look', { at: 'a' })]
            : [thinkingBlock('Done.'), textContent(`The end, ${number}.`)],
        }))
      ).address,
  },
} as const;

async function startChat(): Promise<string> {
  const answers = Array.from({ length: 40 }, (_, index) =>
    isCall(index + 1)
      ? { calls: [{ id: `call${index}`, name: 'look', arguments: { at: 'ä' } }] }
      : { text: [`The end, ${index}.`] },
  );
  const server = await startScriptedServer(...answers);
  atTestEnd(() => server.stop());
  return new URL(server.baseUrl).origin;
}

/** The bodies that went out, without those of titles. */
function recordWire(baseUrl: string, address: string): readonly string[] {
  const sent: string[] = [];
  const { origin } = new URL(baseUrl);
  const real = globalThis.fetch;
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
    const body = init.body === undefined ? '' : Buffer.from(init.body as Uint8Array).toString();
    if (body !== '' && !body.includes(JSON.stringify(TITLE_PROMPT).slice(1, -1))) sent.push(body);
    return real(url.replace(origin, address), init);
  });
  atTestEnd(async () => void vi.unstubAllGlobals());
  return sent;
}

async function eventsOf({ ports }: Headless, id: string): Promise<readonly LogEvent[]> {
  const read = await ports.store.read(id);
  if (!read.ok) throw new Error(read.failure.message);
  return read.value.events;
}

async function printedAgain(headless: Headless, id: string) {
  const events = await eventsOf(headless, id);
  const printed = [];
  for (const one of sentCalls(events)) {
    const { request, missing } = await rebuildRequest(events, one, headless.ports.snapshots);
    expect(missing).toEqual([]);
    const { sent } = one.call;
    if (sent === undefined) throw new Error('not logged');
    printed.push({ ...(await printAgain(sent, request)), outcome: one.call.outcome });
  }
  return printed;
}

let looks = 0;
function lookTool(during: () => Promise<unknown>): Tool {
  return {
    description: { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } },
    effect: 'read',
    emits: [],
    parse: (value) => ({ ok: true, value }),
    run: async () => {
      await during();
      return { content: `seen ${++looks} ${'far '.repeat(100)}`, isError: looks % 3 === 2 };
    },
  };
}

async function begin(api: keyof typeof apis, format: string, address?: string) {
  const { baseUrl, model, start } = apis[api];
  const wire = recordWire(baseUrl, address ?? (await start()));
  let during: () => Promise<unknown> = async () => undefined;
  let headless = await startHeadless({
    model: createModel({ baseUrl, model, apiKey: async () => 'k', options: { temperature: 0.5, maxTokens: 900 } }),
    settings: { 'notifications.format': format },
    ports: { tools: [lookTool(() => during())], producers: [] },
  });
  atTestEnd(() => headless.end());
  const opened = await headless.earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  const { id } = opened.value.log;
  const publish = (message: string) =>
    headless.earshot.publish({
      ...{ kind: { source: 'git', name: 'head_changed' }, level: 'warning', message, origin: 'filesystem' },
      at: new Date().toISOString(),
    });
  during = () => publish(`switched to ${looks} <b>&]]>`);
  return {
    id,
    wire,
    get headless() {
      return headless;
    },
    log: () => {
      const live = headless.earshot.get(id);
      if (live === undefined) throw new Error('closed');
      return live.log;
    },
    go: async (text: string, to = id) => {
      await publish(`before ${text}`);
      expect(await headless.earshot.send(to, text)).toMatchObject({ ok: true });
      await headless.earshot.settled(to);
    },
    restart: async (meanwhile: (file: string) => Promise<void>) => {
      await headless.earshot.close(id);
      await meanwhile(join(headless.storage, 'conversations', id, 'events.jsonl'));
      headless = await headless.restart();
      expect(await headless.earshot.open(id)).toMatchObject({ ok: true });
    },
  };
}

describe.each(Object.keys(apis) as (keyof typeof apis)[])('%s', (api) => {
  test.each(FORMATS)(
    '%s: every request is printed again as it went out, also in a fork and after a compaction',
    async (format) => {
      const one = await begin(api, format);
      await one.go('First.');
      await one.go('Second, “quoted”.');
      const shared = one.wire.length;
      const forkId = one.headless.ports.ids.ulid();
      const events = await eventsOf(one.headless, one.id);
      const through = events.findLast(({ type }) => type === 'turn_ended')?.seq ?? 0;
      const { ports } = one.headless;
      const forked = forkEvents({
        ...{ id: one.id, events, through, now: new Date().toISOString() },
        ulid: () => ports.ids.ulid(),
      });
      if (!forked.ok) throw new Error(forked.failure.message);
      expect(await ports.store.create(forkId, forked.value)).toMatchObject({ ok: true });
      await one.log().append({ type: 'compaction', summary: 'It looked.', through: one.log().state.pending.through });
      await one.go('After the summary.');
      const own = one.wire.length;
      expect((await printedAgain(one.headless, one.id)).map(({ body }) => body)).toEqual(one.wire);
      expect((await printedAgain(one.headless, one.id)).every(({ isExact }) => isExact)).toBe(true);
      expect(one.wire.some((body) => body.includes('switched to'))).toBe(true);

      expect(await one.headless.earshot.open(forkId)).toMatchObject({ ok: true });
      await one.go('In the fork.', forkId);
      const inFork = (await printedAgain(one.headless, forkId)).map(({ body }) => body);
      expect(inFork).toEqual([...one.wire.slice(0, shared), ...one.wire.slice(own)]);
    },
  );
});

test('requests with damaged lines before them are printed again as they went out; one whose lines were damaged later says so', async () => {
  const one = await begin('chat', 'xml');
  await one.go('First.');
  const damage = async (file: string) => {
    const lines = (await readFile(file, 'utf8')).split('\n');
    const index = lines.findLastIndex((line) => line.includes('"type":"tool_call_response"'));
    lines[index] = lines[index]?.replace('seen', 'sEen') ?? '';
    await writeFile(file, lines.join('\n'));
  };
  await one.restart(damage);
  await one.go('Second.');
  const printed = await printedAgain(one.headless, one.id);
  expect(printed.map(({ body, isExact }, index) => isExact && body === one.wire[index])).toEqual([
    true,
    false,
    true,
    true,
  ]);
});

test('a request that failed and was repeated, one that was interrupted, and one in a form that was learnt', async () => {
  const server: ScriptedServer = await startScriptedServer(
    { refuse: { status: 400, message: 'temperature is not supported' } },
    { refuse: { status: 500, message: 'Try again.' } },
    { text: ['Done.'] },
    { text: ['Half of'], hang: true },
    { text: ['Done.'] },
  );
  atTestEnd(() => server.stop());
  const one = await begin('chat', 'xml', new URL(server.baseUrl).origin);
  await one.go('First.');
  const before = one.wire.length;
  const turn = one.headless.earshot.send(one.id, 'Hang.');
  await expect.poll(() => one.wire.length).toBeGreaterThan(before);
  await one.headless.earshot.stop(one.id);
  await turn;
  await one.headless.earshot.settled(one.id);
  await one.go('Again.');
  const printed = await printedAgain(one.headless, one.id);
  expect(printed.map(({ isExact }) => isExact)).toEqual(printed.map(() => true));
  expect(printed.map(({ outcome }) => outcome)).toEqual(['failed', 'succeeded', 'aborted', 'succeeded']);
  // The form that was sent last.
  expect(one.wire[0]).toContain('"temperature"');
  expect(printed[0]?.body).not.toContain('"temperature"');
  for (const { body } of printed) expect(one.wire).toContain(body);
});
