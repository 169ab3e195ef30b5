// An OpenAI-compatible server whose answers are data and whose received requests can be asserted, byte for byte.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';

/** One answer. Text is streamed in the given pieces; calls follow it. */
export interface ScriptedAnswer {
  readonly text?: readonly string[];
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly arguments: unknown }[];
  /** Answers with this status and error message instead. */
  readonly refuse?: { readonly status: number; readonly message: string };
  /** Ends the connection after the text, without a finish. */
  readonly cut?: boolean;
  /** Keeps the connection open after the text until the client goes. */
  readonly hang?: boolean;
}

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface ScriptedServer {
  readonly baseUrl: string;
  readonly requests: readonly ReceivedRequest[];
  /** Resolves with the request that has this number, counted from 0, once it is there. */
  request(number: number): Promise<ReceivedRequest>;
  /** Adds to the script. */
  script(...answers: ScriptedAnswer[]): void;
  stop(): Promise<void>;
}

/** A request beyond the script's end is refused with 500 and says so. */
export async function startScriptedServer(...script: ScriptedAnswer[]): Promise<ScriptedServer> {
  const answers = [...script];
  const requests: ReceivedRequest[] = [];
  const waiting: { number: number; resolve(request: ReceivedRequest): void }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const received = {
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
      };
      const number = requests.push(received) - 1;
      for (const one of waiting.filter((entry) => entry.number === number)) one.resolve(received);
      play(response, answers.shift() ?? { refuse: { status: 500, message: 'the script has ended' } });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    request: (number) => {
      const there = requests[number];
      if (there !== undefined) return Promise.resolve(there);
      return new Promise((resolve) => waiting.push({ number, resolve }));
    },
    script: (...more) => void answers.push(...more),
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function play(response: ServerResponse, answer: ScriptedAnswer): void {
  if (answer.refuse !== undefined) {
    response.writeHead(answer.refuse.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: answer.refuse.message, type: 'scripted' } }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (choice: object, more: object = {}) => {
    const chunk = { id: 'chunk', object: 'chat.completion.chunk', created: 0, model: 'scripted', ...more };
    response.write(`data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, ...choice }] })}\n\n`);
  };
  for (const content of answer.text ?? []) send({ delta: { content }, finish_reason: null });
  if (answer.hang === true) return;
  if (answer.cut === true) return void response.end();
  const calls = (answer.calls ?? []).map((call, index) => ({
    index,
    id: call.id,
    type: 'function',
    function: {
      name: call.name,
      arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments),
    },
  }));
  if (calls.length > 0) send({ delta: { tool_calls: calls }, finish_reason: null });
  send({ delta: {}, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' });
  const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
  response.write(
    `data: ${JSON.stringify({ id: 'chunk', object: 'chat.completion.chunk', created: 0, model: 'scripted', choices: [], usage })}\n\n`,
  );
  response.end('data: [DONE]\n\n');
}
