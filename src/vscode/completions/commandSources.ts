// The built-in sources of the `/` picker: commands of the chat, built-in commands, prompt files and skills.
import * as vscode from 'vscode';
import { type UserFiles } from '../../core/ports/userFiles.ts';
import { type Workspace } from '../../core/ports/workspace.ts';
import { BUILT_IN_COMMANDS, listCommandSkills } from '../../core/prompt/builtInSkills.ts';
import { listPrompts } from '../../core/prompt/promptFiles.ts';
import { COMMANDS, type CommandId } from '../ids.ts';
import { updateSetting } from '../settings.ts';
import { type CompletionSource } from './completions.ts';

interface ChatCommand {
  readonly name: string;
  readonly detail: () => string;
  readonly run: () => unknown;
}

const command = (id: CommandId) => () => vscode.commands.executeCommand(id);

const COMMANDS_OF_CHAT: readonly ChatCommand[] = [
  { name: 'new', detail: () => vscode.l10n.t('Start a new chat'), run: command(COMMANDS.newChat) },
  { name: 'history', detail: () => vscode.l10n.t('Show conversations'), run: command(COMMANDS.showConversations) },
  { name: 'model', detail: () => vscode.l10n.t('Choose the model'), run: command(COMMANDS.chooseModel) },
  {
    name: 'plan',
    detail: () => vscode.l10n.t('Plan mode: only tools that read'),
    run: () => updateSetting('mode', 'plan'),
  },
  { name: 'agent', detail: () => vscode.l10n.t('Agent mode: all tools'), run: () => updateSetting('mode', 'agent') },
  { name: 'changes', detail: () => vscode.l10n.t('Review changes'), run: command(COMMANDS.reviewChanges) },
  { name: 'restore', detail: () => vscode.l10n.t('Restore files to before a turn'), run: command(COMMANDS.restore) },
  {
    name: 'notifications',
    detail: () => vscode.l10n.t('Show notifications'),
    run: command(COMMANDS.showNotifications),
  },
  {
    name: 'rename',
    detail: () => vscode.l10n.t('Rename this conversation'),
    run: command(COMMANDS.renameConversation),
  },
  { name: 'fork', detail: () => vscode.l10n.t('Fork this conversation'), run: command(COMMANDS.forkConversation) },
  {
    name: 'export',
    detail: () => vscode.l10n.t('Export this conversation'),
    run: command(COMMANDS.exportConversation),
  },
  { name: 'settings', detail: () => vscode.l10n.t('Open settings'), run: command(COMMANDS.openSettings) },
];

export function commandSource(): CompletionSource {
  return {
    name: 'commands',
    trigger: '/',
    list: async (query) =>
      COMMANDS_OF_CHAT.filter(({ name }) => name.startsWith(query.toLowerCase())).map(({ name, detail }) => ({
        id: name,
        label: `/${name}`,
        detail: detail(),
        icon: 'play',
      })),
    choose: async (id) => {
      await COMMANDS_OF_CHAT.find(({ name }) => name === id)?.run();
    },
  };
}

/** Commands that take a text: choosing one only inserts its name. */
export function builtInSource(): CompletionSource {
  return {
    name: 'builtIn',
    trigger: '/',
    isPortable: true,
    list: async (query) =>
      BUILT_IN_COMMANDS.filter(({ name }) => name.startsWith(query.toLowerCase())).map(({ name }) => ({
        id: name,
        label: `/${name}`,
        detail: vscode.l10n.t('Shorten the conversation to a summary; add what it must keep'),
        icon: 'list-tree',
        insert: `/${name} `,
      })),
  };
}

export function promptSource(workspace: Workspace, userFiles: UserFiles | undefined): CompletionSource {
  return {
    name: 'prompts',
    trigger: '/',
    isPortable: true,
    list: async (query) => {
      const prompts = await listPrompts(workspace, userFiles);
      return prompts
        .filter(({ name }) => name.toLowerCase().startsWith(query.toLowerCase()))
        .map(({ name, description }) => ({
          id: name,
          label: `/${name}`,
          detail: description === '' ? vscode.l10n.t('Prompt file') : description,
          icon: 'file',
          insert: `/${name} `,
        }));
    },
  };
}

/** A skill with the name of a prompt file is not listed: when `/name` is sent, the prompt file is used. */
export function skillSource(workspace: Workspace, userFiles: UserFiles | undefined): CompletionSource {
  return {
    name: 'skills',
    trigger: '/',
    isPortable: true,
    list: async (query) => {
      const [skills, prompts] = await Promise.all([
        listCommandSkills(workspace, userFiles),
        listPrompts(workspace, userFiles),
      ]);
      return skills
        .filter(({ name }) => name.startsWith(query.toLowerCase()) && !prompts.some((prompt) => prompt.name === name))
        .map(({ name, description }) => ({
          id: name,
          label: `/${name}`,
          detail: vscode.l10n.t('Skill: {0}', description),
          icon: 'tools',
          insert: `/${name} `,
        }));
    },
  };
}
