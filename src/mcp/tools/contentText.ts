// Converts a server's result to text for the model: text, structured data and links. Sound is only described; images are
// described and shown by `core/tools/shownImages.ts`.
import * as z from 'zod';
import { wholeCharacters } from '../../base/text.ts';
import { type McpContent } from '../session/sessionPort.ts';

const MOST_BLOCKS = 1000;

const meta = { uri: z.string(), mimeType: z.string().optional() };
const blockSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.enum(['image', 'audio']), data: z.string(), mimeType: z.string() }),
  z.object({
    type: z.literal('resource_link'),
    ...meta,
    name: z.string().optional(),
    title: z.string().optional(),
    description: z.string().optional(),
    size: z.number().optional(),
  }),
  z.object({
    type: z.literal('resource'),
    resource: z.object({ ...meta, text: z.string().optional(), blob: z.string().optional() }),
  }),
]);
type Block = z.infer<typeof blockSchema>;

export function contentText(blocks: readonly unknown[]): string {
  const texts = blocks.slice(0, MOST_BLOCKS).map((block) => {
    const parsed = blockSchema.safeParse(block);
    return parsed.success ? describeBlock(parsed.data) : '(content of a kind that is not known)';
  });
  const more = blocks.length > MOST_BLOCKS ? [`(${blocks.length - MOST_BLOCKS} more parts were left out)`] : [];
  return [...texts, ...more].join('\n');
}

/** The text of the whole result. Structured data is left out if a text part has the same content. */
export function resultText({ blocks, structured }: McpContent): string {
  const text = contentText(blocks);
  if (structured === undefined) return text;
  const data = JSON.stringify(structured);
  const isRepeated = isOnlyText(structured, text) || blocks.some((block) => isSameData(block, data));
  return isRepeated ? text : [text, `Structured result:\n${data}`].filter((one) => one !== '').join('\n');
}

/** Detects `{"content": "…"}` with the same text, as the official servers return it. */
function isOnlyText(structured: unknown, text: string): boolean {
  const values = typeof structured === 'object' && structured !== null ? Object.values(structured) : [];
  return values.length === 1 && values[0] === text;
}

function isSameData(block: unknown, data: string): boolean {
  const parsed = blockSchema.safeParse(block);
  if (!parsed.success || parsed.data.type !== 'text') return false;
  try {
    return JSON.stringify(JSON.parse(parsed.data.text)) === data;
  } catch {
    return false;
  }
}

function describeBlock(block: Block): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
      return `(an image, ${short(block.mimeType)}, ${describeSize(block.data)})`;
    case 'audio':
      return `(a recording, ${short(block.mimeType)}, ${describeSize(block.data)}; you cannot be shown it)`;
    case 'resource_link': {
      const { uri, name, title, description, mimeType, size } = block;
      const details = [mimeType, size === undefined ? undefined : `${size} bytes`].filter((one) => one !== undefined);
      const label = short(title ?? name ?? 'resource');
      const about = description === undefined ? '' : `: ${short(description, 500)}`;
      return `[${label}](${short(uri, 2000)})${details.length === 0 ? '' : ` (${details.map((one) => short(one)).join(', ')})`}${about}`;
    }
    case 'resource': {
      const { uri, text, blob, mimeType } = block.resource;
      const head = `Resource ${short(uri, 2000)}:`;
      if (text !== undefined) return `${head}\n${text}`;
      return `${head} (${short(mimeType ?? 'binary data')}, ${describeSize(blob ?? '')}; you cannot be shown it)`;
    }
  }
}

function short(text: string, length = 200): string {
  return wholeCharacters(text.replace(/\s+/g, ' '), length);
}

/** The size of data in base64. */
function describeSize(data: string): string {
  const bytes = Math.floor((data.length * 3) / 4);
  return bytes < 10_000 ? `${bytes} bytes` : `${Math.round(bytes / 1000)} KB`;
}
