// UI strings of the transcript's actions: requests, code blocks, groups of calls, find.

import { toolLabel } from '../toolTitle.ts';
import { t } from './l10n.ts';

const GROUPS: Readonly<Record<string, (count: number) => string>> = {
  read_file: (count) => t('Read {0} files', count),
  list_files: (count) => t('Listed {0} folders', count),
  search: (count) => t('Searched {0} times', count),
  run_command: (count) => t('Ran {0} commands', count),
  diagnostics: (count) => t('Checked problems {0} times', count),
  fetch_url: (count) => t('Fetched {0} pages', count),
  symbols: (count) => t('Looked up {0} symbols', count),
  handle: (count) => t('Used background commands {0} times', count),
};

export const transcriptStrings = {
  groupTitle: (name: string, count: number, failed: number) => {
    const title = GROUPS[name]?.(count) ?? `${toolLabel(name)} × ${count}`;
    return failed > 0 ? t('{0}, {1} failed', title, failed) : title;
  },
  /** The state of a call of a followed conversation: it runs, or waits for approval there. */
  openElsewhere: t('Open in the other window'),
  openElsewhereDetail: t('It runs in the other window, or waits there for approval.'),
  duration: (milliseconds: number) => {
    const seconds = Math.round(milliseconds / 1000);
    return seconds < 60 ? t('{0} s', seconds) : t('{0} min {1} s', Math.floor(seconds / 60), seconds % 60);
  },
  question: t('Question'),
  formFilledIn: t('The form was filled in.'),
  openDiff: t('Open diff'),

  edit: t('Edit and resend'),
  retry: t('Send again'),
  editField: t('Edited message'),
  resend: t('Resend'),
  resendTitle: t('Continue in a fork of this conversation that ends before this message'),
  cancel: t('Cancel'),
  copyMessage: t('Copy message'),

  insert: t('Insert at cursor'),
  apply: t('Apply to the open file, with preview'),
  runInTerminal: t('Run in terminal'),

  sendQueued: t('Send now: interrupts the turn'),
  sendQueuedLabel: (text: string) => t('Send now: {0}', text),
  raiseQueued: t('Move up'),
  raiseQueuedLabel: (text: string) => t('Move up: {0}', text),

  find: t('Find in conversation'),
  findNext: t('Next match'),
  findPrevious: t('Previous match'),
  findClose: t('Close'),
  findCount: (place: number, count: number) => (count === 0 ? t('No results') : t('{0} of {1}', place, count)),
};
