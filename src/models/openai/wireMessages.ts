// Converts model messages to wire messages, before the rules of the endpoint are applied: places notification blocks,
// demotes system messages and merges adjacent ones.
import { unreachable } from '../../base/errors.ts';
import { type Block, type ImageReference, type ModelMessage } from '../../core/ports/modelMessages.ts';

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
