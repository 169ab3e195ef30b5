// Maps messages to an OpenAI-compatible request: places notification blocks, then applies the rules of the endpoint's
// profile. Pure.
import {
  type ChatCompletionContentPart,
  type ChatCompletionContentPartText,
  type ChatCompletionMessageParam,
  type ChatCompletionMessageToolCall,
} from 'openai/resources/chat/completions';
import { unreachable } from '../../base/errors.ts';
import { type Block, type ImageReference, type ModelMessage } from '../../core/ports/modelMessages.ts';
import { type ModelRequest } from '../../core/ports/ports.ts';
import { type EndpointProfile } from '../profile.ts';

/** A message before the endpoint's rules are applied. */
export type WireMessage =
  | { readonly role: 'system'; readonly parts: readonly string[] }
  | { readonly role: 'user'; readonly parts: readonly string[]; readonly images?: readonly ImageReference[] }
  | { readonly role: 'assistant'; readonly parts: readonly string[]; readonly calls: readonly WireCall[] }
  | { readonly role: 'tool'; readonly call: string; readonly parts: readonly string[] };

export interface WireCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** Introduces the images of a message that was delivered with a tool result, which cannot contain images. */
const IMAGES_ABOVE = 'Attached to the user’s message above:';

/** The name of the synthetic call that carries a block. No such tool is offered to the model. */
const NOTIFICATION_TOOL = '_system_notification';

/** Inserted where an endpoint requires an assistant message between a tool result and a user message. */
const BRIDGE = 'I have the result.';
/** Inserted where an endpoint requires the first message to be the user's. */
const OPENING = 'Go on from here.';

/** The images of a request as data URLs, by their hash. Absent if the endpoint accepts none. */
export type Images = ReadonlyMap<string, string>;

export function toWireMessages(
  request: ModelRequest,
  profile: EndpointProfile,
  images?: Images,
): ChatCompletionMessageParam[] {
  return [systemMessage(request, profile), ...shapeMessages(request.messages, profile, { images, isStart: true })];
}

export function systemMessage({ system }: ModelRequest, { systemRole }: EndpointProfile): ChatCompletionMessageParam {
  return { role: systemRole, content: system };
}

/** `isStart`: whether they are the first messages of the request, not a later part of it. */
export function shapeMessages(
  messages: readonly ModelMessage[],
  profile: EndpointProfile,
  { images, isStart }: { readonly images: Images | undefined; readonly isStart: boolean },
): ChatCompletionMessageParam[] {
  const shaped = bridge(arrange(messages, profile), profile, isStart);
  return shaped.map((message) => toWireMessage(message, profile, images));
}

function bridge(messages: readonly WireMessage[], profile: EndpointProfile, isStart: boolean): WireMessage[] {
  const strict = profile.alternation === 'strict';
  return messages.flatMap((message, index): WireMessage[] => {
    const before = messages[index - 1];
    if (before === undefined) return isStart && strict && message.role === 'assistant' ? [opening, message] : [message];
    const apart = message.role === 'user' && before.role === 'tool' && (strict || !profile.userAfterTool);
    return apart ? [bridging, message] : [message];
  });
}

const opening: WireMessage = { role: 'user', parts: [OPENING] };
const bridging: WireMessage = { role: 'assistant', parts: [BRIDGE], calls: [] };

function toWireMessage(message: WireMessage, profile: EndpointProfile, images?: Images): ChatCompletionMessageParam {
  const text = message.parts.join('\n\n');
  switch (message.role) {
    case 'system':
      return { role: profile.systemRole, content: text };
    case 'user':
      return { role: 'user', content: message.images === undefined ? text : withImages(text, message.images, images) };
    case 'tool': {
      const apart = profile.toolContent === 'parts' && message.parts.length > 1;
      return { role: 'tool', tool_call_id: message.call, content: apart ? message.parts.map(textPart) : text };
    }
    case 'assistant': {
      const calls = message.calls.map(toWireCall);
      return { role: 'assistant', content: text === '' ? null : text, ...(calls.length > 0 && { tool_calls: calls }) };
    }
  }
}

/** A missing image is replaced by a note, so that the model does not assume its content. */
function withImages(text: string, wanted: readonly ImageReference[], images: Images | undefined) {
  const missing = images === undefined ? 'this model takes no images' : 'its bytes are gone';
  const parts = wanted.map(({ hash, name }): ChatCompletionContentPart => {
    const url = images?.get(hash);
    return url === undefined
      ? textPart(`(${name} is not shown: ${missing}.)`)
      : { type: 'image_url', image_url: { url } };
  });
  return images === undefined
    ? [text, ...parts.map((part) => (part.type === 'text' ? part.text : ''))].join('\n\n')
    : [textPart(text), ...parts];
}

function textPart(text: string): ChatCompletionContentPartText {
  return { type: 'text', text };
}

/** Converted calls, so that a call that is sent with every request is converted only once. */
const wireCalls = new WeakMap<WireCall, ChatCompletionMessageToolCall>();

function toWireCall(call: WireCall): ChatCompletionMessageToolCall {
  const known = wireCalls.get(call);
  if (known !== undefined) return known;
  const { id, name, arguments: args } = call;
  const wire = { id, type: 'function' as const, function: { name, arguments: asObject(args) } };
  wireCalls.set(call, wire);
  return wire;
}

/** Several servers parse the arguments of earlier calls: with invalid ones, every later request would fail. */
function asObject(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return text;
  } catch {
    // Invalid JSON is wrapped below.
  }
  return JSON.stringify({ invalid_json: text });
}

export function toWireTools(request: ModelRequest) {
  return request.tools.map(({ name, description, parameters }) => ({
    type: 'function' as const,
    function: { name, description, parameters: { ...parameters } },
  }));
}

/** `midSystem`: whether system messages are allowed after the first message. */
export function arrange(
  messages: readonly ModelMessage[],
  { midSystem }: { readonly midSystem: boolean },
): WireMessage[] {
  const placed = messages.flatMap((message) => [
    ...placeBlock(toWire(message), blockOf(message)),
    ...imagesAfter(message),
  ]);
  return merge(placed.map((message) => (midSystem ? message : demote(message))));
}

/** The message with its block, in the order in which the model reads them. The user's own text comes last. */
function placeBlock(message: WireMessage, block: Block | undefined): WireMessage[] {
  if (block === undefined) return [message];
  const after = message.role === 'tool';
  switch (block.format) {
    case 'xml':
      return [{ ...message, parts: after ? [...message.parts, block.text] : [block.text, ...message.parts] }];
    case 'markdown':
      return [{ ...message, parts: [block.text, ...message.parts] }];
    case 'developer':
      return placeNextTo(message, after, [{ role: 'system', parts: [block.text] }]);
    case 'synthetic-tool':
      return placeNextTo(message, after, syntheticCall(block));
    default:
      return unreachable(block.format);
  }
}

function placeNextTo(message: WireMessage, after: boolean, own: readonly WireMessage[]): WireMessage[] {
  return after ? [message, ...own] : [...own, message];
}

/** The id is the carrier's, so the same log gives the same bytes. */
function syntheticCall({ id = '', text }: Block): WireMessage[] {
  const call = `notification_${id}`;
  return [
    { role: 'assistant', parts: [], calls: [{ id: call, name: NOTIFICATION_TOOL, arguments: '{}' }] },
    { role: 'tool', call, parts: [text] },
  ];
}

function imagesAfter(message: ModelMessage): WireMessage[] {
  if (message.role !== 'tool' || message.images === undefined) return [];
  return [{ role: 'user', parts: [IMAGES_ABOVE], images: message.images }];
}

function toWire(message: ModelMessage): WireMessage {
  switch (message.role) {
    case 'user':
      return { role: 'user', parts: partsOf(message.content), ...(message.images && { images: message.images }) };
    case 'tool':
      return { role: 'tool', call: message.call, parts: partsOf(message.content) };
    case 'assistant':
      return { role: 'assistant', parts: partsOf(message.content), calls: message.calls };
  }
}

function blockOf(message: ModelMessage) {
  return message.role === 'assistant' ? undefined : message.block;
}

function partsOf(text: string): string[] {
  return text === '' ? [] : [text];
}

function demote(message: WireMessage): WireMessage {
  return message.role === 'system' ? { ...message, role: 'user' } : message;
}

/** Merges adjacent messages of one role. Tool results stay separate, since each belongs to its call. */
function merge(messages: readonly WireMessage[]): WireMessage[] {
  const merged: WireMessage[] = [];
  for (const message of messages) {
    const last = merged.at(-1);
    const joined = last && join(last, message);
    if (joined === undefined) merged.push(message);
    else merged[merged.length - 1] = joined;
  }
  return merged;
}

function join(first: WireMessage, second: WireMessage): WireMessage | undefined {
  const parts = [...first.parts, ...second.parts];
  if (first.role === 'user' && second.role === 'user') {
    const images = [...(first.images ?? []), ...(second.images ?? [])];
    return { role: 'user', parts, ...(images.length > 0 && { images }) };
  }
  if (first.role === 'system' && second.role === 'system') return { role: 'system', parts };
  if (first.role !== 'assistant' || second.role !== 'assistant' || first.calls.length > 0) return undefined;
  return { role: 'assistant', parts, calls: second.calls };
}
