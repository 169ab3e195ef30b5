// Reads bodies of HTTP answers up to a bound, unpacked, and cancels what lies beyond it.

/** A body, or a part of it, was larger than whoever reads it allows. The message says which part and what the bound is. */
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

/** The first `most` bytes as UTF-8. Rejects with what the network says. */
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

/** All of it; rejects with a TooLargeError if that is more than `most` bytes. */
export async function readWhole(response: Response, most: number, what: string): Promise<string> {
  const { text, cut } = await readStart(response, most);
  if (cut) throw new TooLargeError(`${what} is larger than ${describeBytes(most)}`);
  return text;
}

/** Ends the connection of an answer whose body nobody wants. */
export async function discard(response: Response): Promise<void> {
  await response.body?.cancel();
}

/** `most` is a whole number of MiB. */
export function describeBytes(most: number): string {
  return `${most / (1024 * 1024)} MiB`;
}
