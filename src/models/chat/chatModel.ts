// The model behind an OpenAI-compatible endpoint: prints requests in the form that it accepts, and learns that form from what
// it rejects.
import { parseObject } from '../../base/json/outsideJson.ts';
import { type Model, type ModelPart, type ModelRequest } from '../../core/ports/ports.ts';
import { isOverflow } from '../overflow.ts';
import { createEndpointMemory, type EndpointFacts, type Lesson, lessonsIn } from '../endpointMemory.ts';
import { type EndpointOptions } from '../wire/endpoint.ts';
import { providerOf } from '../api.ts';
import { dialectOf, type Dialect, effortParameters, type EndpointProfile } from './dialects.ts';
import { createHash } from 'node:crypto';
import type {
  ChatCompletionContentPart,
  ChatCompletionContentPartText,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import { defined } from '../../base/json/defined.ts';
import { type ImageReference, type ModelMessage } from '../../core/ports/modelMessages.ts';
import { type ToolDescription } from '../../protocol/tool.ts';
import { callName, wellFormed } from '../wire/callIds.ts';
import { foundInMessages } from '../wire/foundTools.ts';
import { describeMissing, type ImageBytes, readImages } from '../wire/images.ts';
import { PrefixPrinter, printBody as printElements } from '../wire/prefixPrinter.ts';
import { post, readAnswer } from '../wire/send.ts';
import { explain, MALFORMED_CALL, readRefusal } from '../explain.ts';
import { StreamAccumulator } from './chatStream.ts';
import { announceSending } from '../wire/sending.ts';
import { arrange, type WireCall, type WireMessage } from './chatMessages.ts';
import { returnedTo, type Target } from './chatOrigin.ts';
import { inFlavour } from './toolSchemas.ts';

const CONTEXT_WINDOW = 128_000;
/** Each rejection teaches at least one fact, and there are no more facts than this. */
const MOST_LESSONS = 8;

export function createChatModel(given: EndpointOptions): Model {
  const memory = given.memory ?? createEndpointMemory();
  const options: Learning = { ...given, memory };
  return {
    id: options.model,
    label: options.model,
    detail: new URL(options.baseUrl).host,
    contextWindow: options.options?.contextWindow ?? CONTEXT_WINDOW,
    ...(options.options?.prices !== undefined && { prices: options.options.prices }),
    ...(dialectOf(options.baseUrl, options.model).profile.midSystem && { takesHostMessages: true as const }),
    stream: (request, signal) => stream(options, request, signal),
  };
}

type Learning = EndpointOptions & Required<Pick<EndpointOptions, 'memory'>>;

/** Retries a rejected request in another form, and remembers the form that is accepted. */
async function* stream(options: Learning, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
  const { baseUrl, model } = options;
  const contextWindow = options.options?.contextWindow ?? options.contextWindow?.() ?? CONTEXT_WINDOW;
  const memory = await options.memory;
  let facts = memory.get(baseUrl, model);
  let refused: unknown;
  for (let lessons = 0; ; lessons++) {
    let accepted = false;
    try {
      const response = await sendRequest(options, request, facts, signal);
      for await (const part of readAnswer(
        response,
        new StreamAccumulator({ provider: providerOf(baseUrl), model, contextWindow }),
      )) {
        if (!accepted && lessons > 0) await memory.learn(baseUrl, model, facts);
        accepted = true;
        yield part;
      }
      return;
    } catch (error) {
      if (signal.aborted) return;
      const next = accepted || lessons >= MOST_LESSONS ? undefined : await learn(options, request, facts, error);
      if (next === undefined) {
        // If a guess was rejected too, the user is shown the rejection that led to the guess.
        yield explain(accepted ? error : (refused ?? error), options);
        return;
      }
      options.log?.(
        `${baseUrl} refused a request, which is repeated in another form (${readRefusal(error, 0).text}). If that form is accepted, later requests have it too, so that the endpoint cannot read this conversation from its cache once.`,
      );
      refused = next.guessed ? error : undefined;
      facts = next.facts;
    }
  }
}

/** llama.cpp reports errors of chat templates with status 500. Other server errors say nothing about the form. */
const TEMPLATE = /jinja|template|raise_exception|roles must alternate|single tool-calls|tool call ids/i;

async function learn(
  options: EndpointOptions,
  request: ModelRequest,
  facts: EndpointFacts,
  error: unknown,
): Promise<Lesson | undefined> {
  const { status, text, code, parameter } = readRefusal(error, 0);
  const isAboutForm = status === 400 || status === 422 || (status === 500 && TEMPLATE.test(text));
  if (!isAboutForm || code === MALFORMED_CALL) return undefined;
  if (isModeration(code, text) || isOverflow(text, code, options.baseUrl)) return undefined;
  const images = await readImages(request);
  const print = (known: EndpointFacts) => printBody(options, request, known, images, new PrefixPrinter());
  const refused = print(facts);
  // A form with the same bytes would be rejected again, and a server error is no reason to guess.
  return lessonsIn(facts, { text, parameter }).find(
    (lesson) => !(lesson.guessed && status === 500) && !print(lesson.facts).equals(refused),
  );
}

function isModeration(code: string | undefined, text: string): boolean {
  return (
    /content_(?:filter|policy)|moderation/i.test(`${code ?? ''} ${text}`) ||
    /\b(?:flagged|content management)\b/i.test(text)
  );
}

const printers = new WeakMap<EndpointOptions, PrefixPrinter>();

/** Throws the package's errors. */
async function sendRequest(
  options: EndpointOptions,
  request: ModelRequest,
  facts: EndpointFacts,
  signal: AbortSignal,
): Promise<Response> {
  const printer = printers.get(options) ?? new PrefixPrinter();
  printers.set(options, printer);
  const images = await readImages(request, (message) => options.log?.(message));
  const body = printBody(options, request, facts, images, printer);
  announceSending(options, request, { api: 'chat', facts, body });
  return post(options, '/chat/completions', body, signal, sessionHeader(options, request));
}

/** Keeps the requests of a conversation on one server, whose cache has its beginning. */
function sessionHeader({ baseUrl, model }: EndpointOptions, { conversation }: ModelRequest): Record<string, string> {
  const { session } = chatForm(baseUrl, model).dialect;
  return session !== undefined && conversation !== undefined ? { [session]: conversation } : {};
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
  const tools = toWireTools(request, form);
  const takesImages = !without.includes('image_url');
  const messages = printMessages(printer, request, form, takesImages ? images : undefined);
  const all: Record<string, unknown> = {
    ...(tools.length > 0 && { tools, ...form.dialect.withTools, ...toolChoice(request, form) }),
    ...defined({ temperature: options.temperature }),
    ...effortParameters(form.dialect, request.effort ?? options.reasoningEffort),
    ...defined({ [profile.limitField]: options.maxTokens }),
    ...(request.schema !== undefined && { response_format: jsonSchema(request.schema) }),
    ...cacheKey(request, form),
    stream: true,
    stream_options: { include_usage: true },
  };
  const refused: readonly string[] = without;
  const rest = Object.fromEntries(Object.entries(all).filter(([name]) => !refused.includes(name)));
  return printElements({ model, ...rest }, 'messages', messages);
}

/**
 * Calls that are not allowed are refused anyway. The model is also told so where that leaves the cached prefix: other
 * endpoints print no tools if none may be called.
 */
function toolChoice({ allowed }: ModelRequest, { dialect }: ChatForm): { readonly tool_choice?: unknown } {
  if (allowed === undefined || !dialect.allowedTools) return {};
  if (allowed === 'none') return { tool_choice: 'none' };
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
  const { messages, found } = request;
  const marks = form.dialect.cache === 'parts';
  const system = systemMessage(request, form);
  const elements = (from: number, to: number) => {
    const shaped = shapeMessages(messages.slice(from, to), form, { images, isStart: from === 0, found });
    return marks && to === messages.length ? withCacheMarks(shaped) : shaped;
  };
  const key = JSON.stringify([form.provider, form.model, form.profile]);
  return [
    Buffer.from(`${JSON.stringify(marks ? withCacheMark(system) : system)},`),
    ...printer.print(messages, { form: key, cycles: marks ? 2 : 1 }, elements),
  ];
}

/** Marks the ends of the last two messages that are not answers, as far as they have parts. */
function withCacheMarks(messages: readonly SentMessage[]): readonly object[] {
  const isAsked = (message: SentMessage | undefined) =>
    message !== undefined && message.role !== 'assistant' && Array.isArray(message.content);
  const ends = messages.flatMap((message, index) => (isAsked(message) && !isAsked(messages[index + 1]) ? [index] : []));
  const marked = new Set(ends.slice(-2));
  return messages.map((message, index) => (marked.has(index) ? withCacheMark(message) : message));
}

/** The endpoint caches everything up to the end of this message. */
function withCacheMark(message: SentMessage): object {
  const { content } = message;
  if (!Array.isArray(content) || content.length === 0) return message;
  const marked = content.map((part, index) =>
    index === content.length - 1 ? { ...part, cache_control: { type: 'ephemeral' } } : part,
  );
  return { ...message, content: marked };
}

/** Everything that decides how messages are printed. */
export interface ChatForm extends Target {
  readonly dialect: Dialect;
}

/** `profile`: what was learnt about the endpoint; by default what is shipped. */
export function chatForm(baseUrl: string, model: string, profile?: EndpointProfile): ChatForm {
  const dialect = dialectOf(baseUrl, model);
  return { provider: providerOf(baseUrl), model, dialect, profile: profile ?? dialect.profile };
}

export function toWireMessages(request: ModelRequest, form: ChatForm, images?: ImageBytes): SentMessage[] {
  const { messages, found } = request;
  return [systemMessage(request, form), ...shapeMessages(messages, form, { images, isStart: true, found })];
}

function systemMessage({ system }: ModelRequest, { profile, dialect }: ChatForm): ChatCompletionMessageParam {
  const text = wellFormed(system);
  return { role: profile.systemRole, content: dialect.cache === 'parts' ? [textPart(text)] : text };
}

/** `isStart`: whether they are the first messages of the request, not a later part of it. */
function shapeMessages(
  messages: readonly ModelMessage[],
  form: ChatForm,
  { images, isStart, found = [] }: Shaping,
): SentMessage[] {
  return arrange(messages, form.profile, isStart).flatMap((message): SentMessage[] => {
    if (message.role !== 'system' || message.tools === undefined) return [toWireMessage(message, form, images)];
    const { tools } = message;
    const described = found.filter(({ name }) => tools.includes(name));
    return described.length === 0 ? [] : [toolsMessage(described, form)];
  });
}

interface Shaping {
  readonly images: ImageBytes | undefined;
  readonly isStart: boolean;
  /** Descriptions of the tools that results have found. */
  readonly found?: readonly ToolDescription[] | undefined;
}

/** Moonshot's own form of a message, which the package does not know. */
interface ToolsMessage {
  readonly role: EndpointProfile['systemRole'];
  readonly tools: readonly object[];
  readonly content?: undefined;
}

type SentMessage = ChatCompletionMessageParam | ToolsMessage;

function toolsMessage(tools: readonly ToolDescription[], { profile, dialect }: ChatForm): ToolsMessage {
  return { role: profile.systemRole, tools: tools.map((tool) => toWireTool(tool, dialect)) };
}

function toWireMessage(message: WireMessage, form: ChatForm, images?: ImageBytes): ChatCompletionMessageParam {
  const { profile, dialect } = form;
  const parts = message.parts.map(wellFormed);
  const text = parts.join('\n\n');
  const inParts = dialect.cache === 'parts' && text !== '';
  switch (message.role) {
    case 'system':
      return { role: profile.systemRole, content: text };
    case 'user': {
      if (message.images !== undefined) return { role: 'user', content: withImages(text, message.images, images) };
      return { role: 'user', content: inParts ? [textPart(text)] : text };
    }
    case 'tool': {
      const apart = profile.toolContent === 'parts' && (inParts || parts.length > 1);
      const content = apart ? parts.map(textPart) : text;
      return { role: 'tool', tool_call_id: printId(message.call, profile.ids), content };
    }
    case 'assistant': {
      const first = message.firstCall ?? 0;
      const returned = returnedTo(form, message.origin, first + message.calls.length);
      const calls = message.calls.map((call, index) => printCall(call, profile.ids, returned.calls[first + index]));
      return {
        role: 'assistant',
        content: text === '' ? dialect.emptyContent : text,
        // The reasoning of an answer that is split belongs to its first part.
        ...(first === 0 ? returned.fields : returnedTo(form, undefined, 0).fields),
        ...(calls.length > 0 && { tool_calls: calls }),
      };
    }
  }
}

function withImages(text: string, wanted: readonly ImageReference[], images: ImageBytes | undefined) {
  if (images === undefined) return [text, ...wanted.map((one) => describeMissing(one, images))].join('\n\n');
  const parts = wanted.map((one): ChatCompletionContentPart => {
    const bytes = images.get(one.hash);
    if (bytes === undefined) return textPart(describeMissing(one, images));
    return { type: 'image_url', image_url: { url: `data:${one.mediaType};base64,${bytes}` } };
  });
  return [textPart(text), ...parts];
}

function textPart(text: string): ChatCompletionContentPartText {
  return { type: 'text', text };
}

interface PrintedCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
  readonly extra_content?: unknown;
}

/** Printed calls, so that a call that is sent with every request is printed only once. */
const printedCalls = new WeakMap<WireCall, PrintedCall>();

function printCall(call: WireCall, ids: EndpointProfile['ids'], extra: unknown): PrintedCall {
  const known = printedCalls.get(call) ?? {
    id: call.id,
    type: 'function' as const,
    function: { name: callName(call.name), arguments: asObject(call.arguments) },
  };
  printedCalls.set(call, known);
  const isGiven = extra !== undefined && extra !== null;
  return { ...known, id: printId(call.id, ids), ...(isGiven && { extra_content: extra }) };
}

const LENGTHS = { any: 64, plain64: 64, plain40: 40, nine: 9 } as const;

/** The same id always becomes the same id. */
function printId(id: string, format: EndpointProfile['ids']): string {
  const longest = LENGTHS[format];
  const isPlain = format === 'any' || (format === 'nine' ? /^[a-z0-9]{9}$/i : /^[\w-]+$/).test(id);
  if (isPlain && id.length <= longest) return id;
  const hash = createHash('sha256').update(id).digest('hex');
  if (format === 'nine') return hash.slice(0, 9);
  return `${id.replace(/[^\w-]/g, '_').slice(0, longest - 13)}_${hash.slice(0, 12)}`;
}

/** Several servers parse the arguments of earlier calls: with invalid ones, every later request would fail. */
function asObject(text: string): string {
  const value = parseObject(text);
  return value ? withoutLoneSurrogates(text, value) : JSON.stringify({ invalid_json: wellFormed(text) });
}

function withoutLoneSurrogates(text: string, value: object): string {
  if (!/\\u[Dd][89A-Fa-f]/.test(text)) return wellFormed(text);
  return JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'string' ? wellFormed(inner) : inner));
}

/**
 * The tools that are the same for the whole conversation, then those that were found later, unless the messages describe
 * them.
 */
export function toWireTools(request: ModelRequest, { profile, dialect }: ChatForm) {
  const { tools, found = [] } = request;
  const inMessages = profile.midTools ? foundInMessages(request) : new Set<string>();
  const others = found.filter(({ name }) => !inMessages.has(name));
  return [...tools, ...others].map((tool) => toWireTool(tool, dialect));
}

function toWireTool({ name, description, parameters }: ToolDescription, { schemas }: Dialect) {
  return {
    type: 'function' as const,
    function: { name, description, parameters: { ...inFlavour(parameters, schemas) } },
  };
}
