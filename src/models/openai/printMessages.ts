// Prints the messages of a request as JSON in UTF-8, and reuses the bytes that an earlier request of the same
// conversation printed.
import { type ModelMessage } from '../../core/ports/modelMessages.ts';
import { type ModelRequest } from '../../core/ports/ports.ts';
import { type EndpointProfile } from '../profile.ts';
import { type Images, shapeMessages, systemMessage } from './openaiWire.ts';

/** How many conversations' bytes are kept; the least recently used one is dropped first. */
const MOST_KEPT = 4;

/** The printed beginning of a conversation, with which every later request starts. */
interface Printed {
  readonly profile: string;
  readonly messages: readonly ModelMessage[];
  /** Each message followed by a comma. */
  readonly bytes: Buffer;
}

/** Messages never change, so the same object is always printed the same. */
export class MessagePrinter {
  #kept: readonly Printed[] = [];

  /** The elements of a JSON array, each followed by a comma. */
  print(request: ModelRequest, profile: EndpointProfile, images?: Images): Uint8Array[] {
    const system = print([systemMessage(request, profile)]);
    const { messages } = request;
    const part = (from: number, to: number) =>
      print(shapeMessages(messages.slice(from, to), profile, { images, isStart: from === 0 }));
    // Messages with images are not kept: they are large, and printed differently once their bytes are gone.
    if (messages.some(hasImages)) return [system, part(0, messages.length)];
    const key = JSON.stringify(profile);
    const known = this.#kept.find((one) => one.profile === key && beginsWith(messages, one.messages));
    const from = known?.messages.length ?? 0;
    const to = Math.max(lastCycle(messages), from);
    const bytes = known === undefined ? part(from, to) : Buffer.concat([known.bytes, part(from, to)]);
    const others = this.#kept.filter((one) => one !== known);
    this.#kept = [{ profile: key, messages: messages.slice(0, to), bytes }, ...others].slice(0, MOST_KEPT);
    return [system, bytes, part(to, messages.length)];
  }
}

/**
 * The index of the last cycle: an assistant message after a tool result. Nothing is merged across this point or
 * inserted there, so both sides can be printed separately.
 */
function lastCycle(messages: readonly ModelMessage[]): number {
  for (let index = messages.length - 1; index > 0; index -= 1) {
    if (messages[index]?.role === 'assistant' && messages[index - 1]?.role === 'tool') return index;
  }
  return 0;
}

function print(messages: readonly object[]): Buffer {
  return Buffer.from(messages.map((message) => `${JSON.stringify(message)},`).join(''));
}

function beginsWith(messages: readonly ModelMessage[], start: readonly ModelMessage[]): boolean {
  // From the end: if the messages differ, they differ there first.
  for (let index = start.length - 1; index >= 0; index -= 1) if (messages[index] !== start[index]) return false;
  return true;
}

function hasImages(message: ModelMessage): boolean {
  return message.role !== 'assistant' && message.images !== undefined;
}
