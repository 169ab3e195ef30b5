// UI strings of the panel around the transcript: footer, context, conversations.
import type { ContextPart, Controls } from '../../protocol/page/controlsView.ts';
import type { ConversationActivity } from '../../protocol/page/conversationsView.ts';
import { t } from './l10n.ts';

export const panelStrings = {
  modelTitle: (label: string, detail: string) => t('Model: {0} · {1}. Choose another one.', label, detail),
  models: t('Models'),
  lookingForModels: t('Looking for models…'),
  effort: t('Effort'),
  effortTitle: (level: string) => t('Effort: {0}. How much the model reasons.', level),
  efforts: {
    auto: t('Auto'),
    none: t('None'),
    minimal: t('Minimal'),
    low: t('Low'),
    medium: t('Medium'),
    high: t('High'),
    xhigh: t('Very high'),
    max: t('Maximum'),
  } satisfies Record<NonNullable<Controls['effort']>['current'], string>,
  mode: t('Mode'),
  modes: {
    agent: { label: t('Agent'), detail: t('All tools') },
    plan: { label: t('Plan'), detail: t('Only tools that read') },
  } satisfies Record<Controls['mode'], { label: string; detail: string }>,
  startPlan: t('Start Implementation'),
  startPlanTitle: t('Switch to agent mode and carry out the plan'),
  carryOutPlan: t('Carry out the plan.'),
  modeTitle: (mode: string) => t('Mode: {0}', mode),
  approvals: t('Approvals'),
  approvalModes: {
    ask: { label: t('Ask always'), detail: t('Every tool call needs approval') },
    reads: { label: t('Ask for changes'), detail: t('Reading needs no approval') },
    edits: { label: t('Ask for commands'), detail: t('Reading and editing need no approval') },
    all: { label: t('Approve everything'), detail: t('Only protected files need approval') },
  } satisfies Record<Controls['approvals'], { label: string; detail: string }>,
  approvalsTitle: (mode: string) => t('Approvals: {0}', mode),
  /** Contains `rulesBrief`, which the button shows: its name must contain what can be read on it. */
  widenedBy: (mode: string, rules: string) => t('{0} {1} for what needs no approval', mode, rules),
  rules: (count: number) => (count === 0 ? t('Always rules…') : t('Always rules ({0})…', count)),
  rulesBrief: (count: number) => (count === 1 ? t('+ 1 rule') : t('+ {0} rules', count)),
  rulesDetail: t('See and revoke what needs no approval'),

  context: t('Context'),
  percent: (share: number) => `${Math.round(share * 100)} %`,
  contextUsed: t('Context used:'),
  contextTitle: t('Show what fills the context window'),
  contextOf: (used: string, window: string) => t('{0} of {1} tokens', used, window),
  contextParts: {
    fixed: t('System prompt and tools'),
    requests: t('Your messages and files'),
    answers: t('Answers and tool calls'),
    results: t('Tool results'),
    notifications: t('Notifications'),
  } satisfies Record<ContextPart, string>,
  contextFree: t('Free'),
  contextEstimated: t('The total is counted by the endpoint; the parts are estimated.'),
  contextNone: t('Nothing was sent to a model in this conversation yet.'),
  contextTotal: t('Whole conversation'),
  tokensIn: t('Input'),
  tokensOut: t('Output'),
  tokensCached: t('of which cached'),
  tokensWritten: t('of which written to the cache'),
  tokensWoken: t('For automatic runs'),
  switching: t('Switching the model'),
  switchingTitle: t('Another model reads the whole context once without its cache.'),
  cost: t('Cost'),
  costUnknown: t('unknown'),
  costUnknownTitle: t('Add prices for the model to the setting earshot.models.'),
  openNotifications: t('Show Notifications'),
  close: t('Close'),

  conversations: t('Conversations'),
  searchConversations: t('Search conversations'),
  searching: t('Searching…'),
  noConversations: t('There are no conversations yet.'),
  noMatch: t('No conversation matches.'),
  newChat: t('New Chat'),
  subagent: t('Subagent:'),
  emptyTitle: t('Empty conversation'),
  damagedTitle: t('Damaged conversation'),
  activities: {
    approval: t('Needs approval'),
    question: t('Needs an answer'),
    running: t('Running'),
    failed: t('Failed'),
    unread: t('Unread'),
  } satisfies Record<ConversationActivity, string>,
  forkLabel: t('Fork of another conversation'),
  forkOf: (title: string) => t('This is a fork of “{0}”, which stays as it was.', title),
  leftThere: (left: string) => t('There: {0}.', left),
  unreviewed: (count: number) => (count === 1 ? t('1 file to review') : t('{0} files to review', count)),
  runningCommands: (count: number) => (count === 1 ? t('1 command running') : t('{0} commands running', count)),
  folder: (name: string) => t('Open folder: {0}', name),
  openOriginal: t('Open original'),
  restoreFiles: t('Restore files…'),
  restoreOriginal: t('Restore files to before the message that was sent again'),
  rename: t('Rename'),
  newTitle: t('New title'),
  fork: t('Fork'),
  export: t('Export…'),
  delete: t('Delete…'),
  actionsFor: (title: string) => t('Actions for {0}', title),
  foundCount: (count: number) => (count === 1 ? t('1 conversation') : t('{0} conversations', count)),
  openConversations: t('Open conversations'),
};

export function formatCost(cost: number, currency: string): string {
  const digits = cost < 1 ? 3 : 2;
  return new Intl.NumberFormat(undefined, {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(cost);
}

const AGES: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

export function formatAge(milliseconds: number): string {
  const [unit, size] = AGES.find(([, one]) => milliseconds >= one) ?? ['minute', 60_000];
  const format = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'narrow' });
  return milliseconds < 60_000 ? t('now') : format.format(-Math.round(milliseconds / size), unit);
}
