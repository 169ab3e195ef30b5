// Prints a request and sends it.
import { type ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { type ModelRequest } from '../../core/ports/ports.ts';
import { type EndpointFacts } from '../endpointMemory.ts';
import { post } from '../wire/client.ts';
import { type EndpointOptions } from '../wire/endpoint.ts';
import { type ImageBytes, readImages } from '../wire/images.ts';
import { PrefixPrinter, printElements } from '../wire/prefixPrinter.ts';
import { type ChatForm, chatForm, shapeMessages, systemMessage, toWireTools } from './chatPrint.ts';
import { effortParameters } from './dialects.ts';

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
  const images = await readImages(request);
  const body = printBody(options, request, facts, images, printer);
  return post(options, '/chat/completions', body, signal, sessionHeader(options, request));
}

/** Keeps the requests of a conversation on one server, whose cache has its beginning. */
function sessionHeader({ baseUrl, model }: EndpointOptions, { conversation }: ModelRequest): Record<string, string> {
  const { cache } = chatForm(baseUrl, model).dialect;
  return typeof cache === 'object' && conversation !== undefined ? { [cache.header]: conversation } : {};
}

/** Returns JSON in UTF-8. `printer` belongs to the model and reuses what earlier requests printed. */
export function printBody(
  { baseUrl, model, options = {} }: EndpointOptions,
  request: ModelRequest,
  { profile, without }: EndpointFacts,
  images: ImageBytes,
  printer: MessagePrinter,
): Buffer {
  const form = chatForm(baseUrl, model, profile);
  const tools = toWireTools(request);
  const takesImages = !without.includes('image_url');
  const messages = Buffer.concat(printer.print(request, form, takesImages ? images : undefined));
  const rest: Record<string, unknown> = {
    ...(tools.length > 0 && { tools, ...form.dialect.withTools, ...toolChoice(request, form) }),
    ...(options.temperature !== undefined && { temperature: options.temperature }),
    ...effortParameters(form.dialect, request.effort ?? options.reasoningEffort),
    ...(options.maxTokens !== undefined && { [profile.limitField]: options.maxTokens }),
    ...(request.schema !== undefined && { response_format: jsonSchema(request.schema) }),
    ...cacheKey(request, form),
    stream: true,
    stream_options: { include_usage: true },
  };
  for (const parameter of without) delete rest[parameter];
  return Buffer.concat([
    Buffer.from(`{"model":${JSON.stringify(model)},"messages":[`),
    // Without the comma after the last message.
    messages.subarray(0, -1),
    Buffer.from(`],${JSON.stringify(rest).slice(1)}`),
  ]);
}

/** Calls that are not allowed are refused anyway; where possible, the model is also told so without changing the tools. */
function toolChoice({ allowed }: ModelRequest, { dialect }: ChatForm): { readonly tool_choice?: unknown } {
  if (allowed === 'none') return { tool_choice: 'none' };
  if (allowed === undefined || !dialect.allowedTools) return {};
  const tools = allowed.map((name) => ({ type: 'function', function: { name } }));
  return { tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools } } };
}

/** OpenAI's limit of a key. */
const LONGEST_KEY = 64;

function cacheKey({ conversation }: ModelRequest, { dialect }: ChatForm): { readonly prompt_cache_key?: string } {
  return dialect.cache === 'key' && conversation !== undefined
    ? { prompt_cache_key: conversation.slice(0, LONGEST_KEY) }
    : {};
}

function jsonSchema(schema: Readonly<Record<string, unknown>>) {
  return { type: 'json_schema' as const, json_schema: { name: 'answer', schema: { ...schema } } };
}

/** Prints the messages of a conversation, and keeps the bytes of what its later requests begin with. */
export class MessagePrinter {
  readonly #printer = new PrefixPrinter();

  /** The elements of a JSON array, each followed by a comma. */
  print(request: ModelRequest, form: ChatForm, images?: ImageBytes): Uint8Array[] {
    const mark = form.dialect.cache === 'parts' ? withCacheMark : undefined;
    const { messages } = request;
    const key = JSON.stringify([form.provider, form.model, form.profile]);
    const printed = this.#printer.print(messages, { form: key, cycles: 1 }, (from, to) => {
      const shaped = shapeMessages(messages.slice(from, to), form, { images, isStart: from === 0 });
      // The endpoint caches everything up to the end of the last message.
      return to === messages.length && mark !== undefined ? mark(shaped) : shaped;
    });
    const system = [systemMessage(request, form)];
    return [printElements(mark === undefined ? system : mark(system)), ...printed];
  }
}

function withCacheMark(messages: readonly ChatCompletionMessageParam[]): object[] {
  return messages.map((message, at) => {
    const { content } = message;
    if (at < messages.length - 1 || !Array.isArray(content) || content.length === 0) return message;
    const marked = content.map((part, index) =>
      index === content.length - 1 ? { ...part, cache_control: { type: 'ephemeral' } } : part,
    );
    return { ...message, content: marked };
  });
}
