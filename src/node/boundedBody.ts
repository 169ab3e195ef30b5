// Reads decoded bodies of HTTP responses up to a limit, and cancels the rest; the name under which requests are sent.
import { ignore } from '../base/async.ts';

/** Servers normally end a body right after its content. Slower ones are not waited for. */
const END_MILLISECONDS = 1000;
const MOST_END_BYTES = 64 * 1024;

/** A body, or a part of it, exceeds the reader's limit. The message names the part and the limit. */
export class TooLargeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TooLargeError';
  }
}

export interface BodyStart {
  readonly text: string;
  /** The body is longer; the rest was not read. */
  readonly cut: boolean;
}

/** The first `most` bytes as UTF-8. Rejects with the network's error. */
export async function readStart(response: Response, most: number): Promise<BodyStart> {
  if (response.body === null) return { text: '', cut: false };
  const decoder = new TextDecoder();
  let [text, left, cut] = ['', most, false];
  for await (const bytes of response.body) {
    cut = bytes.length > left;
    text += decoder.decode(bytes.subarray(0, left), { stream: true });
    left -= bytes.length;
    // Leaving the loop cancels the body, and with it the connection.
    if (cut) break;
  }
  return { text: text + decoder.decode(), cut };
}

/** The whole body; rejects with a TooLargeError if it exceeds `most` bytes. */
export async function readWhole(response: Response, most: number, what: string): Promise<string> {
  const { text, cut } = await readStart(response, most);
  if (cut) throw new TooLargeError(`${what} is larger than ${describeBytes(most)}`);
  return text;
}

/** Closes the connection of a response whose body is not needed. */
export async function discard(response: Response): Promise<void> {
  await response.body?.cancel();
}

/**
 * Reads the end of a body whose content is complete, in the background. Only then can the connection be reused; a new
 * one costs several round trips.
 */
export function finishSoon(source: ReadableStreamDefaultReader<Uint8Array>): void {
  let left = MOST_END_BYTES;
  // It rejects with the error of the reads, which is handled below.
  const cancel = () => void source.cancel().catch(ignore);
  // This timer does not keep the process running.
  const late = AbortSignal.timeout(END_MILLISECONDS);
  late.addEventListener('abort', cancel);
  const finish = async () => {
    for (let next = await source.read(); !next.done; next = await source.read()) {
      left -= next.value.length;
      if (left < 0) cancel();
    }
  };
  // The content has arrived, so it does not matter if the connection breaks now.
  void finish()
    .catch(ignore)
    .finally(() => late.removeEventListener('abort', cancel));
}

/** `most` is a whole number of MiB. */
export function describeBytes(most: number): string {
  return `${most / (1024 * 1024)} MiB`;
}

/** The name under which Earshot sends HTTP requests. Contains nothing about this machine. */
export const USER_AGENT = 'Earshot (VS Code extension)';
