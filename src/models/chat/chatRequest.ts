// Prints a request and sends it.
import { type ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions';
import { type ModelMessage } from '../../core/ports/modelMessages.ts';
import { type ModelRequest } from '../../core/ports/ports.ts';
import { type EndpointFacts, type OptionalParameter } from '../endpointMemory.ts';
import { type EndpointProfile, endpointLabel } from '../profile.ts';
import { type EndpointOptions, post } from '../wire/client.ts';
import { type Images, shapeMessages, systemMessage, toWireTools } from './chatMessages.ts';

/** How many conversations' bytes are kept; the least recently used one is dropped first. */
const MOST_KEPT = 4;

const printers = new WeakMap<EndpointOptions, MessagePrinter>();

/** Throws the package's errors. */
export async function sendRequest(
  options: EndpointOptions,
  request: ModelRequest,
  facts: EndpointFacts,
  signal: AbortSignal,
): Promise<Response> {
  const printer = printers.get(options) ?? new MessagePrinter();
  printers.set(options, printer);
  const images = await loadImages(request);
  return post(options, '/chat/completions', printBody(options, request, facts, images, printer), signal);
}

/** Returns JSON in UTF-8. `printer` belongs to the model and reuses what earlier requests printed. */
export function printBody(
  { baseUrl, model, options = {} }: EndpointOptions,
  request: ModelRequest,
  { profile, without }: EndpointFacts,
  images: Images,
  printer: MessagePrinter,
): Buffer {
  const tools = toWireTools(request);
  const takes = (parameter: OptionalParameter) => !without.includes(parameter);
  const limit = endpointLabel(baseUrl) === 'OpenAI' ? 'max_completion_tokens' : 'max_tokens';
  const messages = Buffer.concat(printer.print(request, profile, takes('image_url') ? images : undefined));
  const rest: Omit<ChatCompletionCreateParamsStreaming, 'model' | 'messages'> = {
    ...(tools.length > 0 && { tools }),
    ...(options.temperature !== undefined && takes('temperature') && { temperature: options.temperature }),
    ...(options.reasoningEffort !== undefined &&
      takes('reasoning_effort') && { reasoning_effort: options.reasoningEffort }),
    ...(options.maxTokens !== undefined && { [limit]: options.maxTokens }),
    ...(request.schema !== undefined && takes('response_format') && { response_format: jsonSchema(request.schema) }),
    stream: true,
    ...(takes('stream_options') && { stream_options: { include_usage: true } }),
  };
  return Buffer.concat([
    Buffer.from(`{"model":${JSON.stringify(model)},"messages":[`),
    // Without the comma after the last message.
    messages.subarray(0, -1),
    Buffer.from(`],${JSON.stringify(rest).slice(1)}`),
  ]);
}

function jsonSchema(schema: Readonly<Record<string, unknown>>) {
  return { type: 'json_schema' as const, json_schema: { name: 'answer', schema: { ...schema } } };
}

/** Reads the images that the messages name, as data URLs. Images whose bytes are gone are left out. */
export async function loadImages({ messages, image }: ModelRequest): Promise<Images> {
  const images = new Map<string, string>();
  for (const message of messages) {
    if (message.role === 'assistant' || message.images === undefined) continue;
    for (const { hash, mediaType } of message.images) {
      const bytes = images.has(hash) ? undefined : await image?.(hash);
      if (bytes !== undefined) images.set(hash, `data:${mediaType};base64,${Buffer.from(bytes).toString('base64')}`);
    }
  }
  return images;
}

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
    const system = printElements([systemMessage(request, profile)]);
    const { messages } = request;
    const part = (from: number, to: number) =>
      printElements(shapeMessages(messages.slice(from, to), profile, { images, isStart: from === 0 }));
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

function printElements(messages: readonly object[]): Buffer {
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
