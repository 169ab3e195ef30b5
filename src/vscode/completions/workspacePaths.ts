// Files and folders of the workspace for the `@` picker, listed at most every few seconds.
import * as vscode from 'vscode';

const MOST_FILES = 20_000;
const KEPT_MILLISECONDS = 5000;

/** Relative to the workspace folder, as the tools name files. */
export function pathOf(uri: vscode.Uri): string {
  return vscode.workspace.asRelativePath(uri, (vscode.workspace.workspaceFolders?.length ?? 0) > 1);
}

export interface WorkspacePaths {
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

let kept: { readonly at: number; readonly paths: Promise<WorkspacePaths> } | undefined;

export function listPaths(now: number): Promise<WorkspacePaths> {
  if (kept === undefined || now - kept.at > KEPT_MILLISECONDS) kept = { at: now, paths: read() };
  return kept.paths;
}

async function read(): Promise<WorkspacePaths> {
  const found = await vscode.workspace.findFiles('**/*', '**/{node_modules,.git}/**', MOST_FILES);
  const files = found.map(pathOf).sort();
  const folders = new Set<string>();
  for (const file of files) {
    for (let end = file.lastIndexOf('/'); end > 0; end = file.lastIndexOf('/', end - 1))
      folders.add(file.slice(0, end));
  }
  return { files, folders: [...folders].sort() };
}
