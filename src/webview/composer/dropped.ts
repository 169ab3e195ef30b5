// What pasted or dropped data contains: images, and files of the editor.
export function imagesIn(data: DataTransfer | null): File[] {
  return [...(data?.files ?? [])].filter((file) => file.type.startsWith('image/'));
}

const MOST_URIS = 20;
const URI_TYPES = ['application/vnd.code.uri-list', 'text/uri-list'];

/** Files of the editor's Explorer or tabs. */
export function urisIn(data: DataTransfer | null): string[] {
  const text = URI_TYPES.map((type) => data?.getData(type) ?? '').find((one) => one !== '') ?? '';
  const lines = text.split(/\r?\n/, 10 * MOST_URIS).map((line) => line.trim());
  // A link or an image of a page is not a file of the workspace.
  const isFile = (line: string) => line !== '' && line.length <= 5000 && !/^(?:#|https?:|data:|blob:)/i.test(line);
  return lines.filter(isFile).slice(0, MOST_URIS);
}

export function mayDrop({ types }: DataTransfer): boolean {
  return types.includes('Files') || URI_TYPES.some((type) => types.includes(type));
}
