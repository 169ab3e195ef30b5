// Decides how the images that messages name are sent: as data URLs, read when the request is made.
import { type ModelRequest } from '../../core/ports/ports.ts';
import { type Images } from './openaiWire.ts';

/** Those whose bytes are gone are missing. */
export async function loadImages({ messages, image }: ModelRequest): Promise<Images> {
  const images = new Map<string, string>();
  for (const message of messages) {
    if (message.role === 'assistant') continue;
    for (const { hash, mediaType } of message.images ?? []) {
      const bytes = images.has(hash) ? undefined : await image?.(hash);
      if (bytes !== undefined) images.set(hash, `data:${mediaType};base64,${Buffer.from(bytes).toString('base64')}`);
    }
  }
  return images;
}
