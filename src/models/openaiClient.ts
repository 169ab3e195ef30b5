// The one file that loads the openai package: sends a request and yields what its raw stream says.
import OpenAI from 'openai';
import { type ModelPart, type ModelRequest } from '../core/ports.ts';
import { type EndpointKnowledge } from './endpointMemory.ts';
import { StreamError } from './explain.ts';
import { loadImages } from './images.ts';
import { type OpenAiOptions } from './openai.ts';
import { requestBody } from './openaiBody.ts';
import { StreamAccumulator } from './openaiStream.ts';
import { SseReader } from './sse.ts';

const clients = new WeakMap<OpenAiOptions, { key: string; client: OpenAI }>();

/** Throws what the package throws, or a StreamError; ends without `finished` if the stream was cut. */
export async function* requestChunks(
  options: OpenAiOptions,
  request: ModelRequest,
  knowledge: EndpointKnowledge,
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
    yield* accumulator.take(parseChunk(await response.text()));
    yield* accumulator.end();
    return;
  }
  if (response.body === null || type.includes('text/html'))
    throw new StreamError('no_stream', type || 'an empty answer');
  yield* read(response.body, accumulator);
}

/** Our own reading of the stream: the package's stops at the first odd chunk, and hides that an idle server lives. */
async function* read(body: ReadableStream<Uint8Array>, accumulator: StreamAccumulator): AsyncGenerator<ModelPart> {
  const reader = new SseReader();
  for await (const bytes of body) {
    let silent = true;
    for (const data of reader.push(bytes)) {
      if (data === '[DONE]') {
        yield* accumulator.end();
        return;
      }
      // One by one: what came before a broken chunk was said.
      for (const part of accumulator.take(parseChunk(data))) {
        silent = false;
        yield part;
      }
    }
    if (silent) yield { type: 'alive' };
  }
  for (const data of reader.end()) if (data !== '[DONE]') yield* accumulator.take(parseChunk(data));
  if (accumulator.isFinished) yield* accumulator.end();
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
    fetch: (...args) => globalThis.fetch(...args),
  });
  clients.set(options, { key, client });
  return client;
}
