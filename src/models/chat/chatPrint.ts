// Prints arranged messages in the form of one chat-completions endpoint: roles, parts, ids, names, reasoning. Pure.
import { createHash } from 'node:crypto';
import type {
  ChatCompletionContentPart,
  ChatCompletionContentPartText,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import { type ImageReference, type ModelMessage } from '../../core/ports/modelMessages.ts';
import { type ModelRequest } from '../../core/ports/ports.ts';
import { type ToolDescription } from '../../protocol/tool.ts';
import { providerOf } from '../api.ts';
import { callName, wellFormed } from '../wire/callIds.ts';
import { describeMissing, type ImageBytes } from '../wire/images.ts';
import { arrange, type WireCall, type WireMessage } from './chatMessages.ts';
import { returnedTo, type Target } from './chatOrigin.ts';
import { type Dialect, dialectOf, type EndpointProfile } from './dialects.ts';

/** Everything that decides how messages are printed. */
export interface ChatForm extends Target {
  readonly dialect: Dialect;
}

/** `profile`: what was learnt about the endpoint; by default what is shipped. */
export function chatForm(baseUrl: string, model: string, profile?: EndpointProfile): ChatForm {
  const dialect = dialectOf(baseUrl, model);
  return { provider: providerOf(baseUrl), model, dialect, profile: profile ?? dialect.profile };
}

export function toWireMessages(
  request: ModelRequest,
  form: ChatForm,
  images?: ImageBytes,
): ChatCompletionMessageParam[] {
  return [systemMessage(request, form), ...shapeMessages(request.messages, form, { images, isStart: true })];
}

export function systemMessage({ system }: ModelRequest, { profile, dialect }: ChatForm): ChatCompletionMessageParam {
  const text = wellFormed(system);
  return { role: profile.systemRole, content: dialect.cache === 'parts' ? [textPart(text)] : text };
}

/** `isStart`: whether they are the first messages of the request, not a later part of it. */
export function shapeMessages(
  messages: readonly ModelMessage[],
  form: ChatForm,
  { images, isStart }: { readonly images: ImageBytes | undefined; readonly isStart: boolean },
): ChatCompletionMessageParam[] {
  return arrange(messages, form.profile, isStart).map((message) => toWireMessage(message, form, images));
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
      const apart = inParts || (profile.toolContent === 'parts' && parts.length > 1);
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
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return withoutLoneSurrogates(text, value);
  } catch {
    // Invalid JSON is wrapped below.
  }
  return JSON.stringify({ invalid_json: wellFormed(text) });
}

function withoutLoneSurrogates(text: string, value: object): string {
  if (!/\\u[Dd][89A-Fa-f]/.test(text)) return wellFormed(text);
  return JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'string' ? wellFormed(inner) : inner));
}

/** The tools that are the same for the whole conversation, then those that were found later. */
export function toWireTools({ tools, found = [] }: Pick<ModelRequest, 'tools' | 'found'>) {
  return [...tools, ...found].map(({ name, description, parameters }: ToolDescription) => ({
    type: 'function' as const,
    function: { name, description, parameters: { ...parameters } },
  }));
}
