// Parses tool results and notification blocks for the Guide, which shows text that cannot be parsed as it is.
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

/** The user's queued messages, oldest first. In logs of earlier versions the block contains them. */
export function userTextsIn(block = '', queued: readonly string[] = []): readonly string[] {
  return [...elementsIn(block, 'user_message').map(({ body }) => body), ...queued];
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
 * The elements of a block that have a body. Continues after the end of each element, since a body may contain text that
 * looks like an element. In logs of earlier versions, bodies are on separate lines.
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

/** The files in a result of `diagnostics`, in lines such as `src/a.ts (2)`. */
export function filesWithProblems(result: string): string[] {
  return [...result.matchAll(/^(\S.*) \((\d+)\)$/gm)].map(([, path = '']) => path);
}

/** Reads the number from a first line such as `3 problems in 2 files, 1 of them errors:`; 0 without one. */
export function countProblems(result: string): number {
  return Number(result.match(/^(\d+) problems? in /)?.[1] ?? 0);
}

export interface ListedFix {
  readonly line: number;
  readonly problem: string;
  readonly title: string;
  readonly preferred: boolean;
}

/** The fixes in a result of `quick_fix`: for each problem the first preferred one, or else the first. */
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

/** The files in a result of `list_files`, without folders and notes. */
export function filesIn(result: string): string[] {
  return result.split('\n').filter((line) => line !== '' && !line.endsWith('/') && !line.startsWith('('));
}
