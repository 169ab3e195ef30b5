// Obstacles shown above the transcript: each says what keeps the chat from working fully, and has a button that helps.
import * as vscode from 'vscode';
import { type Failure } from '../../base/errors.ts';
import { defined } from '../../base/json/defined.ts';
import { type LiveConversation } from '../../core/conversation/liveConversation.ts';
import { type Earshot } from '../../core/earshot.ts';
import { type Workspace } from '../../core/ports/workspace.ts';
import { type Obstacle } from '../../protocol/webview.ts';
import { linkObstacles } from '../hub/linkTexts.ts';
import { type WindowHub } from '../hub/windowHub.ts';
import { type SettingsReader } from '../settings.ts';
import { type WaitingApprovals } from '../waitingApprovals.ts';

export interface ObstacleInput {
  /** Why conversations cannot be stored. */
  readonly storage: Failure | undefined;
  readonly workspace: Workspace;
  readonly live: LiveConversation | undefined;
  readonly earshot: Earshot;
  readonly settings: SettingsReader;
  readonly waiting: Pick<WaitingApprovals, 'all' | 'offers'>;
  readonly hub: Pick<WindowHub, 'link'>;
}

export function obstaclesOf(input: ObstacleInput): Obstacle[] {
  const { storage, workspace, live, earshot, settings, waiting, hub } = input;
  return [
    ...(storage === undefined ? [] : [obstacle('error', storage, showLog())]),
    ...(workspace.folders.length > 0 ? [] : [noFolder()]),
    ...(workspace.trusted ? [] : [untrusted()]),
    ...(waiting.all.length === 0 ? [] : [notApproved(waiting.all)]),
    ...waiting.offers.map(offered),
    ...(live === undefined || live.owned ? [] : [elsewhere(live)]),
    ...(live?.damage ?? []).map((failure) => obstacle('warning', failure, showLog())),
    ...earshot.producers.problems.map((failure) => obstacle('warning', failure, showLog())),
    ...settings.problems.map(({ name, message }) =>
      obstacle('warning', {
        code: 'setting',
        message: vscode.l10n.t('The setting {0} is not valid: {1}.', name, message),
        nextStep: vscode.l10n.t('Its default is used until you correct it.'),
      }),
    ),
    ...ofWorkspaceSettings(settings),
    ...linkObstacles(hub.link, vscode.l10n.t),
  ];
}

/** A repository's settings never change unnoticed what the user has set. */
function ofWorkspaceSettings({ ignored, workspaceModel }: SettingsReader): Obstacle[] {
  const text = vscode.l10n.t('Earshot ignores these values of the workspace settings: {0}.', ignored.join(', '));
  const nextStep = vscode.l10n.t('They would allow more than your user settings. Set them there if you want them.');
  const chosen = vscode.l10n.t('The workspace settings have chosen the model: {0}.', workspaceModel || 'Guide');
  return [
    ...(ignored.length === 0 ? [] : [{ level: 'info', text, nextStep } as const]),
    ...(workspaceModel === undefined ? [] : [{ level: 'info', text: chosen } as const]),
  ];
}

const showLog = () => ({ label: vscode.l10n.t('Show log'), message: { type: 'show_log' } }) as const;

const noFolder = (): Obstacle => ({
  level: 'info',
  text: vscode.l10n.t('No folder is open, so there are no files to read and nothing to run.'),
  nextStep: vscode.l10n.t('Open a folder.'),
  action: { label: vscode.l10n.t('Open folder'), message: { type: 'open_folder' } },
});

const untrusted = (): Obstacle => ({
  level: 'warning',
  text: vscode.l10n.t(
    'This workspace is not trusted: Earshot only reads files. It runs no commands and changes no files.',
  ),
  nextStep: vscode.l10n.t('Trust the workspace if you know its origin.'),
  action: { label: vscode.l10n.t('Manage trust'), message: { type: 'manage_trust' } },
});

/** One bar for all of them, so that the chat keeps its room. */
function notApproved(waiting: WaitingApprovals['all']): Obstacle {
  const [first] = waiting;
  const names = waiting.map(({ name }) => name).join(', ');
  const several = waiting.every(({ isProgram }) => isProgram)
    ? vscode.l10n.t('{0} programs are not running, because they need your approval: {1}.', waiting.length, names)
    : vscode.l10n.t('{0} questions wait for your answer: {1}.', waiting.length, names);
  return {
    level: waiting.some(({ isProgram }) => isProgram) ? 'warning' : 'info',
    text: first !== undefined && waiting.length === 1 ? first.waiting : several,
    action: { label: vscode.l10n.t('Review…'), message: { type: 'review_approvals' } },
  };
}

function offered({ level, text, action, subject }: WaitingApprovals['offers'][number]): Obstacle {
  return { level, text, action: { label: action, message: { type: 'take_offer', subject } } };
}

function elsewhere(live: LiveConversation): Obstacle {
  const { owner } = live;
  const window =
    owner === undefined || owner.window === ''
      ? vscode.l10n.t('another window')
      : vscode.l10n.t('another window ({0})', owner.window);
  if (live.awaited === true) {
    return {
      level: 'info',
      text: `${vscode.l10n.t('Waiting for {0} to hand over this conversation.', window)} ${describeHandOver(live)}`,
      ...(owner !== undefined && {
        nextStep: vscode.l10n.t('If that window no longer exists, end its process {0}.', String(owner.pid)),
      }),
    };
  }
  return {
    level: 'info',
    text: vscode.l10n.t('This conversation is open in {0}. You can follow it here.', window),
    nextStep: vscode.l10n.t('If you continue here, the other window hands it over after its current step.'),
    action: { label: vscode.l10n.t('Continue here'), message: { type: 'continue_here' } },
  };
}

/** Says what the other window must finish first, as far as the log shows it. */
function describeHandOver({ log }: LiveConversation): string {
  const { unanswered, isOpen } = log.state.turn;
  const running = [...new Set(unanswered.map(({ request }) => request.name))].join(', ');
  if (running !== '') return vscode.l10n.t('It is handed over when these tools have ended there: {0}.', running);
  return isOpen
    ? vscode.l10n.t('It is handed over when the answer that is being written there is complete.')
    : vscode.l10n.t('It has not answered yet.');
}

function obstacle(level: Obstacle['level'], failure: Failure, action?: Obstacle['action']): Obstacle {
  return {
    level,
    text: failure.message,
    ...defined({ nextStep: failure.nextStep, action }),
  };
}
