// The built-in sources of the `@` picker: files, folders, symbols, selection, problems, terminal, changes.
import * as vscode from 'vscode';
import { describeError } from '../../base/errors.ts';
import { type Clock } from '../../core/ports/ports.ts';
import { type AttachedText, bestMatches, type Completion, type CompletionSource, matchScore } from './completions.ts';
import { problemsText, selectionText, symbolText, terminalText } from './editorTexts.ts';
import { changesText } from './gitChanges.ts';
import { listPaths, pathOf } from './workspacePaths.ts';

const MOST_OF_A_KIND = 15;
const MOST_IN_FOLDER = 200;

export interface MentionDeps {
  readonly clock: Clock;
  attachFile(path: string): Promise<void>;
  attachText(text: AttachedText): Promise<void>;
  notice(text: string): void;
}

export function mentionSources(deps: MentionDeps): readonly CompletionSource[] {
  return [textSource(deps), fileSource(deps), folderSource(deps), symbolSource(deps)];
}

function textSource({ attachText, notice }: MentionDeps): CompletionSource {
  const texts: Readonly<Record<string, () => Promise<AttachedText | undefined> | AttachedText | undefined>> = {
    selection: selectionText,
    problems: () => problemsText(),
    terminal: terminalText,
    changes: changesText,
  };
  const entries = (): readonly Completion[] => [
    { id: 'selection', label: 'selection', detail: vscode.l10n.t('Selected text in the editor'), icon: 'edit' },
    { id: 'problems', label: 'problems', detail: vscode.l10n.t('Problems of the workspace'), icon: 'warning' },
    {
      id: 'terminal',
      label: 'terminal',
      detail: vscode.l10n.t('Last command of the active terminal'),
      icon: 'terminal',
    },
    { id: 'changes', label: 'changes', detail: vscode.l10n.t('Uncommitted changes'), icon: 'diff' },
  ];
  return {
    name: 'editor',
    trigger: '@',
    list: async (query) => entries().filter(({ label }) => label.startsWith(query.toLowerCase())),
    choose: async (id) => {
      let text: AttachedText | undefined;
      try {
        text = await texts[id]?.();
      } catch (error) {
        notice(vscode.l10n.t('“{0}” cannot be attached: {1}', id, describeError(error)));
        return;
      }
      if (text === undefined) notice(vscode.l10n.t('There is nothing to attach: {0}', id));
      else await attachText(text);
    },
  };
}

function fileSource({ clock, attachFile }: MentionDeps): CompletionSource {
  return {
    name: 'files',
    trigger: '@',
    isPortable: true,
    list: async (query) => {
      const { files } = await listPaths(clock.now());
      return bestMatches(query, files, (file) => file, MOST_OF_A_KIND).map((file) => ({
        id: file,
        mention: file,
        label: file.slice(file.lastIndexOf('/') + 1),
        detail: file.slice(0, Math.max(0, file.lastIndexOf('/'))),
        icon: 'file',
      }));
    },
    choose: attachFile,
  };
}

function folderSource({ clock, attachText }: MentionDeps): CompletionSource {
  return {
    name: 'folders',
    trigger: '@',
    list: async (query) => {
      if (query === '') return [];
      const { folders } = await listPaths(clock.now());
      return bestMatches(query, folders, (folder) => folder, 5).map((folder) => ({
        id: folder,
        mention: `${folder}/`,
        label: `${folder.slice(folder.lastIndexOf('/') + 1)}/`,
        detail: folder,
        icon: 'list-tree',
      }));
    },
    choose: async (folder) => attachText(await folderText(folder, clock.now())),
  };
}

/** The names of the files in a folder of the workspace. */
async function folderText(folder: string, now: number): Promise<AttachedText> {
  const { files } = await listPaths(now);
  const inside = files.filter((file) => file.startsWith(`${folder}/`));
  const more = inside.length > MOST_IN_FOLDER ? [`… and ${inside.length - MOST_IN_FOLDER} more`] : [];
  const text = [...inside.slice(0, MOST_IN_FOLDER), ...more].join('\n');
  return { name: vscode.l10n.t('Files in {0}', folder), text };
}

/** A file or a folder that was dropped on the chat or chosen in the Explorer. */
export async function attachUri(uri: vscode.Uri, { clock, attachFile, attachText }: MentionDeps): Promise<void> {
  const type = await vscode.workspace.fs.stat(uri).then(
    (stat) => stat.type,
    () => vscode.FileType.Unknown,
  );
  const isFolder = (type & vscode.FileType.Directory) !== 0;
  await (isFolder ? attachText(await folderText(pathOf(uri), clock.now())) : attachFile(pathOf(uri)));
}

function symbolSource({ attachText, attachFile }: MentionDeps): CompletionSource {
  let found: readonly vscode.SymbolInformation[] = [];
  return {
    name: 'symbols',
    trigger: '@',
    list: async (query) => {
      if (query.length < 2) return [];
      const command = 'vscode.executeWorkspaceSymbolProvider';
      const symbols =
        (await vscode.commands.executeCommand<vscode.SymbolInformation[] | undefined>(command, query)) ?? [];
      found = symbols.filter(({ name }) => matchScore(query, name) !== undefined).slice(0, 5);
      return found.map(({ name, location }, index) => ({
        id: String(index),
        label: name,
        detail: `${pathOf(location.uri)}:${location.range.start.line + 1}`,
        icon: 'search',
      }));
    },
    choose: async (id) => {
      const symbol = found[Number(id)];
      if (symbol === undefined) return;
      await attachText(symbolText(symbol));
      await attachFile(pathOf(symbol.location.uri));
    },
  };
}
