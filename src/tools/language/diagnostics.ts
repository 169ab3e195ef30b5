// The tool diagnostics: lists the current problems of a file, a folder or the workspace, worst files first.
import * as z from 'zod';
import { printWholePath } from '../../base/printPath.ts';
import { printProblem } from '../../core/notify/wording/problems.ts';
import { type Tool } from '../../core/ports/ports.ts';
import { type FileProblems, type Problem, type Problems, type ReportedProblems } from '../../core/ports/problems.ts';
import { type FilePath } from '../../core/ports/workspace.ts';
import { answer, defineTool, refuse } from '../defineTool.ts';

const MOST_LISTED = 100;
const MOST_CHARACTERS = 24_000;
const SEVERITIES = ['error', 'warning', 'info'] as const;

export interface DiagnosticsToolDeps {
  readonly problems: Problems;
  readonly reported: ReportedProblems;
}

export function createDiagnosticsTool({ problems, reported }: DiagnosticsToolDeps): Tool {
  return defineTool({
    name: 'diagnostics',
    description:
      'Lists the errors and warnings that language servers and tasks report now, at most 100. Many servers check only open files: pass a file as path to have it checked. You are notified of new and resolved problems after your edits without calling this.',
    effect: 'read',
    traits: { restOf: ['diagnostics'] },
    arguments: {
      path: z.string().min(1).optional().describe('File or folder; default: the whole workspace'),
      severity: z.enum(SEVERITIES).optional().describe('Least severity to list; default info'),
    },
    touches: ({ path }) => ({ paths: path === undefined ? [] : [path] }),
    run: async ({ path, severity = 'info' }, { conversation, workspace, hides, signal }) => {
      const place = path === undefined ? undefined : await workspace.resolve(path);
      if (place?.ok === false) return refuse(place.failure);
      const isFile = place !== undefined && !(await workspace.list(place.value)).ok;
      if (isFile) {
        const there = await workspace.read(place.value);
        if (!there.ok) return refuse(there.failure);
        await reported.look(place.value, signal);
      }
      const found = (
        isFile ? [problems.of(place.value)] : problems.all().filter(({ file }) => isIn(place?.value, file))
      )
        .filter(({ file }) => isFile || !hides(file.path))
        .map((one) => ({ ...one, problems: one.problems.filter((problem) => isBad(problem, severity)) }));
      const { text, whole } = printProblems(found, place?.value);
      // With a higher severity, not all problems were shown.
      if (severity === 'info') await reported.shown(conversation, whole);
      return answer(text);
    },
  });
}

function isIn(place: FilePath | undefined, { path }: FilePath): boolean {
  return place === undefined || place.path === '' || path === place.path || path.startsWith(`${place.path}/`);
}

function isBad(problem: Problem, severity: Problem['severity']): boolean {
  return SEVERITIES.indexOf(problem.severity) <= SEVERITIES.indexOf(severity);
}

function printProblems(
  found: readonly FileProblems[],
  place: FilePath | undefined,
): { text: string; whole: FilePath[] } {
  const files = found.filter(({ problems }) => problems.length > 0);
  const all = files.flatMap(({ problems }) => problems);
  if (all.length === 0) {
    const where = place === undefined || place.path === '' ? 'the workspace' : printWholePath(place.path);
    return { text: `No problem is reported in ${where}.`, whole: found.map(({ file }) => file) };
  }
  const errors = (problems: readonly Problem[]) => problems.filter(({ severity }) => severity === 'error').length;
  const lines: string[] = [];
  const whole: FilePath[] = [];
  let [listed, length] = [0, 0];
  for (const { file, problems } of files.sort((a, b) => errors(b.problems) - errors(a.problems))) {
    const shown = [...problems]
      .sort(worseFirst)
      .slice(0, Math.max(0, MOST_LISTED - listed))
      .map(printProblem);
    const text = [`${printWholePath(file.path)} (${problems.length})`, ...shown.map((line) => `  ${line}`)].join('\n');
    if (length + text.length > MOST_CHARACTERS) break;
    lines.push(text);
    length += text.length + 1;
    listed += shown.length;
    if (shown.length === problems.length) whole.push(file);
  }
  const head = `${all.length} ${all.length === 1 ? 'problem' : 'problems'} in ${files.length} ${files.length === 1 ? 'file' : 'files'}, ${errors(all)} of them errors:`;
  const left = all.length - listed;
  const more = left > 0 ? [`(${left} more are not listed: name a file or a folder, or ask for errors only.)`] : [];
  return { text: [head, ...lines, ...more].join('\n'), whole };
}

function worseFirst(a: Problem, b: Problem): number {
  return SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) || a.line - b.line;
}
