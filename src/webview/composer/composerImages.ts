// Reads images, checks their type and size, and makes small copies. Loaded with the first image.
import { ignore } from '../../base/async.ts';
import type { FromPage } from '../../protocol/webview.ts';
import { strings } from '../strings/strings.ts';

const LARGEST = 10_000_000;
const TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const PREVIEW_SIZE = 96;
/** Larger images, such as photos from a phone, are shrunk: models do not use more. */
const SHRUNK_ABOVE = 4_000_000;
const LONGEST_SIDE = 2400;

type AttachImage = Extract<FromPage, { type: 'attach' }>;

/** The message to the host, or an error message. */
export async function readImage(chosen: File): Promise<AttachImage | string> {
  if (!TYPES.has(chosen.type)) return strings.imageType(chosen.name);
  const file = chosen.size > SHRUNK_ABOVE ? await shrink(chosen) : chosen;
  if (file.size > LARGEST) return strings.imageTooLarge(file.name);
  const [data, preview] = await Promise.all([toBase64(file), drawPreview(file)]);
  return {
    type: 'attach',
    name: file.name.slice(-300),
    media_type: file.type,
    data,
    ...(preview === undefined ? {} : { preview }),
  };
}

/** The image itself if the browser cannot decode it. */
async function shrink(file: File): Promise<File> {
  const canvas = await draw(file, LONGEST_SIDE);
  if (canvas === undefined) return file;
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/jpeg', 0.9));
  if (blob === null || blob.size >= file.size) return file;
  return new File([blob], file.name.replace(/\.\w{1,5}$/, '.jpg'), { type: blob.type });
}

function toBase64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => {
      const url = typeof reader.result === 'string' ? reader.result : '';
      resolve(url.slice(url.indexOf(',') + 1));
    };
    reader.onerror = () => reject(new Error('the file cannot be read'));
    reader.readAsDataURL(file);
  });
}

/** Undefined for images that the browser cannot decode; the endpoint may still accept them. */
async function drawPreview(file: File): Promise<string | undefined> {
  return (await draw(file, PREVIEW_SIZE))?.toDataURL('image/png');
}

/** A small copy of an image in base64, as a data URL; undefined if the browser cannot decode it. */
export async function drawThumbnail(data: string, type: string, longestSide: number): Promise<string | undefined> {
  const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  return (await draw(new Blob([bytes], { type }), longestSide))?.toDataURL('image/webp');
}

async function draw(file: Blob, longestSide: number): Promise<HTMLCanvasElement | undefined> {
  const bitmap = await createImageBitmap(file).catch(ignore);
  if (bitmap === undefined) return undefined;
  const scale = Math.min(1, longestSide / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  return canvas;
}
