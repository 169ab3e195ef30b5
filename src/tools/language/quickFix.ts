// The tool quick_fix: lists the editor's quick fixes for the problems of a file, or applies one.
import * as z from 'zod';
import { type Result, succeeded } from '../../base/errors.ts';
import { type FixableProblem, type QuickFixes } from '../../core/ports/fixes.ts';
import { type Tool, type ToolContext, type ToolOutcome } from '../../core/ports/ports.ts';
import { answer, defineTool, refuse } from '../defineTool.ts';

const MOST_FIXES = 8;

export function createQuickFixTool(fixes: QuickFixes): Tool {
  return defineTool({
    name: 'quick_fix',
    description:
      'Lists the quick fixes that language servers offer for the problems of a file; with title, applies one and saves the file.',
    effect: 'edit',
    previewed: true,
    effectFor: ({ title }) => (title === undefined ? 'read' : 'edit'),
    arguments: {
      path: z.string().min(1).describe('Path relative to the workspace, for example src/app.ts'),
      line: z.int().min(1).optional().describe('Only problems on this line, counted from 1; default: all lines'),
      title: z
        .string()
        .min(1)
        .optional()
        .describe('Title of the quick fix to apply, exactly as listed; default: list only'),
    },
    touches: ({ path }) => ({ paths: [path] }),
    run: async ({ path, line, title }, context) => {
      const file = await context.workspace.resolve(path);
      if (!file.ok) return refuse(file.failure);
      const found = await fixes.of(file.value, { line, signal: context.signal });
      if (!found.ok) return refuse(found.failure);
      const where = line === undefined ? file.value.path : `line ${line} of ${file.value.path}`;
      if (title === undefined) return answer(listFixes(where, found.value));
      const { retryWhileStale } = await import('../changing/opened.ts');
      return retryWhileStale(() => applyFix(found.value, title, where, context));
    },
  });
}

function listFixes(where: string, problems: readonly FixableProblem[]): string {
  if (problems.length === 0) return `No problem is reported in ${where}.`;
  const lines = problems.flatMap((problem) => [printFixableProblem(problem), ...fixesOf(problem)]);
  return [`What the editor offers for ${where}:`, ...lines].join('\n');
}

function printFixableProblem({ line, severity, message, source }: FixableProblem): string {
  const text = `${severity}${source === undefined ? '' : ` ${source}`}: ${message}`;
  return `line ${line}: ${text.replace(/\s+/g, ' ')}`;
}

function fixesOf({ fixes }: FixableProblem): string[] {
  if (fixes.length === 0) return ['  (no fix is offered)'];
  return fixes.slice(0, MOST_FIXES).map(({ title, preferred }) => `  - ${title}${preferred ? ' (preferred)' : ''}`);
}

async function applyFix(
  problems: readonly FixableProblem[],
  title: string,
  where: string,
  context: ToolContext,
): Promise<Result<ToolOutcome>> {
  const offering = problems.filter((problem) => problem.fixes.some((fix) => fix.title === title));
  const [problem] = offering;
  const lines = new Set(offering.map(({ line }) => line));
  if (lines.size > 1) {
    return succeeded(
      refuse('bad_arguments', `line: “${title}” is offered for lines ${[...lines].join(', ')}. Say which.`),
    );
  }
  const fix = problem?.fixes.find((one) => one.title === title);
  if (problem === undefined || fix === undefined) {
    return succeeded(
      refuse('no_fixes', `title: “${title}” is not offered. Nothing was changed.\n${listFixes(where, problems)}`),
    );
  }
  const texts = await fix.texts();
  if (!texts.ok) return succeeded(refuse(texts.failure));
  return (await import('../changing/fix.ts')).applyFix(
    `Applied “${title}” for line ${problem.line}`,
    texts.value,
    context,
  );
}
