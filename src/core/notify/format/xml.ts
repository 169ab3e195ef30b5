// Prints the block as XML, the default format. No text in any field can become an element or an attribute.
import { maskKey } from '../../conversation/key.ts';
import { type Entry } from '../outline.ts';
import { firstIfEarlier, type Format, legal, moreLine, timeIfOld, unsaidOrigin } from './blockText.ts';

type Attributes = Readonly<Record<string, string | number | undefined>>;

interface Element {
  readonly name: 'notification' | 'more';
  readonly attributes: Attributes;
  /** Already escaped. */
  readonly content: string;
}

/** A single entry has the key itself; several are inside one element that has the key. */
export const formatXml: Format = ({ plan, key, now }) => {
  const more = moreLine(plan);
  const elements: Element[] = [
    ...plan.entries.map((entry) => notification(entry, now)),
    ...(more === '' ? [] : [{ name: 'more', attributes: {}, content: escape(more) } as const]),
  ];
  const [first, ...others] = elements;
  if (first === undefined) return '';
  if (others.length === 0) return printElement(first, key, true);
  return [
    `<notifications${printAttributes({ shown: plan.entries.length, total: plan.total, key })}>`,
    ...elements.map((element) => printElement(element, key, false)),
    '</notifications>',
  ].join('\n');
};

function notification(entry: Entry, now: number): Element {
  const { source, name, level, count } = entry;
  const repeated = count > 1 ? { count, first: firstIfEarlier(entry, now) } : {};
  const attributes = { source, name, level, origin: unsaidOrigin(entry), at: timeIfOld(entry.at, now), ...repeated };
  return { name: 'notification', attributes, content: cdata(entry.message) };
}

/** The key appears once in the block, whatever the texts contain. */
function printElement({ name, attributes, content }: Element, key: string, lone: boolean): string {
  const opening = maskKey(`<${name}${printAttributes(attributes)}`, key);
  return `${opening}${lone ? printAttributes({ key }) : ''}>${maskKey(content, key)}</${name}>`;
}

function printAttributes(attributes: Attributes): string {
  return Object.entries(attributes)
    .map(([name, value]) => (value === undefined ? '' : ` ${name}="${escape(String(value))}"`))
    .join('');
}

/** `]]>` would end the section, so it is split over two sections. */
function cdata(text: string): string {
  return `<![CDATA[${legal(text).replaceAll(']]>', ']]]]><![CDATA[>')}]]>`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '\n': '&#10;',
  '\r': '&#13;',
  '\t': '&#9;',
};

function escape(text: string): string {
  return legal(text).replace(/[&<>"'\n\r\t]/g, (character) => ESCAPES[character] ?? character);
}
