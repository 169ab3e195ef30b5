// A model without delay in its own thread. For each address, it answers CYCLES times with a call, then with text.
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

export const CYCLES = 400;
const WORDS = 16;

/** Each run has its own address, `<origin>/<run>/v1`. Resolves once the server listens. */
export async function startLoopbackModel(): Promise<{ origin: string; stop(): Promise<number> }> {
  const worker = new Worker(new URL(import.meta.url), { execArgv: [] });
  const port = await new Promise<number>((resolve) => worker.once('message', resolve));
  return { origin: `http://127.0.0.1:${port}`, stop: () => worker.terminate() };
}

/** Built once, because only the client is measured. */
function chunks(call: boolean): Buffer {
  const send = (choice: object, more: object = {}) =>
    `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 0, model: 'm', choices: [{ index: 0, ...choice }], ...more })}\n\n`;
  const words = Array.from({ length: WORDS }, (_, index) => send({ delta: { content: `word${index} ` } }));
  const ask = { index: 0, id: 'CALL', type: 'function', function: { name: 'look', arguments: '{"at":"here"}' } };
  const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
  return Buffer.from(
    [
      ...words,
      ...(call ? [send({ delta: { tool_calls: [ask] } })] : []),
      send({ delta: {}, finish_reason: call ? 'tool_calls' : 'stop' }),
      `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 0, model: 'm', choices: [], usage })}\n\n`,
      'data: [DONE]\n\n',
    ].join(''),
  );
}

function serve(): void {
  const asked = new Map<string, number>();
  const [calling, ending] = [chunks(true).toString(), chunks(false)];
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      const run = request.url ?? '';
      const number = asked.get(run) ?? 0;
      asked.set(run, number + 1);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(number < CYCLES ? calling.replace('CALL', `call${number}`) : ending);
    });
  });
  server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as AddressInfo).port));
}

if (!isMainThread) serve();
