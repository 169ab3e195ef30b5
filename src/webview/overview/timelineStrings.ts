// UI strings of the timeline.
import type { Lane, TimelineItem, TimelineType } from '../../protocol/page/overviewView.ts';
import { knownToolLabel, otherToolName } from '../../base/toolLabels.ts';
import { t } from '../strings/l10n.ts';

const DAY = 24 * 60 * 60 * 1000;

const types = {
  message: t('Message'),
  edit: t('Edit'),
  decision: t('Decision'),
  cycle: t('Model call'),
  call: t('Tool call'),
  change: t('Change'),
  build: t('Build or command'),
  problem: t('Problem'),
  server: t('Server or settings'),
  agent: t('Agent, review or script'),
} satisfies Record<TimelineType, string>;

const decisions: Readonly<Record<string, string>> = {
  approve: t('approved'),
  reject: t('rejected'),
  modify: t('approved with changes'),
  answer: t('answered'),
  keep: t('kept changes'),
  undo: t('undid changes'),
  restore: t('restored files'),
  revert: t('reverted'),
};

export const timelineStrings = {
  title: t('Timeline'),
  lanes: { you: t('You'), agent: t('Agent'), outside: t('Outside') } satisfies Record<Lane, string>,
  types,
  legend: t('What the shapes mean'),
  hour: t('Last hour'),
  all: t('All'),
  zoomIn: t('Zoom in'),
  zoomOut: t('Zoom out'),
  none: t('Nothing has happened in this conversation yet.'),
  area: (count: number) =>
    count === 1 ? t('Timeline with 1 event') : t('Timeline with {0} events', count.toLocaleString()),
  keys: t(
    'Left and Right choose an event, Up and Down a lane, Plus and Minus zoom, 0 shows all, Enter opens the chat at that moment.',
  ),
  nothingChosen: t('Click an event to open the chat at that moment.'),
  open: t('Show in chat'),
  request: t('Show what the model saw'),
  tick: (at: number, step: number) =>
    new Date(at).toLocaleString(
      [],
      step >= DAY
        ? { dateStyle: 'short' }
        : { hour: 'numeric', minute: '2-digit', ...(step < 60_000 && { second: '2-digit' }) },
    ),
  span: (from: number, to: number) => {
    const [first, last] = [new Date(from), new Date(to)];
    const isOneDay = first.toDateString() === last.toDateString();
    const time = { timeStyle: to - from < 600_000 ? 'medium' : 'short' } as const;
    const end = last.toLocaleString([], isOneDay ? time : { dateStyle: 'short', ...time });
    return t('{0} to {1}', first.toLocaleString([], { dateStyle: 'short', ...time }), end);
  },
  describe: (item: TimelineItem, carrier: TimelineItem | undefined) =>
    [
      `${timeOf(item.at)} ${item.label === undefined ? types[item.type] : t(item.label)}`,
      textOf(item),
      ...(item.until === undefined || item.until - item.at < 1000
        ? []
        : [t('{0} s', ((item.until - item.at) / 1000).toLocaleString([], { maximumFractionDigits: 1 }))]),
      ...(item.failed === true ? [t('failed')] : []),
      ...(item.state === 'pending' ? [t('pending')] : []),
      ...(item.state === 'withdrawn' ? [t('withdrawn before it was delivered')] : []),
      ...(item.state === 'filtered' ? [t('not delivered, as the settings say')] : []),
      ...(carrier === undefined ? [] : [t('delivered with the request of {0}', timeOf(carrier.at))]),
    ]
      .filter((part) => part !== '')
      .join(' · '),
};

function textOf({ type, text }: TimelineItem): string {
  if (type === 'decision') return decisions[text] ?? text;
  if (type !== 'call') return text;
  const known = knownToolLabel(text);
  return known === undefined ? otherToolName(text) : t(known);
}

function timeOf(at: number): string {
  return new Date(at).toLocaleTimeString([], { timeStyle: 'medium' });
}
