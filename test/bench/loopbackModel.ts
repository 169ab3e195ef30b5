// A model without delay in its own thread, with all three APIs. For each address, it answers CYCLES times with a call, then
// with text.
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { messagesEvents } from '../support/models/native/messagesEvents.ts';
import { responsesEvents, toSse } from '../support/models/native/responsesEvents.ts';

export const CYCLES = 400;
const WORDS = 16;
/** Opaque items of an answer with a call. */
const OPAQUE = 400;
/** In the address of a run: answers on chat completions have reasoning that goes back, as those of the other APIs have. */
export const REASONS = '-reasons';

/** Each run has its own address, `<origin>/<run>/v1`. Resolves once the server listens. */
export async function startLoopbackModel(): Promise<{ origin: string; stop(): Promise<number> }> {
  const worker = new Worker(new URL(import.meta.url), { execArgv: [] });
  const port = await new Promise<number>((resolve) => worker.once('message', resolve));
  return { origin: `http://127.0.0.1:${port}`, stop: () => worker.terminate() };
}

/** Built once, because only the client is measured. */
function chunks(call: boolean, reasons: boolean): Buffer {
  const send = (choice: object, more: object = {}) =>
    `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 0, model: 'm', choices: [{ index: 0, ...choice }], ...more })}\n\n`;
  const words = Array.from({ length: WORDS }, (_, index) => send({ delta: { content: `word${index} ` } }));
  const ask = { index: 0, id: 'CALL', type: 'function', function: { name: 'look', arguments: '{"at":"here"}' } };
  const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
  return Buffer.from(
    [
      ...(reasons && call ? [send({ delta: { reasoning_content: 'r'.repeat(OPAQUE) } })] : []),
      ...words,
      ...(call ? [send({ delta: { tool_calls: [ask] } })] : []),
      send({ delta: {}, finish_reason: call ? 'tool_calls' : 'stop' }),
      `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 0, model: 'm', choices: [], usage })}\n\n`,
      'data: [DONE]\n\n',
    ].join(''),
  );
}

/** The same answer on Responses: reasoning, text and the call. */
function responses(call: boolean): Buffer {
  const text = Array.from({ length: WORDS }, (_, index) => `word${index} `).join('');
  const said = {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    content: [{ type: 'output_text', text, annotations: [] }],
  };
  const ask = { type: 'function_call', id: 'fc_1', call_id: 'CALL', name: 'look', arguments: '{"at":"here"}' };
  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'e'.repeat(OPAQUE) };
  return Buffer.from(toSse(responsesEvents({ items: call ? [reasoning, said, ask] : [said] })));
}

/** The same answer on Messages. */
function messages(call: boolean): Buffer {
  const text = Array.from({ length: WORDS }, (_, index) => `word${index} `).join('');
  const thinking = { type: 'thinking', thinking: '', signature: 's'.repeat(OPAQUE) };
  const ask = { type: 'tool_use', id: 'CALL', name: 'look', input: { at: 'here' } };
  return Buffer.from(
    toSse(messagesEvents({ content: call ? [thinking, { type: 'text', text }, ask] : [{ type: 'text', text }] })),
  );
}

function serve(): void {
  const asked = new Map<string, number>();
  const answers = [
    { path: '/responses', calling: responses(true).toString(), ending: responses(false) },
    { path: '/messages', calling: messages(true).toString(), ending: messages(false) },
    { path: `${REASONS}/v1/chat/completions`, calling: chunks(true, true).toString(), ending: chunks(false, true) },
    { path: '/chat/completions', calling: chunks(true, false).toString(), ending: chunks(false, false) },
  ];
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      const run = request.url ?? '';
      const number = asked.get(run) ?? 0;
      asked.set(run, number + 1);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const answer = answers.find(({ path }) => run.endsWith(path));
      response.end(number < CYCLES ? answer?.calling.replaceAll('CALL', `call${number}`) : answer?.ending);
    });
  });
  server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as AddressInfo).port));
}

if (!isMainThread) serve();
