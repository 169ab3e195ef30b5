// The one file that loads the openai package: sends a request and yields what its raw stream says.
import OpenAI from 'openai';
import { type ModelPart, type ModelRequest } from '../../core/ports/ports.ts';
import { describeBytes, discard, readStart, readWhole, TooLargeError } from '../../node/boundedBody.ts';
import { type EndpointFacts } from '../endpointMemory.ts';
import { StreamBrokenError, StreamError } from '../explain.ts';
import { loadImages, type OpenAiOptions, requestBody } from './openaiRequest.ts';
import { StreamAccumulator } from './openaiStream.ts';
import { MOST_EVENT_BYTES, SseReader } from './sse.ts';

/** Of one answer on the wire. A stream wraps each word of it in a few hundred bytes. */
const MOST_STREAM_BYTES = 128 * 1024 * 1024;
/** Of an error: what endpoints say fits in far less; the rest is a page of a proxy, or an attack. */
const MOST_ERROR_BYTES = 64 * 1024;
const SHOWN_OF_LONG_ERROR = 2000;

const clients = new WeakMap<OpenAiOptions, { key: string; client: OpenAI }>();

/** Throws what the package throws, a StreamError, or a TooLargeError; ends without `finished` if the stream was cut. */
export async function* requestChunks(
  options: OpenAiOptions,
  request: ModelRequest,
  knowledge: EndpointFacts,
  signal: AbortSignal,
): AsyncGenerator<ModelPart> {
  const client = clientFor(options, (await options.apiKey()) ?? 'none');
  const images = await loadImages(request);
  const response = await client.chat.completions
    .create(requestBody(options, request, knowledge, images), { signal })
    .asResponse();
  const type = response.headers.get('content-type') ?? '';
  const accumulator = new StreamAccumulator();
  if (type.includes('application/json')) {
    // A server that cannot stream answers in one piece.
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

/** Our own reading of the stream: the package's stops at the first odd chunk, and hides that an idle server lives. */
async function* read(body: ReadableStream<Uint8Array>, accumulator: StreamAccumulator): AsyncGenerator<ModelPart> {
  const reader = new SseReader();
  let characters = 0;
  for await (const bytes of bounded(body, () => characters)) {
    let silent = true;
    for (const data of reader.push(bytes)) {
      if (data === '[DONE]') {
        yield* accumulator.end();
        return;
      }
      // One by one: what came before a broken chunk was said.
      for (const part of accumulator.take(parseChunk(data))) {
        silent = false;
        if ('text' in part) characters += part.text.length;
        yield part;
      }
    }
    if (silent) yield { type: 'alive' };
  }
  for (const data of reader.end()) if (data !== '[DONE]') yield* accumulator.take(parseChunk(data));
  if (accumulator.isFinished) yield* accumulator.end();
}

/** The body up to its bound. What the network says from here on is no longer that the endpoint cannot be reached. */
async function* bounded(body: ReadableStream<Uint8Array>, characters: () => number): AsyncGenerator<Uint8Array> {
  const source = body[Symbol.asyncIterator]();
  let left = MOST_STREAM_BYTES;
  try {
    for (;;) {
      const next = await source.next().catch((error: unknown) => broken(characters())(error));
      if (next.done === true) return;
      left -= next.value.length;
      if (left < 0)
        throw new TooLargeError(`the stream of one answer is larger than ${describeBytes(MOST_STREAM_BYTES)}`);
      yield next.value;
    }
  } finally {
    // Cancels what was not read.
    await source.return?.();
  }
}

/** `characters` of the answer had come. */
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

/** Servers that have begun to stream can only say there what went wrong. */
function errorIn(error: unknown): StreamError {
  if (typeof error !== 'object' || error === null) return new StreamError('error', String(error));
  const { message, code } = error as { message?: unknown; code?: unknown };
  const text = typeof message === 'string' ? message : JSON.stringify(error);
  return new StreamError('error', text, typeof code === 'number' ? code : undefined);
}

/** One for each model and key, so that a turn's requests share what the package prepares. */
function clientFor(options: OpenAiOptions, key: string): OpenAI {
  const known = clients.get(options);
  if (known?.key === key) return known.client;
  const client = new OpenAI({
    baseURL: options.baseUrl,
    // Local servers want none, the package wants one.
    apiKey: key,
    // Retries are the loop's decision, and so is how long an answer may take.
    maxRetries: 0,
    timeout: 24 * 60 * 60 * 1000,
    logLevel: 'off',
    // The global one follows VS Code's proxy settings.
    fetch: async (...args) => withShortError(await globalThis.fetch(...args)),
  });
  clients.set(options, { key, client });
  return client;
}

/** The package reads the body of an error whole. */
async function withShortError(response: Response): Promise<Response> {
  if (response.ok || response.body === null) return response;
  // Where the connection breaks in the middle of it, the status is said all the same.
  const { text, cut } = await readStart(response, MOST_ERROR_BYTES).catch(() => ({ text: '', cut: false }));
  const shown = cut ? `${text.slice(0, SHOWN_OF_LONG_ERROR)}… (cut; more than ${MOST_ERROR_BYTES / 1024} KiB)` : text;
  const { status, statusText, headers } = response;
  return new Response(shown, { status, statusText, headers });
}
