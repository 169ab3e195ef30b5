// An OpenAI-compatible server with scripted answers that records requests byte for byte.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { TITLE_PROMPT } from '../../../src/core/agent/titles.ts';

export interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly code?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One answer: reasoning, then text in the given chunks, then calls. The other fields are faults and peculiarities. */
export interface ScriptedAnswer {
  readonly reasoning?: readonly string[];
  readonly text?: readonly string[];
  /** Deltas that are sent first, as they are. */
  readonly deltas?: readonly object[];
  readonly calls?: readonly {
    readonly id: string;
    readonly name: string;
    readonly arguments: unknown;
    /** Sent as `extra_content`. */
    readonly extra?: object;
  }[];
  /** Sends each call in its own chunk and its arguments in two, with indexes as some servers send them. */
  readonly indexes?: 'missing' | 'all_zero' | 'from_one';
  readonly finish?: string;
  /** With null, no usage is sent. */
  readonly usage?: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly cost?: number;
  } | null;
  /** Answers with this status and error message instead. */
  readonly refuse?: Refusal;
  /** Ends the connection after the text, without a finish reason. */
  readonly cut?: boolean;
  /** Breaks the connection after the text. */
  readonly broken?: boolean;
  /** Breaks the connection before any answer. */
  readonly reset?: boolean;
  /** Keeps the connection open after the text until the client disconnects or `release` is called. */
  readonly hang?: boolean;
  /** Text that is sent unchanged after the answer's text. */
  readonly raw?: string;
  /** Sends the whole answer at once, like a server that cannot stream. */
  readonly unstreamed?: boolean;
}

/** A listed model with what the endpoint says about it; prices in US dollars for each token. */
interface OfferedModel {
  readonly id: string;
  readonly context_length?: number;
  readonly pricing?: { readonly prompt: string; readonly completion: string };
}

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface ScriptedServer {
  readonly baseUrl: string;
  readonly requests: readonly ReceivedRequest[];
  /** Title requests, which may arrive at any time, are not answered from the script. */
  readonly titleRequests: readonly ReceivedRequest[];
  /** Resolves with the request of this number, counted from 0, once it has arrived. */
  request(number: number): Promise<ReceivedRequest>;
  /** Adds to the script. */
  script(...answers: ScriptedAnswer[]): void;
  /** Replaces the rest of the script. */
  restart(...answers: ScriptedAnswer[]): void;
  /** Refuses requests by this rule before the script is used. */
  refuseIf(rule: (body: Readonly<Record<string, unknown>>) => Refusal | undefined): void;
  /** Sets the models to list and the key that the list requires; other requests accept any key. */
  offer(models: readonly (string | OfferedModel)[], key?: string): void;
  /** Refuses to list models; undefined: lists them again. */
  refuseList(refusal: Refusal | undefined): void;
  /** Lets the hanging answer continue to its end. */
  release(): void;
  stop(): Promise<void>;
}

/** A request after the end of the script is refused with status 400 and a message that says so. */
export async function startScriptedServer(...script: ScriptedAnswer[]): Promise<ScriptedServer> {
  const answers = [...script];
  const requests: ReceivedRequest[] = [];
  const titleRequests: ReceivedRequest[] = [];
  const waiting: { number: number; resolve(request: ReceivedRequest): void }[] = [];
  const hanging: (() => void)[] = [];
  let offered: { models: readonly (string | OfferedModel)[]; key?: string } = { models: ['scripted'] };
  let listRefusal: Refusal | undefined;
  let rule: (body: Readonly<Record<string, unknown>>) => Refusal | undefined = () => undefined;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const received = {
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
      };
      if (request.method === 'GET') {
        if (listRefusal !== undefined) return refuse(response, listRefusal);
        const refused = offered.key !== undefined && request.headers.authorization !== `Bearer ${offered.key}`;
        response.writeHead(refused ? 401 : 200, { 'content-type': 'application/json' });
        response.end(
          JSON.stringify({ data: offered.models.map((one) => (typeof one === 'string' ? { id: one } : one)) }),
        );
        return;
      }
      if (received.body.includes(JSON.stringify(TITLE_PROMPT))) {
        titleRequests.push(received);
        play(response, { text: ['A title'] }, hanging);
        return;
      }
      const number = requests.push(received) - 1;
      for (const one of waiting.filter((entry) => entry.number === number)) one.resolve(received);
      const refused = rule(JSON.parse(received.body) as Readonly<Record<string, unknown>>);
      const ended = { refuse: { status: 400, message: 'the script has ended' } };
      play(response, refused === undefined ? (answers.shift() ?? ended) : { refuse: refused }, hanging);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    titleRequests,
    request: (number) => {
      const there = requests[number];
      if (there !== undefined) return Promise.resolve(there);
      return new Promise((resolve) => waiting.push({ number, resolve }));
    },
    script: (...more) => void answers.push(...more),
    restart: (...next) => void answers.splice(0, answers.length, ...next),
    refuseIf: (next) => {
      rule = next;
    },
    offer: (models, key) => {
      offered = { models, ...(key !== undefined && { key }) };
    },
    refuseList: (refusal) => {
      listRefusal = refusal;
    },
    release: () => hanging.shift()?.(),
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function play(response: ServerResponse, answer: ScriptedAnswer, hanging: (() => void)[]): void {
  if (answer.reset === true) return void response.destroy();
  if (answer.refuse !== undefined) return refuse(response, answer.refuse);
  if (answer.unstreamed === true) return whole(response, answer);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const delta of answer.deltas ?? []) send(response, { delta });
  for (const text of answer.reasoning ?? []) send(response, { delta: { reasoning_content: text } });
  for (const content of answer.text ?? []) send(response, { delta: { content }, finish_reason: null });
  if (answer.raw !== undefined) response.write(answer.raw);
  // Headers are sent even for an empty answer, so that the client sees that the response has started.
  response.flushHeaders();
  if (answer.hang === true) return hang(response, () => finish(response, answer), hanging);
  if (answer.broken === true) return void response.write(': sent\n\n', () => response.destroy());
  if (answer.cut === true) return void response.end();
  finish(response, answer);
}

/** An answer whose client has disconnected can no longer be released. */
function hang(response: ServerResponse, release: () => void, hanging: (() => void)[]): void {
  hanging.push(release);
  response.once('close', () => {
    const index = hanging.indexOf(release);
    if (index >= 0) hanging.splice(index, 1);
  });
}

function refuse(response: ServerResponse, { status, message, code, headers }: Refusal): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ error: { message, type: 'scripted', ...(code !== undefined && { code }) } }));
}

function finish(response: ServerResponse, answer: ScriptedAnswer): void {
  const calls = wireCalls(answer);
  if (answer.indexes === undefined) {
    if (calls.length > 0) send(response, { delta: { tool_calls: calls }, finish_reason: null });
  } else {
    for (const [number, call] of calls.entries()) sendInPieces(response, call, number, answer.indexes);
  }
  send(response, { delta: {}, finish_reason: finishReason(answer) });
  if (answer.usage !== null) write(response, { choices: [], usage: answer.usage ?? USAGE });
  response.end('data: [DONE]\n\n');
}

const USAGE = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };

type WireCall = ReturnType<typeof wireCalls>[number];

function wireCalls(answer: ScriptedAnswer) {
  return (answer.calls ?? []).map((call, index) => ({
    index,
    id: call.id,
    type: 'function',
    function: {
      name: call.name,
      arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments),
    },
    ...(call.extra !== undefined && { extra_content: call.extra }),
  }));
}

function sendInPieces(
  response: ServerResponse,
  { index: _right, ...call }: WireCall,
  number: number,
  indexes: NonNullable<ScriptedAnswer['indexes']>,
): void {
  const index = { missing: {}, all_zero: { index: 0 }, from_one: { index: number + 1 } }[indexes];
  const { name, arguments: text } = call.function;
  const first = { ...index, ...call, function: { name, arguments: text.slice(0, 3) } };
  const second = { ...index, function: { arguments: text.slice(3) } };
  for (const piece of [first, second]) send(response, { delta: { tool_calls: [piece] }, finish_reason: null });
}

function finishReason(answer: ScriptedAnswer): string {
  return answer.finish ?? ((answer.calls ?? []).length > 0 ? 'tool_calls' : 'stop');
}

function whole(response: ServerResponse, answer: ScriptedAnswer): void {
  const message = {
    role: 'assistant',
    content: (answer.text ?? []).join(''),
    tool_calls: wireCalls(answer).map(({ index: _index, ...call }) => call),
  };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: finishReason(answer) }], usage: USAGE }));
}

function send(response: ServerResponse, choice: object): void {
  write(response, { choices: [{ index: 0, ...choice }] });
}

function write(response: ServerResponse, more: object): void {
  const chunk = { id: 'chunk', object: 'chat.completion.chunk', created: 0, model: 'scripted', ...more };
  response.write(`data: ${JSON.stringify(chunk)}\n\n`);
}
