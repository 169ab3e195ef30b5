// UI strings of approvals: what a task would run, *Always* and where it holds, and several approvals at once.

import type { TaskFact } from '../../protocol/page/taskView.ts';
import type { AlwaysAnswer } from '../../protocol/transcript.ts';
import { t } from './l10n.ts';

const isMac = typeof navigator !== 'undefined' && navigator.platform.startsWith('Mac');

export const approvalStrings = {
  approve: t('Approve'),
  /** The key is that of the command `earshot.approve`. */
  approveTitle: t('Approve ({0})', isMac ? '⌥⌘J' : 'Ctrl+Alt+J'),
  always: t('Always'),
  alwaysTitle: (what: string) => t('Always: do not ask again for {0}', what),
  alwaysIn: {
    conversation: t('Always in this conversation'),
    folder: t('Always in this folder'),
  } satisfies Record<AlwaysAnswer['scope'], string>,
  serverIn: {
    conversation: (server: string) => t('All tools of {0} in this conversation', server),
    folder: (server: string) => t('All tools of {0} in this folder', server),
  } satisfies Record<AlwaysAnswer['scope'], (server: string) => string>,
  /** What *Always* covers for a tool without a narrower rule. */
  everyCall: (tool: string) => t('every call of {0}, whatever it changes', tool),
  serverDetail: t('Except those that may destroy something'),

  several: (count: number, first: string) => t('{0} approvals needed. The first: {1}', count, first),
  approveAll: t('Approve All'),
  approveAllTitle: (count: number, left: number) =>
    left === 0
      ? t('Approve these {0} calls', count)
      : count === 1
        ? t('Approve 1 call. The calls with a warning ({0}) must be approved on their own cards.', left)
        : t('Approve {0} calls. {1} with a warning must be approved on their own cards.', count, left),
  rejectAll: t('Reject All'),
  tooEarly: t('Nothing was answered: this request had only just appeared. Look at it, then press again.'),
  justAppeared: t('Another approval has just appeared. Look at it first.'),
  rejectAllTitle: (count: number) => t('Reject these {0} calls', count),

  taskFacts: {
    detail: t('Description'),
    shell: t('Shell'),
    cwd: t('Working folder'),
    environment: t('Environment'),
    setting: t('Workspace setting'),
    input: t('You will be asked for'),
    editor_command: t('Uses the result of the editor command'),
    missing: t('Depends on a task that is not known'),
  } satisfies Record<TaskFact, string>,
  taskFolder: t('Folder'),
  taskUnknown: t('The command of this task is not known: an extension runs it. Earshot asks each time.'),
  taskOnlyOthers: t('This task only runs the tasks that it depends on.'),
  taskBefore: (name: string) => t('Runs first: {0}', name),
};
