// Sends a request with the openai package and yields the parts of its raw stream. No other file loads the package.
import OpenAI from 'openai';
import { type ModelPart, type ModelRequest } from '../../core/ports/ports.ts';
import { describeBytes, discard, finishSoon, readStart, readWhole, TooLargeError } from '../../node/boundedBody.ts';
import { type EndpointFacts } from '../endpointMemory.ts';
import { StreamBrokenError, StreamError } from '../explain.ts';
import { loadImages, type OpenAiOptions, printBody } from './openaiRequest.ts';
import { StreamAccumulator } from './openaiStream.ts';
import { MessagePrinter } from './printMessages.ts';
import { MOST_EVENT_BYTES, SseReader } from './sse.ts';

/** Limit of one answer on the wire. A stream wraps each word in a few hundred bytes. */
const MOST_STREAM_BYTES = 128 * 1024 * 1024;
/** Limit of an error body: messages of endpoints are far shorter; more is a proxy's page or an attack. */
const MOST_ERROR_BYTES = 64 * 1024;
const SHOWN_OF_LONG_ERROR = 2000;

interface Known {
  readonly key: string;
  readonly client: OpenAI;
  readonly printer: MessagePrinter;
}

const clients = new WeakMap<OpenAiOptions, Known>();

/** Throws the package's errors, a StreamError or a TooLargeError. Ends without `finished` if the stream was cut. */
export async function* requestChunks(
  options: OpenAiOptions,
  request: ModelRequest,
  facts: EndpointFacts,
  signal: AbortSignal,
): AsyncGenerator<ModelPart> {
  const { client, printer } = clientFor(options, (await options.apiKey()) ?? 'none');
  const images = await loadImages(request);
  const response = await client
    .post('/chat/completions', {
      // Sent as bytes: the package would print the whole conversation again for each request.
      body: printBody(options, request, facts, images, printer),
      headers: { 'content-type': 'application/json' },
      stream: true,
      signal,
    })
    .asResponse();
  const type = response.headers.get('content-type') ?? '';
  const accumulator = new StreamAccumulator();
  if (type.includes('application/json')) {
    // A server that cannot stream sends one JSON body.
    yield* accumulator.take(parseChunk(await readWhole(response, MOST_EVENT_BYTES, 'the answer').catch(broken(0))));
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
async function* read(body: ReadableStream<Uint8Array>, accumulator: StreamAccumulator): AsyncGenerator<ModelPart> {
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
      for (const part of accumulator.take(parseChunk(data))) {
        silent = false;
        if ('text' in part) progress.characters += part.text.length;
        yield part;
      }
    }
    if (silent) yield { type: 'alive' };
  }
  for (const data of reader.end()) if (data !== '[DONE]') yield* accumulator.take(parseChunk(data));
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
    else await source.cancel().catch(() => undefined);
  }
}

/** `characters`: how many of the answer had arrived. */
function broken(characters: number): (error: unknown) => never {
  return (error) => {
    if (error instanceof TooLargeError) throw error;
    throw new StreamBrokenError(characters, error);
  };
}

type Chunk = Parameters<StreamAccumulator['take']>[0];

function parseChunk(data: string): Chunk {
  let chunk: unknown;
  try {
    chunk = JSON.parse(data);
  } catch {
    throw new StreamError('malformed', data.slice(0, 200));
  }
  if (typeof chunk !== 'object' || chunk === null || Array.isArray(chunk)) {
    throw new StreamError('malformed', data.slice(0, 200));
  }
  if ('error' in chunk && chunk.error !== null && chunk.error !== undefined) throw errorIn(chunk.error);
  return chunk;
}

/** Servers that have started to stream report errors inside the stream. */
function errorIn(error: unknown): StreamError {
  if (typeof error !== 'object' || error === null) return new StreamError('error', String(error));
  const { message, code } = error as { message?: unknown; code?: unknown };
  const text = typeof message === 'string' ? message : JSON.stringify(error);
  return new StreamError('error', text, typeof code === 'number' ? code : undefined);
}

/** One client for each model and key, reused by later requests. */
function clientFor(options: OpenAiOptions, key: string): Known {
  const known = clients.get(options);
  if (known?.key === key) return known;
  const client = new OpenAI({
    baseURL: options.baseUrl,
    // Local servers need no key, but the package requires one.
    apiKey: key,
    // The agent loop decides about retries and timeouts.
    maxRetries: 0,
    timeout: 24 * 60 * 60 * 1000,
    logLevel: 'off',
    // The global fetch follows VS Code's proxy settings.
    fetch: async (...args) => withShortError(await globalThis.fetch(...args)),
  });
  const made = { key, client, printer: new MessagePrinter() };
  clients.set(options, made);
  return made;
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
