// Assembling a stream, no matter how it is divided and what servers omit or get wrong.
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ModelPart } from '../../../src/core/ports/ports.ts';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { StreamAccumulator } from '../../../src/models/chat/chatStream.ts';
import { SseReader } from '../../../src/models/wire/send.ts';
import { type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';

let server: ScriptedServer;
beforeEach(async () => {
  server = await startScriptedServer();
});
afterEach(() => server.stop());

/** The parts without those that only show calls while they are written. */
async function received(): Promise<ModelPart[]> {
  return (await all()).filter((part) => part.type !== 'writing_call');
}

async function all(): Promise<ModelPart[]> {
  const model = createChatModel({ baseUrl: server.baseUrl, model: 'm', apiKey: async () => undefined });
  const parts = await Array.fromAsync(
    model.stream({ system: '', messages: [], tools: [] }, new AbortController().signal),
  );
  return parts.filter((part) => part.type !== 'alive');
}

const calls = [
  { id: 'a', name: 'read_file', arguments: { path: 'one' } },
  { id: 'b', name: 'read_file', arguments: { path: 'two' } },
];
const expected = calls.map((call) => ({ ...call, type: 'tool_call', arguments: JSON.stringify(call.arguments) }));
const usage = { input_tokens: 100, output_tokens: 10 };

describe('tool calls', () => {
  test.each(['missing', 'all_zero', 'from_one'] as const)('with indexes %s are distinguished', async (indexes) => {
    server.script({ calls, indexes });
    expect(await received()).toEqual([...expected, { type: 'finished', usage }]);
  });

  test('are shown while they are written, each separately', async () => {
    server.script({ calls, indexes: 'from_one' });
    const written = (await all()).filter((part) => part.type === 'writing_call');
    const names = ['0 read_file', '0 read_file', '1 read_file', '1 read_file'];
    expect(written.map(({ index, name }) => `${index} ${name}`)).toEqual(names);
    const texts = [0, 1].map((one) =>
      written
        .filter(({ index }) => index === one)
        .map(({ text }) => text)
        .join(''),
    );
    expect(texts).toEqual(calls.map((call) => JSON.stringify(call.arguments)));
  });

  test('several in one delta with the finish reason `stop` are read', async () => {
    server.script({ calls, finish: 'stop' });
    expect(await received()).toEqual([...expected, { type: 'finished', usage }]);
  });

  test('from a server that does not stream are read', async () => {
    server.script({ text: ['Both.'], calls, unstreamed: true });
    expect(await received()).toEqual([{ type: 'text', text: 'Both.' }, ...expected, { type: 'finished', usage }]);
  });

  test('with object arguments, a late id, or no id are read', () => {
    const accumulator = new StreamAccumulator({ provider: 'http://a', model: 'm', contextWindow: 128_000 });
    const delta = (...tool_calls: object[]) => accumulator.take({ choices: [{ delta: { tool_calls } }] });
    delta({ index: 0, function: { name: 'one', arguments: { deep: [1] } } });
    delta({ index: 1, function: { name: 'two' } }, { index: 1, id: 'late', function: { arguments: '{}' } });
    accumulator.take({ choices: [{ finish_reason: 'tool_calls' }] });
    expect(accumulator.end()).toEqual([
      { type: 'tool_call', id: '', name: 'one', arguments: '{"deep":[1]}' },
      { type: 'tool_call', id: 'late', name: 'two', arguments: '{}' },
      { type: 'finished' },
    ]);
  });

  test('cut by the token limit are dropped', async () => {
    server.script({
      text: ['Now'],
      calls: [{ id: 'a', name: 'read_file', arguments: '{"path": "on' }],
      finish: 'length',
    });
    expect(await received()).toEqual([
      { type: 'text', text: 'Now' },
      { type: 'finished', usage, truncated: true },
    ]);
  });
});

describe('a stream', () => {
  test('keeps reasoning separate', async () => {
    server.script({ reasoning: ['Hm', '.'], text: ['Yes.'] });
    expect(await received()).toEqual([
      { type: 'reasoning', text: 'Hm' },
      { type: 'reasoning', text: '.' },
      { type: 'text', text: 'Yes.' },
      {
        type: 'finished',
        usage,
        origin: {
          api: 'chat',
          provider: new URL(server.baseUrl).origin,
          model: 'm',
          items: [{ reasoning_content: 'Hm.' }],
        },
      },
    ]);
  });

  test('without usage is complete', async () => {
    server.script({ text: ['Yes.'], usage: null });
    expect(await received()).toEqual([{ type: 'text', text: 'Yes.' }, { type: 'finished' }]);
  });

  test('with invalid usage has no usage', async () => {
    const raw =
      'data: {"choices":[{"delta":{"content":"Yes."},"finish_reason":"stop"}],"usage":{"prompt_tokens":-1}}\n\n';
    server.script({ raw, usage: null });
    expect(await received()).toEqual([{ type: 'text', text: 'Yes.' }, { type: 'finished' }]);
  });

  test('that is an HTML page is reported as a wrong address', async () => {
    const model = createChatModel({
      baseUrl: server.baseUrl,
      model: 'm',
      apiKey: async () => undefined,
    });
    const before = globalThis.fetch;
    globalThis.fetch = async () => new Response('<html>', { headers: { 'content-type': 'text/html' } });
    try {
      const parts = await Array.fromAsync(
        model.stream({ system: '', messages: [], tools: [] }, new AbortController().signal),
      );
      expect(parts).toMatchObject([{ type: 'failed', failure: { code: 'no_stream' } }]);
    } finally {
      globalThis.fetch = before;
    }
  });

  test('that was aborted ends without a failure', async () => {
    server.script({ text: ['Half'], hang: true });
    const abort = new AbortController();
    const model = createChatModel({ baseUrl: server.baseUrl, model: 'm', apiKey: async () => undefined });
    const parts: ModelPart[] = [];
    for await (const part of model.stream({ system: '', messages: [], tools: [] }, abort.signal)) {
      parts.push(part);
      abort.abort();
    }
    expect(parts).toEqual([{ type: 'text', text: 'Half' }]);
  });
});

test('server-sent events do not depend on how their bytes are divided', () => {
  const event = fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => text.replace(/[\r\n]/g, ''));
  fc.assert(
    fc.property(fc.array(event), fc.constantFrom('\n', '\r\n'), fc.integer({ min: 1, max: 9 }), (events, end, size) => {
      const text = events.map((data) => `: alive${end}event: x${end}data: ${data}${end}${end}`).join('');
      const bytes = new TextEncoder().encode(text);
      const reader = new SseReader();
      const read: string[] = [];
      for (let at = 0; at < bytes.length; at += size) read.push(...reader.push(bytes.subarray(at, at + size)));
      expect([...read, ...reader.end()]).toEqual(events);
    }),
  );
});

test('two complete calls with the same id are two calls', () => {
  const accumulator = new StreamAccumulator({ provider: 'http://a', model: 'm', contextWindow: 128_000 });
  const whole = (index: number | undefined) => ({ index, id: 'a', function: { name: 'look', arguments: '{}' } });
  for (const index of [0, 1, undefined]) accumulator.take({ choices: [{ delta: { tool_calls: [whole(index)] } }] });
  expect(accumulator.end().map((part) => part.type)).toEqual(['tool_call', 'tool_call', 'tool_call', 'finished']);
});
