// UI strings of the list of what is due.
import type { Atom, Truth } from '../../protocol/wakes.ts';
import { t } from './l10n.ts';

const TASK_ENDS = {
  ok: (name: string) => t('Task {0} ends successfully', name),
  failed: (name: string) => t('Task {0} fails', name),
  ended: (name: string) => t('Task {0} ends', name),
};
const HANDLE_STATES = {
  ok: (name: string) => t('{0} ends successfully', name),
  failed: (name: string) => t('{0} fails', name),
  ended: (name: string) => t('{0} ends', name),
  waiting: (name: string) => t('{0} waits for input', name),
};
const FILE_STATES = {
  changed: (path: string) => t('{0} changes', path),
  exists: (path: string) => t('{0} exists', path),
  gone: (path: string) => t('{0} is deleted', path),
};
const CI_ENDS = {
  green: (commit: string) => t('CI of {0} passes', commit),
  red: (commit: string) => t('CI of {0} fails', commit),
  done: (commit: string) => t('CI of {0} ends', commit),
};
const PULL_STATES = {
  approved: t('The pull request is approved'),
  changes_requested: t('A review requests changes'),
  commented: t('Somebody comments on the pull request'),
  merged: t('The pull request is merged'),
  conflict: t('The pull request has conflicts'),
};

export const dueStrings = {
  due: t('Due'),
  /** `isOnlyWakes`: there are no lines and events among them. */
  summary: (count: number, isOnlyWakes: boolean) => {
    if (!isOnlyWakes) return t('The model waits for: {0}', count);
    return count === 1 ? t('1 timer or condition is set') : t('{0} timers and conditions are set', count);
  },
  lines: (patterns: string) => t('Lines: {0}', patterns),
  quiet: (seconds: number) => t('Silence of {0} s', seconds),
  events: t('Events of an MCP server'),
  wakes: (left: number, until: string) =>
    left === 1
      ? t('Wakes the model at most once more until {0}', until)
      : t('Wakes the model at most {0} more times until {1}', left, until),
  wakesOwn: t('Wakes the model, which runs this command'),
  wakesNot: t('Does not start turns'),
  at: (moment: string) => t('Due: {0}', moment),
  until: (moment: string) => t('Until {0} at the latest', moment),
  left: (count: number) => (count === 1 ? t('once more at most') : t('{0} more times at most', count)),
  note: (text: string) => t('Note: {0}', text),
  fireNow: (name: string) => t('Fire {0} now', name),
  cancel: (name: string) => t('Cancel {0}', name),
  all: t('All of'),
  any: t('Any of'),
  /** Read out instead of the icon. */
  truths: {
    yes: t('Met'),
    no: t('Not met'),
    unknown: t('Not known'),
    never: t('Cannot be met any more'),
  } satisfies Record<Truth, string>,
};

/** What an atom of a condition waits for; `formatMoment` prints a time. */
export function describeAtom(atom: Atom, formatMoment: (moment: string) => string): string {
  if ('handle' in atom) return HANDLE_STATES[atom.is](atom.handle);
  if ('output' in atom) return t('{0} prints “{1}”', atom.output, atom.has);
  if ('task' in atom) return TASK_ENDS[atom.is](atom.task);
  if ('problems' in atom) {
    return atom.is === 'none'
      ? t('No errors or warnings in {0}', atom.problems)
      : t('Errors or warnings in {0}', atom.problems);
  }
  if ('file' in atom) return FILE_STATES[atom.is](atom.file);
  if ('port' in atom) return atom.is === 'open' ? t('Port {0} is open', atom.port) : t('Port {0} is closed', atom.port);
  if ('ci' in atom) return CI_ENDS[atom.is](atom.ci === 'HEAD' ? atom.ci : atom.ci.slice(0, 7));
  if ('pr' in atom) return PULL_STATES[atom.is];
  if ('agent' in atom) return atom.is === 'done' ? t('{0} is done', atom.agent) : t('{0} is idle or done', atom.agent);
  if ('event' in atom) {
    return atom.has === undefined ? t('Event: {0}', atom.event) : t('Event: {0}, “{1}”', atom.event, atom.has);
  }
  if ('notify' in atom) return t('Line from the script {0}', atom.notify);
  if ('notified' in atom) {
    return atom.has === undefined
      ? t('Notification: {0}', atom.notified)
      : t('Notification: {0}, “{1}”', atom.notified, atom.has);
  }
  return 'after' in atom ? t('{0} after it was set', atom.after) : t('It is {0} or later', formatMoment(atom.at));
}
