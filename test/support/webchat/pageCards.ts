// The cards of calls that a page of the web chat got.
import { expect } from 'vitest';
import { type TranscriptItem } from '../../../src/protocol/transcript.ts';
import { type ToPage } from '../../../src/protocol/webview.ts';
import { type PageStream } from './pageStream.ts';

export type ToolCard = Extract<TranscriptItem, { type: 'tool' }>;

export const itemsOf = (message: ToPage): readonly TranscriptItem[] => {
  if (message.type === 'snapshot') return message.state.items;
  return message.type === 'delta' ? message.changes.flatMap((one) => (one.type === 'item' ? [one.item] : [])) : [];
};

/** The last state of a call's card that fits. */
export async function cardOf(stream: PageStream, id: string, fits: (tool: ToolCard) => boolean): Promise<ToolCard> {
  const cards = () =>
    stream.received.flatMap(itemsOf).filter((item): item is ToolCard => item.type === 'tool' && item.id === id);
  await expect.poll(() => cards().some(fits), { interval: 5 }).toBe(true);
  return cards().findLast(fits) as ToolCard;
}
