// Measures the turn loop on Responses and Messages: 400 cycles with a model without delay and a durable log, compared with
// the same turn on chat completions, which turnLoop.bench.ts compares with a bare loop. Both send opaque items back.
import { type ModelRequest, type Tool } from '../../src/core/ports/ports.ts';
import { createModel } from '../../src/models/model.ts';
import { type ModelApi } from '../../src/protocol/event.ts';
import { startHeadless } from '../support/walk/headless.ts';
import { CYCLES, startLoopbackModel } from './loopbackModel.ts';
import { measure } from './measure.ts';

const RESULT = 'a line of output\n'.repeat(8);
const server = await startLoopbackModel();
let runs = 0;
/** Bytes of all requests of a turn, by API. */
const sent = new Map<ModelApi, number>();

const look: Tool = {
  description: {
    name: 'look',
    description: 'Looks.',
    parameters: { type: 'object', properties: { at: { type: 'string' } } },
  },
  effect: 'read',
  emits: [],
  parse: (value) => ({ ok: true, value }),
  run: async () => ({ content: RESULT, isError: false }),
};

const realFetch = globalThis.fetch;

async function runTurn(api: ModelApi): Promise<number> {
  let bytes = 0;
  globalThis.fetch = (url, init) => {
    bytes += (init?.body as Uint8Array).length;
    return realFetch(url, init);
  };
  const baseUrl = `${server.origin}/${++runs}/v1`;
  const name = { chat: 'm', responses: 'gpt-6-sol', messages: 'claude-opus-5-5' }[api];
  const model = createModel({ api, baseUrl, model: name, apiKey: async () => 'k' });
  const headless = await startHeadless({
    model: {
      ...model,
      // A title would be one more request.
      ruleBased: true,
      contextWindow: 10_000_000,
      stream: (request: ModelRequest, signal: AbortSignal) => model.stream(request, signal),
    },
    ports: { tools: [look] },
  });
  const opened = await headless.earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  const { log } = opened.value;
  await headless.earshot.send(log.id, 'Look around.');
  await headless.earshot.settled(log.id);
  const { length: messages } = log.state.messages.all;
  if (messages !== 2 * CYCLES + 2) throw new Error(`the turn has ${messages} messages`);
  await headless.end();
  globalThis.fetch = realFetch;
  sent.set(api, bytes);
  return CYCLES;
}

for (const api of ['responses', 'messages'] as const) {
  await measure({
    what: `turn loop on ${api}, ${CYCLES} cycles, loopback model without delay, durable log`,
    control: 'the same turn on chat completions',
    goal: 1.25,
    runControl: () => runTurn('chat'),
    runEarshot: () => runTurn(api),
  });
}

const megabytes = [...sent].map(([api, bytes]) => `${api} ${(bytes / 1e6).toFixed(1)} MB`);
console.log(`bytes sent in ${CYCLES} cycles: ${megabytes.join(', ')}`);
await server.stop();
