// Images and sound that the card of a call can show.

/** Kinds that every webview shows and that cannot contain programs. */
export const CARD_MEDIA_TYPES = [
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'audio/wav',
  'audio/mpeg',
  'audio/ogg',
  'audio/webm',
  'audio/mp4',
] as const;
export type CardMediaType = (typeof CARD_MEDIA_TYPES)[number];

/** Limit for one call. */
export const MOST_CARD_MEDIA = 8;
