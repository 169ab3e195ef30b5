// Decides the Guide's words: what it is, what it understands, what a step brought, and what it was told meanwhile.
import { fenceAround } from '../../base/text.ts';
import { entriesIn, exitCodeIn, moreIn, type NotifiedEntry, userTextsIn } from './guideReading.ts';

const LONGEST_EXCERPT = 1500;

export const SUGGESTIONS = [
  ['tour', 'a short tour, two minutes'],
  ['read README.md', 'and I am told when it changes'],
  ['search "TODO" in src', ''],
  ['show the problems', 'what language servers report'],
  ['fix the problems then run task check', 'with the editor’s own quick fixes'],
  ['replace "old" with "new" in notes.txt', ''],
  ['run npm test', 'I ask first'],
  ['run npm run watch in the background', 'it goes on while we talk'],
  ['watch src/**/*.ts', 'to hear of files I have not read'],
  ['what happened', 'everything I was told'],
] as const;

export function introduce(): string {
  return [
    'I am the **Guide**: built in, offline, and no AI. I follow rules, with the same tools, approvals and ears as a model, so you can see how Earshot works before you choose one.',
    'I understand these, and several joined by “then”:',
    SUGGESTIONS.map(([text, why]) => `- \`${text}\`${why === '' ? '' : ` — ${why}`}`).join('\n'),
    'Change a file I have read while a command runs, and I will tell you what I heard. A real model: *Earshot: Choose Model*.',
  ].join('\n\n');
}

export function notUnderstood(): string {
  return `That is beyond my rules.\n\n${introduce()}`;
}

export function reportRead(path: string, result: string): string {
  const lines = countLines(result);
  return `That is \`${path}\`, ${lines}. If it changes, I will be told.`;
}

export function reportText(what: string, result: string): string {
  return `${what}\n\n${fence(result)}`;
}

export function reportRun(what: string, result: string): string {
  const code = exitCodeIn(result);
  const verdict =
    code === undefined ? 'This is what came of' : code === 0 ? 'Passed:' : `Failed with exit code ${code}:`;
  return `${verdict} ${what}\n\n${fence(result)}`;
}

function countLines(text: string): string {
  // The end of the last line begins no other.
  const lines = text === '' ? 0 : text.replace(/\n$/, '').split('\n').length;
  return `${lines} ${lines === 1 ? 'line' : 'lines'}`;
}

/** What rode a result or a request, as the model gets it. */
export function describeBlock(block: string | undefined): string {
  if (block === undefined) return '';
  const wrote = userTextsIn(block).map((text) => `**You wrote meanwhile:** ${text}`);
  const entries = entriesIn(block);
  const more = moreIn(block);
  // A block in another format is shown as it is.
  if (entries.length === 0 && wrote.length === 0) return `**Meanwhile I was told:**\n\n${fence(block)}`;
  if (entries.length === 0) return wrote.join('\n\n');
  const told = [
    '**Meanwhile I was told:**',
    ...entries.map(describeEntry),
    ...(more === undefined ? [] : [`And ${more}`]),
  ];
  return [...wrote, ...told].join('\n\n');
}

function describeEntry({ kind, body }: NotifiedEntry): string {
  const [first = '', ...rest] = body.split('\n');
  if (rest.length === 0) return `- \`${kind}\`: ${first}`;
  const isDiff =
    rest.some((line) => line.startsWith('@@')) ||
    (rest.some((line) => /^[+-]/.test(line)) && rest.every((line) => /^[+ -]/.test(line)));
  return `- \`${kind}\`: ${first}\n\n${fence(rest.join('\n'), isDiff ? 'diff' : '')}`;
}

/** A fence longer than any in the text; of a long one its end, where the news is. */
export function fence(text: string, language = ''): string {
  const marks = fenceAround(text);
  const cut = text.length > LONGEST_EXCERPT ? `…\n${text.slice(-LONGEST_EXCERPT)}` : text;
  return `${marks}${language}\n${cut.trimEnd()}\n${marks}`;
}
