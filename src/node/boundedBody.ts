// Reads decoded bodies of HTTP responses up to a limit, and cancels the rest.

/** A body, or a part of it, exceeds the reader's limit. The message names the part and the limit. */
export class TooLargeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TooLargeError';
  }
}

export interface BodyStart {
  readonly text: string;
  /** There was more, which was not read. */
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

/** `most` is a whole number of MiB. */
export function describeBytes(most: number): string {
  return `${most / (1024 * 1024)} MiB`;
}
