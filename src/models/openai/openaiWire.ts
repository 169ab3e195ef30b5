// Maps messages to an OpenAI-compatible request, by the endpoint's profile. Pure.
import {
  type ChatCompletionContentPart,
  type ChatCompletionContentPartText,
  type ChatCompletionMessageParam,
  type ChatCompletionMessageToolCall,
} from 'openai/resources/chat/completions';
import { type ImageReference, type ModelMessage } from '../../core/ports/modelMessages.ts';
import { type ModelRequest } from '../../core/ports/ports.ts';
import { type EndpointProfile } from '../profile.ts';
import { arrange, type WireCall, type WireMessage } from './wireMessages.ts';

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
