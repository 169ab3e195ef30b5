// The preview of a message: its first 100 characters, without splitting a surrogate pair.

const PREVIEW_LENGTH = 100;

export function previewOf(content: string): string {
  let end = 0;
  for (let count = 0; count < PREVIEW_LENGTH && end < content.length; count++) {
    end += (content.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  return end < content.length ? `${content.slice(0, end)}...` : content;
}
