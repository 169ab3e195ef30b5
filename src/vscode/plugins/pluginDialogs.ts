// Dialogs for program plugins and outside agents: approve a program, allow one to attach, choose one and its arguments.
import * as vscode from 'vscode';
import { printPath, printWords } from '../../base/printPath.ts';
import { type PeerProcess } from '../../node/peerProcess.ts';
import {
  type AttachChoice,
  type AttachConsent,
  type ListenConsent,
  type RunConsent,
} from '../../plugins/host/consent.ts';
import { type PluginStatus } from '../../plugins/host/pluginStatus.ts';
import { describePins } from '../approvalTexts.ts';
import { SETTINGS_SECTION } from '../ids.ts';
import { type ApprovalQuestion, type WaitingApprovals, type WaitingQuestion } from '../waitingApprovals.ts';

/** The question shows the command and the hashes. If the user did not start the program, it waits for its answer. */
export async function confirmRun(consent: RunConsent, waiting: WaitingApprovals): Promise<boolean> {
  const asked = runQuestion(consent);
  if (consent.unasked) return waiting.ask(asked);
  const { question, detail, approve } = asked;
  return (await vscode.window.showWarningMessage(question, { modal: true, detail }, approve)) === approve;
}

function runQuestion({ name, command, files, unpinned, approve }: RunConsent): ApprovalQuestion {
  return {
    subject: pluginSubject(name),
    name: vscode.l10n.t('the program plugin “{0}”', name),
    waiting: vscode.l10n.t('The program plugin “{0}” is not running: it needs your approval.', name),
    announcement: vscode.l10n.t(
      'The program plugin “{0}” is set to start with this window and is not approved yet.',
      name,
    ),
    question: vscode.l10n.t('Run the program plugin “{0}”?', name),
    detail: [
      vscode.l10n.t('Command: {0}', printWords(command)),
      ...describePins(files, unpinned),
      vscode.l10n.t('It runs with your rights, reads conversations and can start turns.'),
      ...(approve ? [vscode.l10n.t('It may answer approvals and questions for you.')] : []),
    ].join('\n\n'),
    isProgram: true,
    approve: vscode.l10n.t('Approve'),
    refuse: vscode.l10n.t('Do Not Run'),
  };
}

export function pluginSubject(name: string): string {
  return `plugin ${name}`;
}

/** The question whether a process may answer shows what the kernel knows about it, not what it says about itself. */
export async function confirmAttach({ name, version, known, answering }: AttachConsent): Promise<AttachChoice> {
  const message = known
    ? vscode.l10n.t('Allow the program “{0}” to answer approvals and questions for you?', name)
    : vscode.l10n.t('Allow the program “{0}” to attach to this window?', name);
  const detail = [
    vscode.l10n.t(
      'It calls itself {0}, version {1}. It reads conversations and can start turns.',
      name,
      printPath(version),
    ),
    ...(answering === undefined ? [] : describeProcess(answering)),
    ...(known ? [] : [vscode.l10n.t('Programs of this name may attach from now on.')]),
  ].join('\n\n');
  const answer = vscode.l10n.t('Allow to Answer');
  const watch = answering === undefined ? vscode.l10n.t('Allow') : vscode.l10n.t('Allow Without Answering');
  const buttons = [...(answering === undefined ? [] : [answer]), ...(known ? [] : [watch])];
  const chosen = await vscode.window.showWarningMessage(message, { modal: true, detail }, ...buttons);
  if (chosen === undefined) return 'refuse';
  return chosen === watch ? 'watch' : 'answer';
}

function describeProcess({ pid, command, startedBy }: PeerProcess): readonly string[] {
  return [
    vscode.l10n.t('Process {0}: {1}', String(pid), command),
    startedBy === undefined
      ? vscode.l10n.t('The program that started it has ended.')
      : vscode.l10n.t('Started by: {0}', startedBy),
    vscode.l10n.t('If you allow it to answer, it approves commands and changes in your place until it ends.'),
  ];
}

/** Nobody waits for the answer. Undefined: withdrawn without an answer. */
export function confirmListen(consent: ListenConsent, waiting: WaitingApprovals): Promise<boolean | undefined> {
  const { agent, version } = consent;
  const question = vscode.l10n.t('Allow the agent “{0}” to get notifications of this workspace?', agent);
  const asked: WaitingQuestion = {
    subject: listenSubject(agent),
    isProgram: false,
    name: vscode.l10n.t('the agent “{0}”', agent),
    waiting: vscode.l10n.t('The agent “{0}” wants notifications of this workspace.', agent),
    announcement: vscode.l10n.t('The agent “{0}” wants notifications of this workspace.', agent),
    question,
    detail: vscode.l10n.t(
      'It calls itself {0}, version {1}. It gets changed files with diffs, problems and tasks.',
      agent,
      printPath(version),
    ),
  };
  return waiting.choose(asked, [
    { label: vscode.l10n.t('Allow'), answer: true },
    { label: vscode.l10n.t('Do Not Allow'), answer: false },
  ]);
}

export function listenSubject(agent: string): string {
  return `listen ${agent}`;
}

/** Undefined: the user chose none. */
export async function choosePlugin(statuses: readonly PluginStatus[]): Promise<string | undefined> {
  if (statuses.length === 0) {
    const open = vscode.l10n.t('Open Settings');
    const message = vscode.l10n.t('No program plugins are configured.');
    if ((await vscode.window.showInformationMessage(message, open)) === open) {
      await vscode.commands.executeCommand('workbench.action.openSettings', `${SETTINGS_SECTION}.plugins.programs`);
    }
    return undefined;
  }
  const items = statuses.map(({ name, command, description }) => ({
    label: name,
    description: description?.description ?? '',
    detail: command.join(' '),
  }));
  const title = vscode.l10n.t('Run Program Plugin');
  return (await vscode.window.showQuickPick(items, { title, matchOnDetail: true }))?.label;
}

/** Undefined: the user cancelled. */
export async function chooseArguments(name: string): Promise<readonly string[] | undefined> {
  const text = await vscode.window.showInputBox({
    title: vscode.l10n.t('Arguments for {0}', name),
    prompt: vscode.l10n.t('Separate them with spaces; quotes keep words together. Leave empty for none.'),
  });
  return text === undefined ? undefined : splitArguments(text);
}

function splitArguments(text: string): readonly string[] {
  const words = text.match(/"[^"]*"|'[^']*'|[^\s"']+/g) ?? [];
  return words.map((word) => (/^(["']).*\1$/s.test(word) ? word.slice(1, -1) : word));
}
