// The uncommitted changes of the repositories that VS Code has open, to attach to a message.
import * as vscode from 'vscode';
import { workingDiff } from '../../producers/git/workingDiff.ts';
import { type AttachedText } from './completions.ts';
import { fence } from './editorTexts.ts';

interface GitRepository {
  readonly inputBox: { value: string };
  readonly rootUri: vscode.Uri;
}

/** The repositories that VS Code's own Git extension has open. */
export async function gitRepositories(): Promise<readonly GitRepository[]> {
  const git = vscode.extensions.getExtension<{ getAPI(version: 1): { repositories: GitRepository[] } }>('vscode.git');
  if (git === undefined) return [];
  return (await git.activate()).getAPI(1).repositories;
}

/** Rejects if git cannot be run or prints too much. */
export async function changesText(): Promise<AttachedText | undefined> {
  const { signal } = new AbortController();
  const roots = (await gitRepositories()).map(({ rootUri }) => rootUri.fsPath);
  const diffs = await Promise.all(roots.map((root) => workingDiff(root, { staged: false, signal })));
  const text = diffs.join('\n').trim();
  return text === '' ? undefined : { name: vscode.l10n.t('Uncommitted changes'), text: fence(text, 'diff') };
}
