// Prints the messages of a growing conversation as JSON, and keeps the bytes of what later requests begin with.
import { type ModelMessage } from '../../core/ports/modelMessages.ts';

/** How many conversations' bytes are kept; the least recently used one is dropped first. */
const MOST_KEPT = 4;

/** The printed beginning of a conversation, with which every later request starts. */
interface Printed {
  readonly form: string;
  readonly messages: readonly ModelMessage[];
  /** Each element followed by a comma. */
  readonly bytes: Buffer;
}

/** Messages never change, so the same object is always printed the same. */
export class PrefixPrinter {
  #kept: readonly Printed[] = [];

  /**
   * `form`: everything else that the bytes depend on. `cycles`: how many of the last cycles later requests print
   * differently. Returns the elements of a JSON array, each followed by a comma.
   */
  print(
    messages: readonly ModelMessage[],
    { form, cycles }: { readonly form: string; readonly cycles: number },
    elements: (from: number, to: number) => readonly object[],
  ): Uint8Array[] {
    const part = (from: number, to: number) => printElements(elements(from, to));
    // Messages with images are not kept: they are large, and printed differently once their bytes are gone.
    if (messages.some(hasImages)) return [part(0, messages.length)];
    const known = this.#kept.find((one) => one.form === form && beginsWith(messages, one.messages));
    const from = known?.messages.length ?? 0;
    const to = Math.max(cycleStart(messages, cycles), from);
    const bytes = known === undefined ? part(from, to) : Buffer.concat([known.bytes, part(from, to)]);
    const others = this.#kept.filter((one) => one !== known);
    this.#kept = [{ form, messages: messages.slice(0, to), bytes }, ...others].slice(0, MOST_KEPT);
    return [bytes, part(to, messages.length)];
  }
}

/**
 * The index of the first of the last cycles: an assistant message after a tool result. Nothing is merged across this
 * point or inserted there, so both sides can be printed separately.
 */
function cycleStart(messages: readonly ModelMessage[], cycles: number): number {
  let left = cycles;
  for (let index = messages.length - 1; index > 0; index -= 1) {
    const message = messages[index];
    if (message?.role !== 'assistant' || messages[index - 1]?.role !== 'tool') continue;
    // An empty answer is not printed, so what surrounds it may be merged.
    if (message.content === '' && message.calls.length === 0) continue;
    left -= 1;
    if (left === 0) return index;
  }
  return 0;
}

/** Each element followed by a comma. */
export function printElements(elements: readonly object[]): Buffer {
  return Buffer.from(elements.map((element) => `${JSON.stringify(element)},`).join(''));
}

function beginsWith(messages: readonly ModelMessage[], start: readonly ModelMessage[]): boolean {
  // From the end: if the messages differ, they differ there first.
  for (let index = start.length - 1; index >= 0; index -= 1) if (messages[index] !== start[index]) return false;
  return true;
}

function hasImages(message: ModelMessage): boolean {
  if (message.role === 'assistant') return false;
  return message.images !== undefined || (message.role === 'tool' && message.resultImages !== undefined);
}

/** `{…rest, "name":[…elements]}` in UTF-8, where each of the elements ends with a comma. */
export function printBody(rest: object, name: string, elements: readonly Uint8Array[]): Buffer {
  const list = Buffer.concat(elements);
  return Buffer.concat([
    Buffer.from(`${JSON.stringify(rest).slice(0, -1)},${JSON.stringify(name)}:[`),
    list.subarray(0, -1),
    Buffer.from(']}'),
  ]);
}
