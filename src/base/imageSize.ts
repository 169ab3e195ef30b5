// Reads the kind and the size of an image from its first bytes: PNG, JPEG, GIF and WebP.

export interface ImageSize {
  readonly mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  readonly width: number;
  readonly height: number;
}

/** Undefined: it is none of these, or damaged. */
export function readImageSize(bytes: Uint8Array): ImageSize | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = readPng(view) ?? readGif(view) ?? readWebp(view) ?? readJpeg(view);
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined;
}

function readPng(view: DataView): ImageSize | undefined {
  if (view.byteLength < 24 || view.getUint32(0) !== 0x89504e47 || view.getUint32(4) !== 0x0d0a1a0a) return undefined;
  return { mediaType: 'image/png', width: view.getUint32(16), height: view.getUint32(20) };
}

function readGif(view: DataView): ImageSize | undefined {
  const isGif = view.byteLength >= 10 && ['GIF87a', 'GIF89a'].includes(textAt(view, 0, 6));
  return isGif
    ? { mediaType: 'image/gif', width: view.getUint16(6, true), height: view.getUint16(8, true) }
    : undefined;
}

/** The size is in the first chunk, in one of three forms. */
function readWebp(view: DataView): ImageSize | undefined {
  if (view.byteLength < 30 || textAt(view, 0, 4) !== 'RIFF' || textAt(view, 8, 4) !== 'WEBP') return undefined;
  const mediaType = 'image/webp';
  switch (textAt(view, 12, 4)) {
    case 'VP8 ':
      return { mediaType, width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    case 'VP8L': {
      const bits = view.getUint32(21, true);
      return { mediaType, width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X': {
      const at = (offset: number) => (view.getUint32(offset, true) & 0xffffff) + 1;
      return { mediaType, width: at(24), height: (view.getUint32(26, true) >>> 8) + 1 };
    }
    default:
      return undefined;
  }
}

/** Goes from segment to segment until the one with the size; each step moves forward, so it ends. */
function readJpeg(view: DataView): ImageSize | undefined {
  if (view.byteLength < 4 || view.getUint16(0) !== 0xffd8) return undefined;
  for (let at = 2; at + 9 <= view.byteLength; ) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    // SOF0 to SOF15, without the markers for tables and arithmetic coding.
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      return { mediaType: 'image/jpeg', width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    }
    // Filling bytes and markers without a length.
    if (marker === 0xff) at += 1;
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) at += 2;
    else at += 2 + Math.max(2, view.getUint16(at + 2));
  }
  return undefined;
}

function textAt(view: DataView, from: number, length: number): string {
  return Array.from({ length }, (_, index) => String.fromCharCode(view.getUint8(from + index))).join('');
}
