// Prints a request and sends it.
import { type ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { type ModelRequest } from '../../core/ports/ports.ts';
import { type EndpointFacts } from '../endpointMemory.ts';
import { post } from '../wire/client.ts';
import { type EndpointOptions } from '../wire/endpoint.ts';
import { type ImageBytes, readImages } from '../wire/images.ts';
import { PrefixPrinter, printBody as printElements } from '../wire/prefixPrinter.ts';
import { type ChatForm, chatForm, shapeMessages, systemMessage, toWireTools } from './chatPrint.ts';
import { effortParameters } from './dialects.ts';

const printers = new WeakMap<EndpointOptions, PrefixPrinter>();

/** Throws the package's errors. */
export async function sendRequest(
  options: EndpointOptions,
  request: ModelRequest,
  facts: EndpointFacts,
  signal: AbortSignal,
): Promise<Response> {
  const printer = printers.get(options) ?? new PrefixPrinter();
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
  printer: PrefixPrinter,
): Buffer {
  const form = chatForm(baseUrl, model, profile);
  const tools = toWireTools(request);
  const takesImages = !without.includes('image_url');
  const messages = printMessages(printer, request, form, takesImages ? images : undefined);
  const all: Record<string, unknown> = {
    ...(tools.length > 0 && { tools, ...form.dialect.withTools, ...toolChoice(request, form) }),
    ...(options.temperature !== undefined && { temperature: options.temperature }),
    ...effortParameters(form.dialect, request.effort ?? options.reasoningEffort),
    ...(options.maxTokens !== undefined && { [profile.limitField]: options.maxTokens }),
    ...(request.schema !== undefined && { response_format: jsonSchema(request.schema) }),
    ...cacheKey(request, form),
    stream: true,
    stream_options: { include_usage: true },
  };
  const refused: readonly string[] = without;
  const rest = Object.fromEntries(Object.entries(all).filter(([name]) => !refused.includes(name)));
  return printElements({ model, ...rest }, 'messages', messages);
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

/** The elements of a JSON array, each followed by a comma. */
export function printMessages(
  printer: PrefixPrinter,
  request: ModelRequest,
  form: ChatForm,
  images?: ImageBytes,
): Uint8Array[] {
  const { messages } = request;
  const marks = form.dialect.cache === 'parts';
  const system = systemMessage(request, form);
  const elements = (from: number, to: number) => {
    const shaped = shapeMessages(messages.slice(from, to), form, { images, isStart: from === 0 });
    const isMarked = (index: number) => marks && to === messages.length && index === shaped.length - 1;
    return shaped.map((message, index) => (isMarked(index) ? withCacheMark(message) : message));
  };
  const key = JSON.stringify([form.provider, form.model, form.profile]);
  return [
    Buffer.from(`${JSON.stringify(marks ? withCacheMark(system) : system)},`),
    ...printer.print(messages, { form: key, cycles: 1 }, elements),
  ];
}

/** The endpoint caches everything up to the end of this message. */
function withCacheMark(message: ChatCompletionMessageParam): object {
  const { content } = message;
  if (!Array.isArray(content) || content.length === 0) return message;
  const marked = content.map((part, index) =>
    index === content.length - 1 ? { ...part, cache_control: { type: 'ephemeral' } } : part,
  );
  return { ...message, content: marked };
}
