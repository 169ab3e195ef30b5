// Parses tool results and notification blocks for the Guide. What it cannot parse is shown verbatim.
import { type Kind } from '../../protocol/notification.ts';
import { SYSTEM_REQUEST } from '../../core/conversation/projections/messages.ts';

/** Recognizes results of rejected calls. */
export function wasRefused(result: string): boolean {
  return result.startsWith('The user rejected this call') || result.trimEnd().endsWith('Cancelled by the user.');
}

/** The user's reason, if given. */
export function reasonIn(refusal: string): string | undefined {
  const reason = refusal.match(/^The user rejected this call: ([^\n]*?)\.?$/m)?.[1];
  return reason === 'no reason given' ? undefined : reason;
}

export function isSystemRequest(content: string): boolean {
  return content.startsWith(SYSTEM_REQUEST);
}

/** The last exit code that a command or task reports. */
export function exitCodeIn(result: string): number | undefined {
  const text = result.trimEnd();
  const found = /^\(exit code (\d+)(?:[^\d()][^()]*)?\)$/.exec(text.slice(Math.max(0, text.lastIndexOf('('))));
  return found?.[1] === undefined ? undefined : Number(found[1]);
}

/** The user's queued messages, oldest first. */
export function userTextsIn(block: string | undefined): string[] {
  return elementsIn(block ?? '', 'user_message').map(({ body }) => body);
}

export interface NotifiedEntry {
  readonly kind: Kind;
  readonly body: string;
}

export function entriesIn(block: string): NotifiedEntry[] {
  return elementsIn(block, 'notification').flatMap(({ attributes, body }) => {
    const [, source, name] = /^ source="([^"]*)" name="([^"]*)"/.exec(attributes) ?? [];
    return source === undefined || name === undefined ? [] : [{ kind: { source, name }, body }];
  });
}

export function moreIn(block: string): string | undefined {
  const start = block.indexOf('<more>');
  const end = start === -1 ? -1 : block.indexOf('</more>', start);
  return end === -1 ? undefined : block.slice(start + '<more>'.length, end);
}

/**
 * Elements of a block with a body. A body may contain what looks like an element, so each is skipped as a whole. Logs of
 * earlier versions have bodies on lines of their own.
 */
function elementsIn(block: string, name: string): { readonly attributes: string; readonly body: string }[] {
  const [open, close] = ['<![CDATA[', `]]></${name}>`];
  const found: { attributes: string; body: string }[] = [];
  for (let start = block.indexOf(`<${name}`); start !== -1; start = block.indexOf(`<${name}`, start)) {
    const head = block.indexOf('>', start);
    if (head === -1) break;
    const attributes = block.slice(start + name.length + 1, head);
    start = head + 1;
    if (!block.startsWith(open, start)) continue;
    const end = block.indexOf(close, start + open.length);
    if (end === -1) break;
    const body = block
      .slice(start + open.length, end)
      .replace(/^\n/, '')
      .replace(/\n$/, '');
    found.push({ attributes, body: joinSections(body) });
    start = end + close.length;
  }
  return found;
}

function joinSections(text: string): string {
  return text.replaceAll(']]]]><![CDATA[>', ']]>');
}

/** Files that `diagnostics` lists: `src/a.ts (2)`. */
export function filesWithProblems(result: string): string[] {
  return [...result.matchAll(/^(\S.*) \((\d+)\)$/gm)].map(([, path = '']) => path);
}

/** `3 problems in 2 files, 1 of them errors:` or none. */
export function countProblems(result: string): number {
  return Number(result.match(/^(\d+) problems? in /)?.[1] ?? 0);
}

export interface ListedFix {
  readonly line: number;
  readonly problem: string;
  readonly title: string;
  readonly preferred: boolean;
}

/** What `quick_fix` lists: for each problem its first preferred fix, or its first. */
export function fixesIn(result: string): ListedFix[] {
  const fixes: ListedFix[] = [];
  let problem: { line: number; text: string } | undefined;
  let best: ListedFix | undefined;
  const keep = () => {
    if (best !== undefined) fixes.push(best);
    best = undefined;
  };
  for (const text of result.split('\n')) {
    const head = text.match(/^line (\d+): (.+)$/);
    if (head !== null) {
      keep();
      problem = { line: Number(head[1]), text: head[2] ?? '' };
      continue;
    }
    const offered = text.match(/^ {2}- (.+?)( \(preferred\))?$/);
    if (offered === null || problem === undefined) continue;
    const preferred = offered[2] !== undefined;
    if (best === undefined || (preferred && !best.preferred)) {
      best = { line: problem.line, problem: problem.text, title: offered[1] ?? '', preferred };
    }
  }
  keep();
  return fixes;
}

/** The files that `list_files` names, without folders and notes. */
export function filesIn(result: string): string[] {
  return result.split('\n').filter((line) => line !== '' && !line.endsWith('/') && !line.startsWith('('));
}
