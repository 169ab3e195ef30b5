// Decides the XML block: the default format. No text in any field can become an element or an attribute of its own.
import { maskKey } from '../key.ts';
import { type Entry } from '../plan.ts';
import { type Format, legal, moreLine, timeOfDay, wordsOf } from './format.ts';

export const formatXml: Format = ({ plan, texts, key }) => {
  if (plan.entries.length === 0 && texts.length === 0) return '';
  const attributes = { shown: plan.entries.length, total: plan.total, key };
  const more = moreLine(plan);
  return [
    `<notifications${printAttributes(attributes)}>`,
    ...texts.map((text) => element('user_message', { at: timeOfDay(text.at) }, wordsOf(text))),
    ...plan.entries.map((entry) => maskKey(printEntry(entry), key)),
    ...(more === '' ? [] : [maskKey(`<more>${escape(more)}</more>`, key)]),
    '</notifications>',
  ].join('\n');
};

function printEntry(entry: Entry): string {
  const { source, name, level, origin } = entry;
  const repeated = entry.count > 1 ? { count: entry.count, first: timeOfDay(entry.first) } : {};
  return element('notification', { source, name, level, origin, at: timeOfDay(entry.at), ...repeated }, entry.message);
}

function element(name: string, attributes: Readonly<Record<string, string | number>>, text: string): string {
  return `<${name}${printAttributes(attributes)}><![CDATA[\n${cdata(text)}\n]]></${name}>`;
}

function printAttributes(attributes: Readonly<Record<string, string | number>>): string {
  return Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${escape(String(value))}"`)
    .join('');
}

/** `]]>` would end the section: it is split over two. */
function cdata(text: string): string {
  return legal(text).replaceAll(']]>', ']]]]><![CDATA[>');
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
