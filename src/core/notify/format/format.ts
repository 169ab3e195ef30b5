// Formats the outline of a block as text, in the format of this name.
import { type Format, type FormatInput, type FormatName } from './blockText.ts';
import { formatMarkdown } from './markdown.ts';
import { formatXml } from './xml.ts';

/** `developer` and `synthetic-tool` differ only in where the wire mapping puts the XML block. */
const formats: Readonly<Record<FormatName, Format>> = {
  xml: formatXml,
  developer: formatXml,
  'synthetic-tool': formatXml,
  markdown: formatMarkdown,
};

export function formatBlock(name: FormatName, input: FormatInput): string {
  return formats[name](input);
}
