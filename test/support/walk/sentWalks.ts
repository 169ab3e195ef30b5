// Conversations over each API with a recorded wire: what went out, and what of it is printed again from the log.
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { TITLE_PROMPT } from '../../../src/core/agent/titles.ts';
import { rebuildRequest, sentCalls } from '../../../src/core/knowledge/sentRequests.ts';
import { type Tool } from '../../../src/core/ports/ports.ts';
import { type Snapshots } from '../../../src/core/ports/storage.ts';
import { createFindTools } from '../../../src/mcp/tools/findTools.ts';
import { createModel } from '../../../src/models/model.ts';
import { printAgain } from '../../../src/models/sentRequest.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { atTestEnd } from '../endings.ts';
import { startAnthropic, textContent, thinkingBlock, useBlock } from '../models/native/anthropicEndpoint.ts';
import { callItem, reasoningItem, startOpenAi, textItem } from '../models/native/openaiEndpoint.ts';
import { startScriptedServer } from '../models/scriptedServer.ts';
import { type Headless, startHeadless } from './headless.ts';

/** A text of the model, or the name and the arguments of its call. */
type Answer = string | readonly [tool: string, values: object];

interface Endpoint {
  readonly address: string;
  say(...answers: readonly Answer[]): void;
}

/** A summary leaves calls without the reasoning before them. */
const AFTER_SUMMARY = { withoutReasoning: true, withoutThinking: true };

/** `refused`: how the endpoint refuses something that the request need not have. */
export const apis = {
  chat: {
    baseUrl: 'https://api.mistral.ai/v1',
    model: 'mistral-large',
    refused: ['temperature is not supported', '"temperature"'],
    start: startChat,
  },
  responses: {
    baseUrl: 'https://api.openai.com/v1',
    model: 'gpt-6-sol',
    refused: ['prompt_cache_key is not supported', '"prompt_cache_key"'],
    start: async () => {
      const { next, say } = script();
      const { address } = await startOpenAi((number) => {
        const answer = next();
        const said = typeof answer === 'string' ? textItem(answer) : callItem(`call_${number}`, ...answer);
        return { items: [reasoningItem(`Step ${number}.`), said] };
      }, AFTER_SUMMARY);
      return { address, say };
    },
  },
  messages: {
    baseUrl: 'https://api.anthropic.com/v1',
    model: 'claude-opus-5-5',
    refused: ['cache_control: not supported', '"cache_control"'],
    start: async () => {
      const { next, say } = script();
      const { address } = await startAnthropic((number) => {
        const answer = next();
        const said = typeof answer === 'string' ? textContent(answer) : useBlock(`toolu_${number}`, ...answer);
        return { content: [thinkingBlock(`Step ${number}.`), said] };
      }, AFTER_SUMMARY);
      return { address, say };
    },
  },
} as const;

function script() {
  const answers: Answer[] = [];
  return { next: () => answers.shift() ?? 'The end.', say: (...more: readonly Answer[]) => void answers.push(...more) };
}

async function startChat(): Promise<Endpoint> {
  const server = await startScriptedServer();
  atTestEnd(() => server.stop());
  let calls = 0;
  const say = (...answers: readonly Answer[]) =>
    server.script(
      ...answers.map((answer) => {
        if (typeof answer === 'string') return { text: [answer] };
        return { calls: [{ id: `call${calls++}`, name: answer[0], arguments: answer[1] }] };
      }),
    );
  return { address: new URL(server.baseUrl).origin, say };
}

const KEEP = 'The user wants these notes to keep above all';

/** The bodies that went out, without those of titles and summaries; `faults` are the next answers instead. */
function recordWire(baseUrl: string, address: string) {
  const sent: string[] = [];
  const faults: ((signal: AbortSignal | null | undefined) => Response)[] = [];
  const { origin } = new URL(baseUrl);
  const real = globalThis.fetch;
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
    const body = init.body === undefined ? '' : Buffer.from(init.body as Uint8Array).toString();
    const isShown = ![TITLE_PROMPT, KEEP].some((text) => body.includes(JSON.stringify(text).slice(1, -1)));
    if (body !== '' && isShown) {
      sent.push(body);
      const fault = faults.shift();
      if (fault !== undefined) return Promise.resolve(fault(init.signal));
    }
    return real(url.replace(origin, address), init);
  });
  atTestEnd(async () => void vi.unstubAllGlobals());
  return { sent, faults };
}

export const refuse = (status: number, message: string) => () =>
  Response.json({ type: 'error', error: { type: 'invalid_request_error', message } }, { status });

export const hang = (signal: AbortSignal | null | undefined) =>
  new Response(
    new ReadableStream({
      start: (stream) => signal?.addEventListener('abort', () => stream.error(signal.reason)),
    }),
    { headers: { 'content-type': 'text/event-stream' } },
  );

export async function eventsOf({ ports }: Headless, id: string): Promise<readonly LogEvent[]> {
  const read = await ports.store.read(id);
  if (!read.ok) throw new Error(read.failure.message);
  return read.value.events;
}

/** Printed again, in the order in which they went out. */
export async function printAllAgain(events: readonly LogEvent[], snapshots: Pick<Snapshots, 'get'>) {
  const printed = [];
  for (const one of sentCalls(events)) {
    const { request, missing } = await rebuildRequest(events, one, snapshots);
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

/** More tools of a server than a request has from the beginning. */
const serverTools = Array.from(
  { length: 31 },
  (_, index): Tool => ({
    description: {
      name: `s__t${index}`,
      description: `t${index} ${'x'.repeat(1000)}`,
      parameters: { type: 'object', properties: {} },
    },
    effect: 'read',
    emits: [],
    traits: { server: 's' },
    parse: (value) => ({ ok: true, value }),
    run: async () => ({ content: 'Ran.', isError: false }),
  }),
);
const finder = createFindTools(() => serverTools.map(({ description }) => ({ server: 's', description })));

export async function beginSent(api: keyof typeof apis, format: string) {
  const { baseUrl, model, start } = apis[api];
  const endpoint = await start();
  const wire = recordWire(baseUrl, endpoint.address);
  let during: () => Promise<unknown> = async () => undefined;
  let headless = await startHeadless({
    model: createModel({ baseUrl, model, apiKey: async () => 'k', options: { temperature: 0.5, maxTokens: 900 } }),
    settings: { 'notifications.format': format, 'approvals.mode': 'all' },
    ports: { tools: [lookTool(() => during()), finder, ...serverTools], producers: [] },
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
  type More = NonNullable<Parameters<typeof headless.earshot.send>[2]>;
  return {
    id,
    wire,
    get headless() {
      return headless;
    },
    /** A turn with these answers. */
    go: async (
      text: string,
      answers: readonly Answer[],
      { to = id, ...more }: More & { readonly to?: string } = {},
    ) => {
      await publish(`before ${text}`);
      endpoint.say(...answers);
      expect(await headless.earshot.send(to, text, more)).toMatchObject({ ok: true });
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

export const look = ['look', { at: 'ä' }] as const;
export const schema = {
  type: 'object',
  properties: { tea: { type: 'string' } },
  required: ['tea'],
  additionalProperties: false,
};
export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
export const image = { type: 'image', mediaType: 'image/png', bytes: png, name: 'tea.png' } as const;
