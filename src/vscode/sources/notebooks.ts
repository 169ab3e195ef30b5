// Runs of notebook cells as plain data.
import { parseJson, textOf } from '../../base/json/outsideJson.ts';
import * as vscode from 'vscode';
import { type CellRun, type NotebookRuns } from '../../core/ports/sources.ts';
import { toFilePath } from '../workspace/fileUris.ts';

const ERROR = 'application/vnd.code.notebook.error';

export const notebookRuns: NotebookRuns = {
  onDidRun: (listener) =>
    vscode.workspace.onDidChangeNotebookDocument(({ notebook, cellChanges }) => {
      const path = toFilePath(notebook.uri)?.path;
      if (path === undefined) return;
      for (const { cell, executionSummary } of cellChanges) {
        const succeeded = executionSummary?.success;
        if (succeeded === undefined) continue;
        listener({ path, cell: cell.index + 1, ...(!succeeded && { error: errorOf(cell) }) });
      }
    }),
};

function errorOf({ outputs }: vscode.NotebookCell): NonNullable<CellRun['error']> {
  const item = outputs.flatMap(({ items }) => items).find(({ mime }) => mime === ERROR);
  const error = parseJson(new TextDecoder().decode(item?.data));
  return { name: textOf(error, 'name'), message: textOf(error, 'message') };
}
