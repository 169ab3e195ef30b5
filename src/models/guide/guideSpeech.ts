// Texts of the Guide: its introduction, suggestions, reports of steps, and notifications.
import { fenceAround } from '../../base/text.ts';
import { kindLabel } from '../../protocol/kindLabels.ts';
import { printKind } from '../../protocol/notification.ts';
import { entriesIn, exitCodeIn, moreIn, type NotifiedEntry, userTextsIn } from './guideReading.ts';

const LONGEST_EXCERPT = 1500;

/** Names in capitals stand for the user's own: the Guide does not know what the folder has. */
export const SUGGESTIONS = [
  ['tour', 'a short tour, two minutes'],
  ['read FILE', 'I am notified when it changes'],
  ['search "TEXT" in FOLDER', ''],
  ['show the problems', 'what language servers report'],
  ['fix the problems', 'with the editor’s own quick fixes'],
  ['replace "OLD" with "NEW" in FILE', ''],
  ['run COMMAND', 'I ask first'],
  ['run COMMAND in the background', 'it keeps running while we talk'],
  ['run task NAME', 'a task of the editor'],
  ['watch FOLDER', 'to be notified of files I have not read'],
  ['what happened', 'all notifications so far'],
] as const;

export function introduce(): string {
  return [
    'I am the **Guide**: built in, offline, and no AI. I follow rules, with the same tools, approvals and notifications as a model, so you can see how Earshot works before you choose one.',
    'I understand these, and several joined by “then”. Put your own in place of the capitals:',
    SUGGESTIONS.map(([text, why]) => `- \`${text}\`${why === '' ? '' : ` — ${why}`}`).join('\n'),
    'Change a file I have read while a command runs, and I will show you the notification. For a real model run *Earshot: Choose Model*.',
  ].join('\n\n');
}

export function notUnderstood(): string {
  return `That is beyond my rules.\n\n${introduce()}`;
}

export function reportRead(path: string, result: string): string {
  const lines = describeLineCount(result);
  return `That is \`${path}\`, ${lines}. I will be notified if it changes.`;
}

export function reportText(what: string, result: string): string {
  return `${what}\n\n${fence(result)}`;
}

export function reportRun(what: string, result: string): string {
  const code = exitCodeIn(result);
  const verdict = code === undefined ? 'Result of' : code === 0 ? 'Passed:' : `Failed with exit code ${code}:`;
  return `${verdict} ${what}\n\n${fence(result)}`;
}

function describeLineCount(text: string): string {
  // A final line break does not start another line.
  const lines = text === '' ? 0 : text.replace(/\n$/, '').split('\n').length;
  return `${lines} ${lines === 1 ? 'line' : 'lines'}`;
}

/** Describes the block and the queued messages of a result or request. */
export function describeBlock(block = '', queued: readonly string[] = []): string {
  const wrote = userTextsIn(block, queued).map((text) => `**You wrote meanwhile:** ${text}`);
  const all = entriesIn(block);
  // The user knows which file is in the editor.
  const entries = all.filter(({ kind }) => printKind(kind) !== 'editor.focus');
  const more = moreIn(block);
  // A block in another format is shown as it is.
  if (all.length === 0 && block !== '' && wrote.length === queued.length) {
    const shown = `**I was notified meanwhile:**\n\n${fence(block)}`;
    return [...wrote, shown].join('\n\n');
  }
  if (entries.length === 0) return wrote.join('\n\n');
  const notified = [
    '**I was notified meanwhile:**',
    ...entries.map(describeEntry),
    ...(more === undefined ? [] : [`And ${more}`]),
  ];
  return [...wrote, ...notified].join('\n\n');
}

function describeEntry({ kind, body }: NotifiedEntry): string {
  const [first = '', ...rest] = body.split('\n');
  const label = kindLabel(kind);
  if (rest.length === 0) return `- **${label}**: ${first}`;
  const isDiff =
    rest.some((line) => line.startsWith('@@')) ||
    (rest.some((line) => /^[+-]/.test(line)) && rest.every((line) => /^[+ -]/.test(line)));
  return `- **${label}**: ${first}\n\n${fence(rest.join('\n'), isDiff ? 'diff' : '')}`;
}

/** A code fence that the text cannot close. Of a long text only the end is kept, which is the most relevant part. */
export function fence(text: string, language = ''): string {
  const marks = fenceAround(text);
  const cut = text.length > LONGEST_EXCERPT ? `…\n${text.slice(-LONGEST_EXCERPT)}` : text;
  return `${marks}${language}\n${cut.trimEnd()}\n${marks}`;
}
