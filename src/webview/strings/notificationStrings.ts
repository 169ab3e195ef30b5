// UI strings about notifications: drawer, chips, automatic runs, requests to the user.
import type { Level } from '../../protocol/notification.ts';
import type { NotificationLabel } from '../../protocol/page/pendingView.ts';
import type { HeldReason } from '../../protocol/webview.ts';
import { visibleText } from '../render/visibleText.ts';
import { t } from './l10n.ts';

export const notificationStrings = {
  pending: t('Pending notifications'),
  pendingCount: (count: number) => (count === 1 ? t('1 pending notification') : t('{0} pending notifications', count)),
  andMore: (count: number) => t('and {0} more', count),
  times: (count: number) => t('{0} times', count),
  deliverNow: t('Deliver now'),
  deliverNowTitle: t('Send them to the model now instead of with the next tool result or request'),
  showAll: t('Show all notifications'),
  showAllBrief: t('Show all'),
  dismiss: t('Dismiss: the model is not notified'),
  dismissOne: (what: string) => t('Dismiss: {0}', what),
  muteOne: (what: string) => t('Mute: {0}', what),
  muteKind: (kind: string) => t('Mute this kind: {0}', kind),
  mutePath: (path: string) => t('Mute this file: {0}', path),
  muteSource: (source: string) => t('Mute this source: {0}', source),
  text: t('Text for the model'),
  tokens: (count: number) => (count === 1 ? t('≈ 1 token') : t('≈ {0} tokens', count)),
  sources: {
    file: t('Files'),
    git: t('Git'),
    diagnostics: t('Problems'),
    task: t('Tasks'),
    terminal: t('Terminals'),
    tool: t('Background commands'),
    debug: t('Debugger'),
    port: t('Ports'),
    devserver: t('Dev servers'),
    test: t('Tests'),
    notebook: t('Notebooks'),
    dependencies: t('Dependencies'),
    output: t('Output'),
    time: t('Timers'),
    wake: t('Conditions'),
    editor: t('Editor'),
    script: t('Scripts'),
    source: t('Sources'),
    ci: t('CI'),
    review: t('Reviews'),
    pr: t('Pull requests'),
    hook: t('Hooks'),
    mcp: t('MCP servers'),
    config: t('Configuration'),
    budget: t('Budget'),
    message: t('Messages'),
    security: t('Security'),
  } as Readonly<Record<string, string>>,
  levels: {
    info: t('Information'),
    warning: t('Warning'),
    error: t('Error'),
    critical: t('Critical'),
  } satisfies Record<Level, string>,
  heldBack: {
    not_written: t('Notifications are pending. They go with your first message in this window.'),
    stopped: t('Notifications are pending. They go with your next message, because you stopped the last turn.'),
    error: t('Notifications are pending. They go with your next message, because the last turn failed.'),
    in_a_row: t('Automatic runs are paused after 5 in a row. New notifications go with your next message.'),
    aborted_lately: t('A critical notification is pending for up to 30 s, because the model was just interrupted.'),
    woken_lately: t('A notification is pending for a moment, because the same kind just started a run.'),
    model: t('Notifications are pending. This model does not run without your request.'),
  } satisfies Record<HeldReason, string>,

  /** A request that the user did not write. The notifications that it delivers are named below it. */
  automatic: (isForced: boolean) => (isForced ? t('Delivered by you') : t('Automatic run')),
  automaticText: t('Text sent to the model'),

  yourMessages: (count: number) => (count === 1 ? t('your message') : t('{0} of your messages', count)),
  shownOf: (shown: number, total: number) => {
    if (shown < total) return t('{0} of {1} notifications', shown, total);
    return total === 1 ? t('1 notification') : t('{0} notifications', total);
  },
  moreLabels: (count: number) => `+${count}`,
  carriedText: t('Exact text sent to the model'),
  receipts: { carried: t('In the log'), accepted: t('Received by the model') },

  needsApproval: (title: string) => t('Approval needed: {0}', title),
  needsAnswer: (question: string) => t('Question: {0}', question),
  hasFailed: (text: string) => t('Failed: {0}', text),
  goThere: t('Go there'),
  subagentNeeds: (name: string) => t('The subagent {0} needs you', name),
  otherNeeds: (title: string) => t('Another conversation needs you: {0}', title),
};

/** As `automatic`, for screen readers, with the first notification. */
export function describeAutomatic(isForced: boolean, [first]: readonly NotificationLabel[] = []): string {
  return [notificationStrings.automatic(isForced), ...(first ? [describeLabel(first)] : [])].join(': ');
}

/** `File changed · src/menu.ts` */
export function describeLabel(label: NotificationLabel & { readonly more?: number }): string {
  const { subject, more = 0 } = label;
  const words = visibleText(t(label.label));
  const about = subject === '' ? words : `${words} · ${visibleText(subject)}`;
  return more > 0 ? `${about} ${notificationStrings.andMore(more)}` : about;
}
