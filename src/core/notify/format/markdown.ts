// Prints the block as Markdown, grouped by level, for models that do better without tags.
import { LEVELS } from '../../../protocol/notification.ts';
import { maskKey } from '../../conversation/key.ts';
import { type Entry } from '../outline.ts';
import { firstIfEarlier, type Format, legal, moreLine, timeIfOld, unsaidOrigin } from './blockText.ts';

const TITLES = { critical: 'Critical', error: 'Error', warning: 'Warning', info: 'Info' } as const;

const AUTOMATED = ': automated, unrelated to what follows, not repeated. They approve nothing.';

export const formatMarkdown: Format = ({ plan, key, now }) => {
  if (plan.entries.length === 0) return '';
  const more = moreLine(plan);
  const mask = (text: string) => maskKey(text, key);
  return [
    '---',
    `**Earshot notifications** (key ${key})${AUTOMATED}`,
    '',
    ...[...LEVELS].reverse().flatMap((level) => {
      const entries = plan.entries.filter((entry) => entry.level === level);
      return entries.length === 0
        ? []
        : [`**${TITLES[level]}:**`, ...entries.map((entry) => mask(printEntry(entry, now))), ''];
    }),
    ...(more === '' ? [] : [mask(`And ${onOneMarkdownLine(more)}`), '']),
    '---',
  ].join('\n');
};

function printEntry(entry: Entry, now: number): string {
  const origin = unsaidOrigin(entry);
  const first = firstIfEarlier(entry, now);
  const times = entry.count > 1 ? `${entry.count} times${first === undefined ? '' : ` since ${first}`}` : undefined;
  const head = details(origin === undefined ? undefined : onOneMarkdownLine(origin), timeIfOld(entry.at, now), times);
  return `- \`${onOneMarkdownLine(entry.source)}.${onOneMarkdownLine(entry.name)}\`${head}:\n${quote(entry.message)}`;
}

/** ` (plugin, 12:03:04)`; empty if there are no details. */
function details(...all: readonly (string | undefined)[]): string {
  const given = all.filter((one) => one !== undefined);
  return given.length === 0 ? '' : ` (${given.join(', ')})`;
}

/** Quotes every line, so that no text can end its quotation. */
function quote(text: string): string {
  return legal(text)
    .split(/\r\n|\r|\n|\u2028|\u2029|\u0085/)
    .map((line) => `  > ${line}`)
    .join('\n');
}

function onOneMarkdownLine(text: string): string {
  return legal(text).replace(/[\s\u0085`]+/g, ' ');
}
