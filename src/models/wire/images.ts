// The bytes of a request's images, and what stands for an image that cannot be shown.
import { type ImageReference } from '../../core/ports/modelMessages.ts';
import { type ModelRequest } from '../../core/ports/ports.ts';

/** The images of a request in base64, by their hash. Absent if the endpoint accepts none. */
export type ImageBytes = ReadonlyMap<string, string>;

/** Reads the images that the messages name. Images whose bytes are gone are left out. */
export async function readImages({ messages, image }: ModelRequest): Promise<ImageBytes> {
  const images = new Map<string, string>();
  for (const message of messages) {
    if (message.role === 'assistant') continue;
    const own = message.role === 'tool' ? (message.resultImages ?? []) : [];
    for (const { hash } of [...(message.images ?? []), ...own]) {
      const bytes = images.has(hash) ? undefined : await image?.(hash);
      if (bytes !== undefined) images.set(hash, Buffer.from(bytes).toString('base64'));
    }
  }
  return images;
}

/** Replaces a missing image, so that the model does not assume its content. */
export function describeMissing({ name }: ImageReference, images: ImageBytes | undefined): string {
  return `(${name} is not shown: ${images === undefined ? 'this model takes no images' : 'its bytes are gone'}.)`;
}
