// Measures the turn loop on Responses and Messages: 400 cycles with a model without delay and a durable log, compared with
// the same turn on chat completions, which turnLoop.bench.ts compares with a bare loop. All three send opaque items of the
// same size back.
import { setImmediate } from 'node:timers/promises';
import { Projections } from '../../src/core/conversation/projections/project.ts';
import { createModel } from '../../src/models/model.ts';
import { PrefixPrinter } from '../../src/models/wire/prefixPrinter.ts';
import { type EventDraft, type ModelApi } from '../../src/protocol/event.ts';
import { numbered } from '../support/log/events.ts';
import { responsesBody } from '../support/models/native/printedRequests.ts';
import { RESULT, runTurn } from './benchTurns.ts';
import { CYCLES, REASONS, startLoopbackModel } from './loopbackModel.ts';
import { measure } from './measure.ts';

const server = await startLoopbackModel();
let runs = 0;
const MOST_MEGABYTES = 25;
/** Bytes of all requests of a turn, by API. */
const sent = new Map<ModelApi, number>();
const realFetch = globalThis.fetch;

async function runOn(api: ModelApi): Promise<number> {
  let bytes = 0;
  globalThis.fetch = (url, init) => {
    bytes += (init?.body as Uint8Array).length;
    return realFetch(url, init);
  };
  const baseUrl = `${server.origin}/${++runs}${REASONS}/v1`;
  const name = { chat: 'm', responses: 'gpt-6-sol', messages: 'claude-opus-5-5' }[api];
  await runTurn(createModel({ api, baseUrl, model: name, apiKey: async () => 'k' }));
  globalThis.fetch = realFetch;
  sent.set(api, bytes);
  return CYCLES;
}

await measureMemory();

for (const api of ['responses', 'messages'] as const) {
  for (const clock of ['wall', 'processor'] as const) {
    await measure({
      what: `turn loop on ${api}, ${CYCLES} cycles, loopback model without delay, durable log, ${clock} time`,
      control: 'the same turn on chat completions',
      goal: 1.25,
      clock,
      runControl: () => runOn('chat'),
      runEarshot: () => runOn(api),
    });
  }
}

const megabytes = [...sent].map(([api, bytes]) => `${api} ${(bytes / 1e6).toFixed(1)} MB`);
console.log(`bytes sent in ${CYCLES} cycles: ${megabytes.join(', ')}`);
await server.stop();

/** Memory of a conversation whose answers have 10 MB of opaque items: its state, and the kept bytes of its requests. */
async function measureMemory(): Promise<void> {
  const collect = async () => {
    // Buffers are freed after the objects that refer to them.
    for (let times = 0; times < 3; times += 1) {
      await setImmediate();
      (globalThis as { gc?: () => void }).gc?.();
    }
    const { heapUsed, external } = process.memoryUsage();
    return (heapUsed + external) / 1e6;
  };
  const before = await collect();
  const state = new Projections();
  const drafts = Array.from({ length: CYCLES }, (_, index): EventDraft[] => {
    const call = { id: `call_${index}`, name: 'look', arguments: {} };
    const items = [
      { type: 'reasoning', summary: [], encrypted_content: String(index).padEnd(10_000_000 / CYCLES, 'e') },
      { type: 'function_call', call_id: call.id, name: call.name, arguments: '{}' },
    ];
    const origin = { api: 'responses' as const, provider: 'https://api.openai.com', model: 'gpt-6-sol', items };
    return [
      { type: 'chat_response' },
      { type: 'tool_call_request', ...call },
      { type: 'model_call', model: 'm', outcome: 'succeeded', origin },
      { type: 'tool_call_response', id: call.id, content: RESULT, is_error: false },
    ];
  }).flat();
  for (const event of numbered({ type: 'chat_request', content: 'Look.', source: 'user' }, ...drafts.splice(0))) {
    state.fold(JSON.parse(JSON.stringify(event)) as typeof event);
  }
  const folded = await collect();
  const printer = new PrefixPrinter();
  await responsesBody('gpt-6-sol', { system: '', tools: [], messages: state.messages.all }, { printer });
  const printed = await collect();
  const shown = [folded - before, printed - folded].map((size) => `${size.toFixed(1)} MB`);
  const isMet = printed - before <= MOST_MEGABYTES;
  console.log(`memory of a conversation with 10 MB of opaque items\n  state ${shown[0]}, kept request ${shown[1]}`);
  console.log(`  (goal ≤ ${MOST_MEGABYTES} MB together, ${isMet ? 'met' : 'MISSED'})`);
  if (!isMet) process.exitCode = 1;
  printer.print([], { form: '', cycles: 1 }, () => []);
}
