// Composes the tools that search, read problems and symbols, fetch pages and keep the to-do list.
import { lookup } from 'node:dns/promises';
import { type Disposable } from '../../base/disposable.ts';
import { type Clock, type Logger, type Producer, type Tool } from '../../core/ports/ports.ts';
import { type ProblemFacts, type ReportedProblems } from '../../core/ports/problems.ts';
import { type Workspace } from '../../core/ports/workspace.ts';
import { createDiagnosticsProducer } from '../../producers/diagnostics/diagnostics.ts';
import { createProblemFacts } from '../../producers/diagnostics/problemFacts.ts';
import { createFetchUrlTool } from '../../tools/fetchUrl.ts';
import { createDiagnosticsTool } from '../../tools/language/diagnostics.ts';
import { createQuickFixTool } from '../../tools/language/quickFix.ts';
import { createSymbolsTool } from '../../tools/language/symbols.ts';
import { createSearchTool } from '../../tools/searching/search.ts';
import { todoTool } from '../../tools/todo.ts';
import { DiagnosticsSource } from '../sources/diagnostics.ts';
import { findRipgrep } from '../workspace/ripgrep.ts';
import { createLanguages } from './languages.ts';
import { createQuickFixes } from './quickFixes.ts';

export interface LanguageTools extends Disposable {
  readonly tools: readonly Tool[];
  readonly producer: Producer;
  readonly problems: ReportedProblems;
  readonly facts: ProblemFacts;
}

export function createLanguageTools(deps: {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly workspace: Workspace;
}): LanguageTools {
  const problems = new DiagnosticsSource(deps.logger);
  const diagnostics = createDiagnosticsProducer({ ...deps, problems });
  const facts = createProblemFacts({ ...deps, problems, reported: diagnostics });
  const fixes = createQuickFixes({ clock: deps.clock, problems, reported: diagnostics });
  return {
    tools: [
      createSearchTool({ ripgrep: findRipgrep }),
      createDiagnosticsTool({ problems, reported: diagnostics }),
      createQuickFixTool(fixes),
      createSymbolsTool(createLanguages()),
      createFetchUrlTool({ lookup: (hostname) => lookup(hostname, { all: true }) }),
      todoTool,
    ],
    producer: diagnostics,
    problems: diagnostics,
    facts,
    dispose: () => {
      facts.dispose();
      fixes.dispose();
      problems.dispose();
    },
  };
}
