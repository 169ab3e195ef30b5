// Sends requests to an endpoint, with allowed headers only, and reads answers: lines, events and parts, all bounded. No
// other file loads the openai package.
import { parseObject } from '../../base/json/outsideJson.ts';
import type OpenAI from 'openai';
import {
  readStart,
  describeBytes,
  discard,
  finishSoon,
  readWhole,
  TooLargeError,
  USER_AGENT,
} from '../../node/boundedBody.ts';
import { apiBase, keyHeaders } from '../api.ts';
import { type EndpointOptions } from './endpoint.ts';
import { ignore } from '../../base/async.ts';
import { type ModelPart } from '../../core/ports/ports.ts';
import { StreamBrokenError, StreamError } from '../explain.ts';

/** Limit of an error body: messages of endpoints are far shorter; more is a proxy's page or an attack. */
const MOST_ERROR_BYTES = 64 * 1024;
const SHOWN_OF_LONG_ERROR = 2000;

/**
 * Sends these headers and no others, to the configured endpoint only: packages take headers, keys and addresses
 * from the environment too, and describe this machine.
 */
export async function sendOnlyAllowed(
  options: Pick<EndpointOptions, 'baseUrl' | 'headers'>,
  url: string | URL | Request,
  request: Readonly<Record<string, string>>,
  init: RequestInit = {},
): Promise<Response> {
  if (url instanceof Request || new URL(url).origin !== new URL(options.baseUrl).origin) {
    throw new Error('the request is not addressed to the configured endpoint');
  }
  const headers = new Headers(options.headers);
  const own = { accept: 'application/json', 'content-type': 'application/json', 'user-agent': USER_AGENT, ...request };
  for (const [name, value] of Object.entries(own)) headers.set(name, value);
  // In a redirect to another host, fetch leaves out the authorization, but no other header.
  const isSafe = options.headers === undefined && !('x-api-key' in request) && !('api-key' in request);
  // The global fetch follows VS Code's proxy settings.
  return withShortError(await globalThis.fetch(url, { ...init, headers, redirect: isSafe ? 'follow' : 'error' }));
}

/** Limits error bodies, which the package reads completely. */
async function withShortError(response: Response): Promise<Response> {
  if (response.ok || response.body === null) return response;
  // If the connection breaks during the body, the status is still reported.
  const { text, cut } = await readStart(response, MOST_ERROR_BYTES).catch(() => ({ text: '', cut: false }));
  const shown = cut ? `${text.slice(0, SHOWN_OF_LONG_ERROR)}… (cut; more than ${MOST_ERROR_BYTES / 1024} KiB)` : text;
  const { status, statusText, headers } = response;
  return new Response(shown, { status, statusText, headers });
}

const clients = new WeakMap<EndpointOptions, { readonly key: string; readonly client: OpenAI }>();

/** Posts a body with the openai package, which is loaded with the first request. Throws the package's errors. */
export async function post(
  options: EndpointOptions,
  path: string,
  body: Uint8Array,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const client = await clientFor(options, (await options.apiKey()) ?? 'none');
  // Sent as bytes: the package would print the whole conversation again for each request.
  return client.post(path, { body, stream: true, signal, headers: marked(headers) }).asResponse();
}

/** Tells the headers of a request from those that the package adds. */
const MARK = 'x-earshot-';

function marked(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [`${MARK}${name}`, value]));
}

function unmarked(headers: Headers): Record<string, string> {
  const own = [...headers].filter(([name]) => name.startsWith(MARK));
  return Object.fromEntries(own.map(([name, value]) => [name.slice(MARK.length), value]));
}

/** One client for each model and key, reused by later requests. */
async function clientFor(options: EndpointOptions, key: string): Promise<OpenAI> {
  const known = clients.get(options);
  if (known?.key === key) return known.client;
  const { default: Client } = await import('openai');
  const client = new Client({
    baseURL: apiBase('chat', options.baseUrl),
    // Local servers need no key, but the package requires one.
    apiKey: key,
    // Without these, the package reads variables of the environment.
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    // The agent loop decides about retries and timeouts.
    maxRetries: 0,
    timeout: 24 * 60 * 60 * 1000,
    logLevel: 'off',
    fetch: (url, init) => {
      const headers = { ...unmarked(new Headers(init?.headers)), ...keyHeaders('chat', options.baseUrl, key) };
      return sendOnlyAllowed(options, url, headers, init);
    },
  });
  clients.set(options, { key, client });
  return client;
}

/** Limit of one answer on the wire. A stream wraps each word in a few hundred bytes. */
const MOST_STREAM_BYTES = 128 * 1024 * 1024;

/** Turns the events of one API's stream into parts of an answer. */
export interface AnswerAccumulator {
  /** Takes the next event. Returns the parts that can be shown already. */
  take(event: object): readonly ModelPart[];
  /** Whether the stream may end here without `[DONE]`. */
  readonly isFinished: boolean;
  /** Whether nothing can follow: the rest of the stream is not waited for. Absent: `[DONE]` says it. */
  readonly isComplete?: boolean;
  /** Absent: an error inside the stream ends the answer, and a retry may succeed. */
  errorIn?(error: object): Error;
  /** The parts that are known only at the end; `finished` is the last one. */
  end(): readonly ModelPart[];
}

/** Throws a StreamError or a TooLargeError. Ends without `finished` if the stream was cut. */
export async function* readAnswer(response: Response, accumulator: AnswerAccumulator): AsyncGenerator<ModelPart> {
  const type = response.headers.get('content-type') ?? '';
  if (type.includes('application/json')) {
    // A server that cannot stream sends one JSON body.
    const whole = await readWhole(response, MOST_EVENT_BYTES, 'the answer').catch(broken(0));
    yield* accumulator.take(parseChunk(whole, accumulator));
    yield* accumulator.end();
    return;
  }
  if (response.body === null || type.includes('text/html')) {
    await discard(response);
    throw new StreamError('no_stream', type || 'an empty answer');
  }
  yield* read(response.body, accumulator);
}

/** Replaces the package's stream reader, which stops at the first malformed chunk and hides keep-alive comments. */
async function* read(body: ReadableStream<Uint8Array>, accumulator: AnswerAccumulator): AsyncGenerator<ModelPart> {
  const reader = new SseReader();
  const progress: Progress = { characters: 0, done: false };
  for await (const bytes of bounded(body, progress)) {
    let silent = true;
    for (const data of reader.push(bytes)) {
      if (data === '[DONE]') {
        progress.done = true;
        yield* accumulator.end();
        return;
      }
      // Yields each part at once, so that the parts before a malformed chunk are shown.
      for (const part of accumulator.take(parseChunk(data, accumulator))) {
        silent = false;
        if ('text' in part) progress.characters += part.text.length;
        yield part;
      }
      if (accumulator.isComplete === true) {
        progress.done = true;
        yield* accumulator.end();
        return;
      }
    }
    if (silent) yield { type: 'alive' };
  }
  for (const data of reader.end()) if (data !== '[DONE]') yield* accumulator.take(parseChunk(data, accumulator));
  if (accumulator.isFinished) yield* accumulator.end();
}

interface Progress {
  /** Characters of the answer that have arrived. */
  characters: number;
  /** Whether the server has announced the end of the stream. */
  done: boolean;
}

/** The body up to its limit. Network errors from here on mean a broken stream, not an unreachable endpoint. */
async function* bounded(body: ReadableStream<Uint8Array>, progress: Progress): AsyncGenerator<Uint8Array> {
  const source = body.getReader();
  let left = MOST_STREAM_BYTES;
  try {
    for (;;) {
      const next = await source.read().catch((error: unknown) => broken(progress.characters)(error));
      if (next.done) return;
      left -= next.value.length;
      if (left < 0)
        throw new TooLargeError(`the stream of one answer is larger than ${describeBytes(MOST_STREAM_BYTES)}`);
      yield next.value;
    }
  } finally {
    if (progress.done) finishSoon(source);
    // Rejects if the stream is broken; the loop has already reported that.
    else await source.cancel().catch(ignore);
  }
}

/** `characters`: how many of the answer had arrived. */
function broken(characters: number): (error: unknown) => never {
  return (error) => {
    if (error instanceof TooLargeError) throw error;
    throw new StreamBrokenError(characters, error);
  };
}

function parseChunk(data: string, accumulator: AnswerAccumulator): object {
  const chunk = parseObject(data);
  if (chunk === undefined) throw new StreamError('malformed', data.slice(0, 200));
  const { error } = chunk;
  if (error !== null && error !== undefined) {
    throw accumulator.errorIn !== undefined && typeof error === 'object' ? accumulator.errorIn(error) : errorIn(error);
  }
  return chunk;
}

/** Servers that have started to stream report errors inside the stream. */
function errorIn(error: unknown): StreamError {
  if (typeof error !== 'object' || error === null) return new StreamError('error', String(error));
  const { message, code } = error as { message?: unknown; code?: unknown };
  const text = typeof message === 'string' ? message : JSON.stringify(error);
  return new StreamError('error', text, typeof code === 'number' ? code : undefined);
}

/** Limit of one event, which bounds memory. */
const MOST_EVENT_BYTES = 16 * 1024 * 1024;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const FIELD = new TextEncoder().encode('data:');
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

export class SseReader {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  /** The incomplete line, and the data of the incomplete event, as bytes. */
  readonly #line = new Bytes();
  readonly #data = new Bytes();
  /** Bytes received for the data of the event so far, including field names; 0: no data yet. */
  #sent = 0;
  #isFirst = true;

  /** Returns the events that these bytes complete. Keep-alive comments are no events. */
  push(bytes: Uint8Array): string[] {
    const events: string[] = [];
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
      const piece = bytes.subarray(start, end);
      start = end + 1;
      this.#readLine(this.#line.length === 0 ? piece : this.#line.with(piece), events);
      this.#line.clear();
    }
    this.#line.add(bytes.subarray(start));
    this.#check();
    return events;
  }

  /** Ends the stream. The last event may lack its blank line. */
  end(): string[] {
    return this.push(Uint8Array.of(LINE_FEED, LINE_FEED));
  }

  #readLine(bytes: Uint8Array, events: string[]): void {
    const line = withoutMark(bytes.at(-1) === CARRIAGE_RETURN ? bytes.subarray(0, -1) : bytes, this.#isFirst);
    this.#isFirst = false;
    if (line.length === 0) {
      if (this.#sent > 0) events.push(this.#decoder.decode(this.#data.all()));
      this.#sent = 0;
      this.#data.clear();
    } else if (FIELD.every((byte, index) => line[index] === byte)) {
      if (this.#sent > 0) this.#data.add(Uint8Array.of(LINE_FEED));
      this.#sent += bytes.length + 1;
      this.#data.add(line.subarray(line[FIELD.length] === SPACE ? FIELD.length + 1 : FIELD.length));
      this.#check();
    }
  }

  #check(): void {
    if (this.#line.length + this.#sent <= MOST_EVENT_BYTES) return;
    throw new TooLargeError(`one event of the stream is larger than ${describeBytes(MOST_EVENT_BYTES)}`);
  }
}

function withoutMark(line: Uint8Array, isFirst: boolean): Uint8Array {
  const marked = isFirst && BYTE_ORDER_MARK.every((byte, index) => line[index] === byte);
  return marked ? line.subarray(BYTE_ORDER_MARK.length) : line;
}

const SMALLEST = 4096;

/** A growing buffer; each byte is copied a bounded number of times. */
class Bytes {
  #buffer = new Uint8Array(SMALLEST);
  length = 0;

  add(bytes: Uint8Array): void {
    const length = this.length + bytes.length;
    if (length > this.#buffer.length) {
      const larger = new Uint8Array(Math.max(length, this.#buffer.length * 2));
      larger.set(this.all());
      this.#buffer = larger;
    }
    this.#buffer.set(bytes, this.length);
    this.length = length;
  }

  with(bytes: Uint8Array): Uint8Array {
    this.add(bytes);
    return this.all();
  }

  /** Valid until the next change. */
  all(): Uint8Array {
    return this.#buffer.subarray(0, this.length);
  }

  /** Frees a large buffer; reuses a small one. */
  clear(): void {
    this.length = 0;
    if (this.#buffer.length > SMALLEST * 256) this.#buffer = new Uint8Array(SMALLEST);
  }
}
