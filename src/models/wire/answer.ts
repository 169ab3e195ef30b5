// Reads the answer of an endpoint and yields its parts: of a stream, or of one JSON body.
import { type ModelPart } from '../../core/ports/ports.ts';
import { describeBytes, discard, finishSoon, readWhole, TooLargeError } from '../../node/boundedBody.ts';
import { StreamBrokenError, StreamError } from '../explain.ts';
import { MOST_EVENT_BYTES, SseReader } from './sse.ts';

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

function parseChunk(data: string, accumulator: AnswerAccumulator): object {
  let chunk: unknown;
  try {
    chunk = JSON.parse(data);
  } catch {
    throw new StreamError('malformed', data.slice(0, 200));
  }
  if (typeof chunk !== 'object' || chunk === null || Array.isArray(chunk)) {
    throw new StreamError('malformed', data.slice(0, 200));
  }
  if ('error' in chunk && chunk.error !== null && chunk.error !== undefined) {
    const { error } = chunk;
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
