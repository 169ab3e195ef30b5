// Compares problems with those already reported to a conversation, and drafts notifications of the difference. Pure.
import { printPath } from '../../../base/printPath.ts';
import { wholeCharacters } from '../../../base/text.ts';
import { type Level, type NotificationDraft } from '../../../protocol/notification.ts';
import { fileScope } from '../../../protocol/scopes.ts';
import { type Problem } from '../../ports/problems.ts';

const MOST_LISTED = 8;
const MOST_FILES_NAMED = 10;
const LINE_LENGTH = 240;

/** The problems of a file that a conversation knows. Not `sure`: no server had checked the file before it changed. */
export interface KnownProblems {
  readonly problems: readonly Problem[];
  readonly sure: boolean;
}

export interface ProblemDelta {
  readonly introduced: readonly Problem[];
  readonly resolved: readonly Problem[];
  /** The number of problems now. */
  readonly left: number;
  readonly sure: boolean;
  /** If not sure: a file that changed before the server's first report. */
  readonly after?: string;
}

/** Without the position, since an edit above a problem moves it without changing it. */
function problemKey({ severity, source, code, message }: Problem): string {
  return JSON.stringify([severity, source, code, message]);
}

/** Equal problems are compared by their number. */
export function compareProblems(known: KnownProblems, now: readonly Problem[]): ProblemDelta {
  return {
    introduced: missing(now, known.problems),
    resolved: missing(known.problems, now),
    left: now.length,
    sure: known.sure,
  };
}

function missing(all: readonly Problem[], from: readonly Problem[]): Problem[] {
  const counts = new Map<string, number>();
  for (const problem of from) counts.set(problemKey(problem), (counts.get(problemKey(problem)) ?? 0) + 1);
  return all.filter((problem) => {
    const count = counts.get(problemKey(problem)) ?? 0;
    counts.set(problemKey(problem), count - 1);
    return count <= 0;
  });
}

const RANK: Readonly<Record<Problem['severity'], number>> = { error: 2, warning: 1, info: 0 };

function worstFirst(problems: readonly Problem[]): Problem[] {
  return [...problems].sort((a, b) => RANK[b.severity] - RANK[a.severity] || a.line - b.line);
}

/** One line, whatever the message contains. */
export function printProblem({ severity, message, line, source = '', code = '' }: Problem): string {
  const who = [source, code].filter((part) => part !== '').join(' ');
  const text = `${severity}${who === '' ? '' : ` ${who}`}: ${message}`.replace(/\s+/g, ' ').trim();
  return `line ${line}: ${text.length > LINE_LENGTH ? `${wholeCharacters(text, LINE_LENGTH)}…` : text}`;
}

function listProblems(problems: readonly Problem[]): string[] {
  const left = problems.length - MOST_LISTED;
  const lines = worstFirst(problems)
    .slice(0, MOST_LISTED)
    .map((problem) => `  ${printProblem(problem)}`);
  return [...lines, ...(left > 0 ? [`  and ${left} more: read the diagnostics of the file.`] : [])];
}

function describeIntroduced(path: string, { introduced, left, sure, after }: ProblemDelta): string {
  const count = introduced.length;
  const problems = `${count} ${sure ? 'new ' : ''}${count === 1 ? 'problem' : 'problems'}`;
  const note = sure ? (left > count ? `, ${left} in all` : '') : ` (${whyUnsure(path, after)})`;
  return [`${path} has ${problems}${note}:`, ...listProblems(introduced)].join('\n');
}

function whyUnsure(path: string, after: string | undefined): string {
  if (after === undefined || after === path) return 'it was not looked at before, so they may be older';
  return `first reported after ${printPath(after)} changed, so they may be older`;
}

function describeResolved(path: string, { resolved, left }: ProblemDelta): string {
  const gone = resolved.length === 1 ? '1 problem is gone' : `${resolved.length} problems are gone`;
  return [
    `${path}: ${gone}, ${left === 0 ? 'none is' : `${left} ${left === 1 ? 'is' : 'are'}`} left.`,
    ...listProblems(resolved),
  ].join('\n');
}

type Draft = Omit<NotificationDraft, 'at'>;

export const INTRODUCED = { source: 'diagnostics', name: 'introduced' } as const;
export const RESOLVED = { source: 'diagnostics', name: 'resolved' } as const;

export function introducedDraft(path: string, delta: ProblemDelta): Draft {
  const [worst] = worstFirst(delta.introduced);
  return draft(INTRODUCED, worst?.severity ?? 'info', path, describeIntroduced(path, delta), delta.left);
}

export function resolvedDraft(path: string, delta: ProblemDelta): Draft {
  return draft(RESOLVED, 'info', path, describeResolved(path, delta), delta.left);
}

function draft(kind: Draft['kind'], level: Level, path: string, message: string, left: number): Draft {
  const subject = fileScope(path);
  return { kind, level, message, subject, scopes: [subject], data: { left }, origin: 'language-server' };
}

/** The number of additional errors, by path. */
export type MoreErrors = readonly (readonly [path: string, more: number])[];

export const OTHERS = 'diagnostics:others';

/** One count for all files that the conversation has not seen. This notification never wakes the model. */
export function othersDraft(more: MoreErrors, scopes: readonly string[]): Draft {
  return {
    kind: INTRODUCED,
    level: 'info',
    message: describeOthers(more),
    subject: OTHERS,
    scopes: [...scopes],
    origin: 'language-server',
  };
}

function describeOthers(more: MoreErrors): string {
  const count = more.reduce((sum, [, errors]) => sum + errors, 0);
  const names = [...more].sort(([, a], [, b]) => b - a).slice(0, MOST_FILES_NAMED);
  const rest = more.length > names.length ? ', …' : '';
  const files = names.map(([path, errors]) => `${path} (${errors})`).join(', ');
  const where = more.length === 1 ? '1 other file' : `${more.length} other files`;
  return `${count} new ${count === 1 ? 'error' : 'errors'} in ${where}: ${files}${rest}. The diagnostics of the workspace list them.`;
}

export interface Settled {
  readonly files: readonly (readonly [path: string, delta: ProblemDelta])[];
  readonly others: MoreErrors;
}

/** The end of an edit's result; undefined if no problem was introduced or resolved. */
export function describeSettled({ files, others }: Settled): string | undefined {
  const parts = files.flatMap(([path, delta]) => [
    ...(delta.introduced.length > 0 ? [describeIntroduced(path, delta)] : []),
    ...(delta.resolved.length > 0 ? [describeResolved(path, delta)] : []),
  ]);
  if (others.length > 0) parts.push(describeOthers(others));
  return parts.length === 0 ? undefined : ['After this edit the language servers say:', ...parts].join('\n');
}
