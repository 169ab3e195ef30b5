// Chooses which images of a result the model is shown, within limits that all endpoints accept, and describes each in text.
import { type ImageSize, readImageSize } from '../../base/imageSize.ts';
import { printPath } from '../../base/printPath.ts';
import { type Model } from '../ports/ports.ts';
import { type ShownMedia } from '../ports/shownMedia.ts';

/** The smallest limits of the vendors: Anthropic takes 5 MB in base64, and 8000 pixels on each side. */
const MOST_BYTES = 3_700_000;
const MOST_PIXELS = 8000;
const MOST_IMAGES = 8;
/** Anthropic's formula; larger images are scaled down by the endpoint. */
const PIXELS_PER_TOKEN = 750;
const MOST_TOKENS = 1600;

export interface ChosenImage {
  readonly mediaType: ImageSize['mediaType'];
  readonly name: string;
  /** Estimated. */
  readonly tokens: number;
  readonly bytes: Uint8Array;
}

/** `notes` describe every image, also those that the model is not shown. */
export function chooseImages(
  media: readonly ShownMedia[],
  model: Pick<Model, 'takesImages'>,
): { readonly images: readonly ChosenImage[]; readonly notes: readonly string[] } {
  const images: ChosenImage[] = [];
  const notes: string[] = [];
  for (const [index, { mediaType, bytes, name = `Image ${index + 1}` }] of media.entries()) {
    if (!mediaType.startsWith('image/')) continue;
    const size = readImageSize(bytes);
    const why = size === undefined ? 'it is damaged' : whyNotShown(size, bytes, images.length, model);
    const kind = size === undefined ? mediaType : `${formatOf(size)}, ${size.width} × ${size.height} pixels`;
    const about = `${printPath(name)}: ${kind}, ${bytes.length.toLocaleString('en')} bytes`;
    notes.push(why === undefined ? `(${about})` : `(${about}. You are not shown it: ${why}.)`);
    if (size === undefined || why !== undefined) continue;
    const tokens = Math.min(MOST_TOKENS, Math.ceil((size.width * size.height) / PIXELS_PER_TOKEN));
    // The bytes decide: an endpoint refuses an image whose type is declared wrongly.
    images.push({ mediaType: size.mediaType, name, tokens, bytes });
  }
  return { images, notes };
}

function whyNotShown(
  { width, height }: ImageSize,
  bytes: Uint8Array,
  shown: number,
  { takesImages }: Pick<Model, 'takesImages'>,
): string | undefined {
  if (takesImages === false) return 'this model takes no images';
  if (bytes.length > MOST_BYTES) return `it is larger than ${(MOST_BYTES / 1_000_000).toFixed(1)} MB`;
  if (width > MOST_PIXELS || height > MOST_PIXELS) return `a side is longer than ${MOST_PIXELS} pixels`;
  return shown >= MOST_IMAGES ? `a result shows at most ${MOST_IMAGES} images` : undefined;
}

function formatOf({ mediaType }: ImageSize): string {
  return mediaType === 'image/webp' ? 'WebP' : mediaType.slice('image/'.length).toUpperCase();
}
