// Decides which function prints which format.
import { type Format, type FormatInput, type FormatName } from './format.ts';
import { formatMarkdown } from './markdown.ts';
import { formatXml } from './xml.ts';

/** `developer` and `synthetic-tool` send the XML block by another way; which way is the wire mapping's. */
const formats: Readonly<Record<FormatName, Format>> = {
  xml: formatXml,
  developer: formatXml,
  'synthetic-tool': formatXml,
  markdown: formatMarkdown,
};

export function formatBlock(name: FormatName, input: FormatInput): string {
  return formats[name](input);
}
