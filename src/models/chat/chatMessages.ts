// Arranges neutral messages for endpoints without native notifications: where a block and the user's queued messages
// stand, and which messages must be merged, split or bridged. Pure.
import { unreachable } from '../../base/errors.ts';
import { defined } from '../../base/json/defined.ts';
import { type Block, type ImageReference, type ModelMessage } from '../../core/ports/modelMessages.ts';
import { type WireOrigin } from '../../protocol/event.ts';
import { type EndpointProfile } from './dialects.ts';

/** A message before the role and content rules of an endpoint are applied. */
export type WireMessage =
  | {
      readonly role: 'system';
      readonly parts: readonly string[];
      /** Names of tools that it describes; then it has no text. */
      readonly tools?: readonly string[];
    }
  | { readonly role: 'user'; readonly parts: readonly string[]; readonly images?: readonly ImageReference[] }
  | {
      readonly role: 'assistant';
      readonly parts: readonly string[];
      readonly calls: readonly WireCall[];
      readonly origin?: WireOrigin;
      /** The position of the first call among the calls of the answer. */
      readonly firstCall?: number;
    }
  | { readonly role: 'tool'; readonly call: string; readonly parts: readonly string[] };

type AssistantMessage = Extract<WireMessage, { role: 'assistant' }>;

export interface WireCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** Introduce images that belong to a tool result, which cannot contain images. */
const RESULT_IMAGES = 'Images of the tool results above:';
/** In logs of earlier versions the user's messages are in the block of the result above. */
const IMAGES_ABOVE = 'Attached to the user’s message above:';

/** The name of the synthetic call that carries a block. No such tool is offered to the model. */
const NOTIFICATION_TOOL = '_system_notification';

/** Inserted where an endpoint requires an assistant message between a tool result and a user message. */
const BRIDGE = 'I have the result.';
/** Inserted where an endpoint requires the first message to be the user's. */
const OPENING = 'Go on from here.';
/** Introduces the user's words in a result, where an endpoint takes them nowhere else. */
const WROTE = 'Not part of the result. The user wrote meanwhile:';

export type Arrangement = Pick<
  EndpointProfile,
  'midSystem' | 'midTools' | 'userAfterTool' | 'queuedInside' | 'alternation' | 'singleCalls'
>;

/** `isStart`: whether they are the first messages of the request, not a later part of it. */
export function arrange(messages: readonly ModelMessage[], rules: Arrangement, isStart = true): WireMessage[] {
  const placed: WireMessage[] = [];
  /** Messages that follow all results of a batch. */
  let held: WireMessage[] = [];
  let resultImages: ImageReference[] = [];
  const flush = () => {
    if (resultImages.length > 0) placed.push({ role: 'user', parts: [RESULT_IMAGES], images: resultImages });
    placed.push(...held);
    [held, resultImages] = [[], []];
  };
  for (const message of messages) {
    if (message.role === 'tool') {
      const [result, ...after] = placeResult(message, rules);
      if (result !== undefined) placed.push(result);
      held.push(...after);
      resultImages.push(...(message.resultImages ?? []));
      continue;
    }
    flush();
    if (message.role === 'user') placed.push(...placeRequest(message, rules));
    else if (message.content !== '' || message.calls.length > 0) placed.push(toAssistant(message));
  }
  flush();
  const split = rules.singleCalls ? splitCalls(placed) : placed;
  return bridge(merge(split, rules), rules, isStart);
}

function toAssistant({ content, calls, origin }: Extract<ModelMessage, { role: 'assistant' }>): AssistantMessage {
  return { role: 'assistant', parts: partsOf(content), calls, ...defined({ origin }) };
}

/** The request with its block before it; the user's queued messages follow. */
function placeRequest(message: Extract<ModelMessage, { role: 'user' }>, { midSystem }: Arrangement): WireMessage[] {
  const { content, block, images, queued = [] } = message;
  const request = { role: 'user', parts: partsOf(content), ...defined({ images }) } as const;
  const own = block === undefined ? 'inside' : placeOf(block, midSystem);
  return [
    ...(own === 'inside' ? [] : own),
    block !== undefined && own === 'inside' ? { ...request, parts: [block.text, ...request.parts] } : request,
    ...queued.map((text): WireMessage => ({ role: 'user', parts: [text] })),
  ];
}

/** The result, then what follows the results of its batch: found tools, the block, then the user's queued messages. */
function placeResult(message: Extract<ModelMessage, { role: 'tool' }>, rules: Arrangement): WireMessage[] {
  const { call, content, block, images, queued, found = [], failed } = message;
  const own = block === undefined ? [] : placeOf(block, rules.midSystem);
  const texts = queued ?? (images === undefined ? [] : [IMAGES_ABOVE]);
  const parts = [
    ...(block?.format === 'markdown' ? [block.text] : []),
    ...partsOf(content),
    ...(block !== undefined && block.format !== 'markdown' && own === 'inside' ? [block.text] : []),
    ...(rules.queuedInside && texts.length > 0 ? [[WROTE, ...texts].join('\n\n')] : []),
  ];
  const last = texts.length - 1;
  const words = texts.map(
    (text, index): WireMessage => ({ role: 'user', parts: [text], ...(index === last && images && { images }) }),
  );
  // Images cannot be inside a result.
  const pictures: WireMessage[] = images === undefined ? [] : [{ role: 'user', parts: [IMAGES_ABOVE], images }];
  const isDescribed = rules.midTools && found.length > 0 && failed !== true;
  const tools: WireMessage[] = isDescribed ? [{ role: 'system', parts: [], tools: found }] : [];
  return [
    { role: 'tool', call, parts },
    ...tools,
    ...(own === 'inside' ? [] : own),
    ...(rules.queuedInside ? pictures : words),
  ];
}

/** The messages that carry a block, or `inside`: it is part of the text of its result or request. */
function placeOf(block: Block, midSystem: boolean): readonly WireMessage[] | 'inside' {
  switch (block.format) {
    case 'xml':
    case 'markdown':
      return 'inside';
    case 'developer':
      return midSystem ? [{ role: 'system', parts: [block.text] }] : 'inside';
    case 'synthetic-tool':
      return syntheticCall(block);
    default:
      return unreachable(block.format);
  }
}

/** The id is the carrier's, so the same log gives the same bytes. */
function syntheticCall({ id = '', text }: Block): WireMessage[] {
  const call = `notification_${id}`;
  return [
    { role: 'assistant', parts: [], calls: [{ id: call, name: NOTIFICATION_TOOL, arguments: '{}' }] },
    { role: 'tool', call, parts: [text] },
  ];
}

function partsOf(text: string): string[] {
  return text === '' ? [] : [text];
}

/** Makes consecutive pairs of one call and its result of an answer with several calls. */
function splitCalls(messages: readonly WireMessage[]): WireMessage[] {
  const split: WireMessage[] = [];
  for (let index = 0; index < messages.length; index += 1) {
    const message = messages[index];
    if (message === undefined) break;
    split.push(message);
    if (message.role !== 'assistant' || message.calls.length < 2) continue;
    split.pop();
    const results = new Map<string, WireMessage>();
    for (let next = messages[index + 1]; next?.role === 'tool'; next = messages[index + 1]) {
      results.set(next.call, next);
      index += 1;
    }
    message.calls.forEach((call, at) => {
      const result = results.get(call.id);
      split.push(at === 0 ? { ...message, calls: [call] } : { ...message, parts: [], calls: [call], firstCall: at });
      if (result !== undefined) split.push(result);
    });
  }
  return split;
}

/** Merges adjacent messages where an endpoint may refuse them. Tool results stay separate: each belongs to its call. */
function merge(messages: readonly WireMessage[], { alternation }: Arrangement): WireMessage[] {
  const merged: WireMessage[] = [];
  for (const message of messages) {
    const last = merged.at(-1);
    // Where it need not be, a request is not merged into an earlier one, which endpoints may have cached.
    const joined = last && !(message.role === 'user' && alternation === 'free') ? join(last, message) : undefined;
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
  if (first.role === 'system' && second.role === 'system') {
    return first.tools === undefined && second.tools === undefined ? { role: 'system', parts } : undefined;
  }
  if (first.role !== 'assistant' || second.role !== 'assistant' || first.calls.length > 0) return undefined;
  // Of two answers, neither is what the API returned.
  const origin =
    first.origin === undefined || second.origin === undefined ? (first.origin ?? second.origin) : undefined;
  return { role: 'assistant', parts, calls: second.calls, ...defined({ origin }) };
}

function bridge(messages: readonly WireMessage[], rules: Arrangement, isStart: boolean): WireMessage[] {
  const strict = rules.alternation === 'strict';
  return messages.flatMap((message, index): WireMessage[] => {
    const before = messages[index - 1];
    if (before === undefined) return isStart && strict && message.role === 'assistant' ? [opening, message] : [message];
    const apart = message.role === 'user' && before.role === 'tool' && (strict || !rules.userAfterTool);
    return apart ? [bridging, message] : [message];
  });
}

const opening: WireMessage = { role: 'user', parts: [OPENING] };
const bridging: WireMessage = { role: 'assistant', parts: [BRIDGE], calls: [] };
