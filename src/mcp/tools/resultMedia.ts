// Images and sound in the result of an MCP tool, for the card of the call. Bounded in number, size and kind.
import * as z from 'zod';
import { type ShownMedia } from '../../core/ports/shownMedia.ts';
import { CARD_MEDIA_TYPES, MOST_CARD_MEDIA } from '../../protocol/page/cardMedia.ts';

/** Longer media are only described. */
const MOST_BASE64 = 8_000_000;

const mediaSchema = z.object({
  type: z.enum(['image', 'audio']),
  data: z.string().max(MOST_BASE64),
  mimeType: z.enum(CARD_MEDIA_TYPES),
});
const embeddedSchema = z.object({
  type: z.literal('resource'),
  resource: z.object({ blob: z.string().max(MOST_BASE64), mimeType: z.enum(CARD_MEDIA_TYPES) }),
});

export function mediaIn(blocks: readonly unknown[]): readonly ShownMedia[] {
  const media: ShownMedia[] = [];
  for (const block of blocks) {
    if (media.length >= MOST_CARD_MEDIA) break;
    const found = mediaOf(block);
    if (found !== undefined) media.push(found);
  }
  return media;
}

function mediaOf(block: unknown): ShownMedia | undefined {
  const plain = mediaSchema.safeParse(block);
  if (plain.success) return decoded(plain.data.mimeType, plain.data.data);
  const embedded = embeddedSchema.safeParse(block);
  return embedded.success ? decoded(embedded.data.resource.mimeType, embedded.data.resource.blob) : undefined;
}

function decoded(mediaType: ShownMedia['mediaType'], data: string): ShownMedia | undefined {
  const bytes = Buffer.from(data, 'base64');
  return bytes.length === 0 ? undefined : { mediaType, bytes };
}
