// Creates the built-in producers, each with its source in the editor.
import { type Clock, type Logger, type Producer } from '../core/ports/ports.ts';
import { type Snapshots } from '../core/ports/storage.ts';
import { type Workspace } from '../core/ports/workspace.ts';
import { createBudgetProducer } from '../producers/budget.ts';
import { createConfigProducer } from '../producers/config.ts';
import { createDependenciesProducer } from '../producers/dependencies/dependencies.ts';
import { createEditorProducer } from '../producers/files/editor.ts';
import { createFilesProducer } from '../producers/files/files.ts';
import { createGitProducer } from '../producers/git/git.ts';
import { GitGate } from '../producers/git/gitGate.ts';
import { createNotebooksProducer } from '../producers/notebooks.ts';
import { createTestReportsProducer } from '../producers/testReports/testReports.ts';
import { createTerminalsProducer } from '../producers/terminals.ts';
import { editorBuffers } from './sources/buffers.ts';
import { createEditorFiles } from './sources/files.ts';
import { notebookRuns } from './sources/notebooks.ts';
import { editorTerminals } from './sources/terminals.ts';

export function createProducers(deps: {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly snapshots: Snapshots;
  readonly workspace: Workspace;
  /** Globs of test reports. */
  reports(): readonly string[];
}): readonly Producer[] {
  const gate = new GitGate();
  const terminals = editorTerminals((error) =>
    deps.logger.error('a command in a terminal could not be followed', error),
  );
  const editorFiles = createEditorFiles();
  return [
    createFilesProducer({ ...deps, editorFiles, buffers: editorBuffers, gate }),
    createGitProducer({ ...deps, gate }),
    createEditorProducer({ ...deps, buffers: editorBuffers }),
    createTerminalsProducer({ ...deps, terminals }),
    createTestReportsProducer({ ...deps, editorFiles }),
    createDependenciesProducer({ ...deps, editorFiles }),
    createNotebooksProducer({ ...deps, notebooks: notebookRuns }),
    createBudgetProducer(),
    createConfigProducer(),
  ];
}
