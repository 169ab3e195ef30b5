// Decides what every wire starts from: blocks placed, roles as far as they are taken, neighbours of one role merged. Pure.
import { type ImageReference, type ModelMessage } from '../../core/ports/modelMessages.ts';
import { placeBlock } from './placeBlock.ts';

/** A message before the endpoint's own rules are applied: one role, text parts, perhaps calls. */
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

/** What stands over images that came with words in a tool's result, which can hold no image itself. */
const IMAGES_ABOVE = 'Attached to the user’s message above:';

/** `midSystem`: whether a system message may stand later than first. */
export function arrange(
  messages: readonly ModelMessage[],
  { midSystem }: { readonly midSystem: boolean },
): WireMessage[] {
  const placed = messages.flatMap((message) => [
    ...placeBlock(toWire(message), blockOf(message)),
    ...imagesBehind(message),
  ]);
  return merge(placed.map((message) => (midSystem ? message : demote(message))));
}

function imagesBehind(message: ModelMessage): WireMessage[] {
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

/** Neighbours of one role are one message everywhere; results of tools stay apart, as each belongs to its call. */
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
