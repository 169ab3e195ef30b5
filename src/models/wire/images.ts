// The bytes of a request's images, and what stands for an image that cannot be shown.
import { type ImageReference } from '../../core/ports/modelMessages.ts';
import { type ModelRequest } from '../../core/ports/ports.ts';

/** The images of a request in base64, by their hash. Absent if the endpoint accepts none. */
export type ImageBytes = ReadonlyMap<string, string>;

/** Images that a request has shown. */
const shown = new WeakSet<ImageReference>();

/**
 * Reads the images that the messages name. Images whose bytes are gone are left out. `log` gets those that an earlier
 * request had: from there on, the messages are printed differently.
 */
export async function readImages(
  { messages, image }: ModelRequest,
  log?: (message: string) => void,
): Promise<ImageBytes> {
  const images = new Map<string, string>();
  for (const message of messages) {
    if (message.role === 'assistant') continue;
    const own = message.role === 'tool' ? (message.resultImages ?? []) : [];
    for (const reference of [...(message.images ?? []), ...own]) {
      const { hash, name } = reference;
      const bytes = images.has(hash) ? undefined : await image?.(hash);
      if (bytes !== undefined) images.set(hash, Buffer.from(bytes).toString('base64'));
      if (images.has(hash)) shown.add(reference);
      else if (image !== undefined && shown.delete(reference))
        log?.(`The bytes of the image ${name} are gone, so the endpoint cannot read what follows it from its cache.`);
    }
  }
  return images;
}

/** Replaces a missing image, so that the model does not assume its content. */
export function describeMissing({ name }: ImageReference, images: ImageBytes | undefined): string {
  return `(${name} is not shown: ${images === undefined ? 'this model takes no images' : 'its bytes are gone'}.)`;
}
