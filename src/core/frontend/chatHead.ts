// The head of the chat: everything a page shows besides the transcript.
import { type ConversationChoice, type Controls } from '../../protocol/page/controlsView.ts';
import { type OtherConversation } from '../../protocol/page/conversationsView.ts';
import { type FolderFacts } from '../../protocol/page/folderView.ts';
import { defined } from '../../base/json/defined.ts';
import { type RuleView } from '../../protocol/page/rulesView.ts';
import { type Level, worseLevel } from '../../protocol/notification.ts';
import { type Settings } from '../../protocol/settings.ts';
import { type ChatHead, type HeldReason, type Obstacle, type Meter } from '../../protocol/webview.ts';
import { countDeliverable } from '../agent/delivery.ts';
import { effortFor } from '../conversation/choices.ts';
import { attachmentName } from '../conversation/attachments.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { type Model } from '../ports/ports.ts';
import { countFreshness } from '../knowledge/freshness.ts';
import { type ListedWake } from '../wakes/wakes.ts';
import { viewPending } from './pendingView.ts';
import { suggestionsFor } from './suggestions.ts';
import { usedBy } from '../agent/limits.ts';
import { type Projections } from '../conversation/projections/project.ts';
import { viewDue } from './dueViews.ts';

/** The number of notifications that the status bar lists. */
const NEWEST = 5;

export interface PendingSummary {
  readonly count: number;
  readonly worst: Level | null;
  /** The first lines of the first entries, most severe first. */
  readonly newest: readonly string[];
}

interface ShownConversation {
  readonly log: Pick<ConversationLog, 'state'>;
  readonly running: boolean;
  readonly heldBack?: HeldReason | undefined;
  /** False: another window owns it. */
  readonly owned?: boolean;
}

type ShownModel = Pick<Model, 'label' | 'detail' | 'contextWindow' | 'efforts'>;

/** The head before any conversation is shown. */
export function emptyChatHead(
  versions: Pick<ChatHead, 'version' | 'hostVersion'>,
  { label, detail }: Pick<Model, 'label' | 'detail'>,
): ChatHead {
  return {
    ...versions,
    conversation: null,
    draft: '',
    controls: { mode: 'agent', approvals: 'reads', sendKey: 'enter', currency: 'USD' },
    others: [],
    model: { label, detail },
    title: '',
    running: false,
    canSend: true,
    pending: { count: 0, worst: null, entries: [] },
    heldBack: null,
    queued: [],
    attachments: [],
    meter: null,
    obstacles: [],
    todo: [],
    handles: [],
    due: [],
  };
}

export interface HeadInput {
  readonly live: ShownConversation | undefined;
  readonly model: ShownModel;
  /** What was chosen for the conversation; absent: nothing. */
  readonly choice?: ConversationChoice;
  /** As they hold in the conversation. */
  readonly settings: Settings;
  readonly pending: PendingSummary;
  readonly canSend: boolean;
  readonly obstacles: readonly Obstacle[];
  readonly others: readonly OtherConversation[];
  /** How many permanent approvals hold in the conversation; absent: not known. */
  readonly rules?: number;
  /** For a page that lists them itself. */
  readonly listedRules?: readonly RuleView[];
  /** Absent: suggestions are set elsewhere. */
  readonly folder?: FolderFacts | undefined;
  /** Its timers and conditions with what is known about them; absent: as the log has them. */
  readonly due?: readonly ListedWake[];
  /** The title of another conversation; empty: not known. */
  titleOf?(conversation: string): string;
}

/** The parts of the head that depend on the shown conversation and the model; others are set elsewhere. */
export function conversationHead(shown: HeadInput): Partial<ChatHead> {
  const { live, model, settings, pending, canSend, obstacles, others } = shown;
  const parent = live?.log.state.summary.subagent?.parent;
  return {
    model: { label: model.label, detail: model.detail },
    controls: {
      mode: settings.mode,
      approvals: settings['approvals.mode'],
      ...effortControl(model, shown.choice ?? {}),
      ...(shown.rules !== undefined && { rules: widens(settings) ? shown.rules : 0 }),
      ...defined({ listedRules: shown.listedRules }),
      sendKey: settings.sendKey,
      currency: settings.currency,
    },
    title: live?.log.state.summary.title ?? '',
    others,
    running: live?.running ?? false,
    canSend,
    followed: live?.owned === false,
    pending: {
      count: pending.count,
      worst: pending.worst,
      entries: live === undefined || pending.count === 0 ? [] : viewPending(live.log, settings, model.contextWindow),
    },
    heldBack: live?.heldBack ?? null,
    queued: (live?.log.state.pending.queuedMessages ?? []).map(
      ({ id, content, typed: text = content, attachments = [] }) => ({
        id,
        text,
        attachments: attachments.map(attachmentName),
      }),
    ),
    meter: live === undefined ? null : readMeter(live.log.state, model, settings),
    freshness: live === undefined ? null : countFreshness(live.log.state.seen),
    obstacles,
    ...(shown.folder !== undefined && { suggestions: suggestionsFor(shown.folder, model, settings) }),
    parent: parent === undefined ? null : { id: parent, title: shown.titleOf?.(parent) ?? '' },
    todo: live?.log.state.todo.items ?? [],
    due: live === undefined ? [] : viewDue(live.log.state, shown.due),
  };
}

/** Nothing for a model without levels. */
function effortControl({ efforts = [] }: ShownModel, choice: ConversationChoice): Pick<Controls, 'effort'> {
  if (efforts.length === 0) return {};
  return { effort: { levels: efforts, current: effortFor({ efforts }, choice) ?? 'auto' } };
}

/** Whether permanent approvals allow more than the mode does. */
function widens({ 'approvals.mode': mode }: Settings): boolean {
  return mode !== 'ask' && mode !== 'all';
}

/** The notifications that would be delivered to the conversation now. */
export function summarizePending(
  live: ShownConversation | undefined,
  { contextWindow }: ShownModel,
  settings: Settings,
): PendingSummary {
  if (live === undefined) return { count: 0, worst: null, newest: [] };
  const plan = countDeliverable(live.log, { settings, contextWindow });
  const worst = plan.entries.reduce<Level | null>((level, entry) => worseLevel(level ?? 'info', entry.level), null);
  const newest = plan.entries.slice(0, NEWEST).map(({ message }) => (message.split('\n')[0] ?? '').replace(/:$/, ''));
  return { count: plan.shown.length + plan.counted.length, worst, newest };
}

/** Null until an endpoint has counted anything. */
function readMeter(
  { usage, messages }: Projections,
  model: Pick<Model, 'contextWindow'>,
  settings: Settings,
): Meter | null {
  const { tokens, cost } = usedBy(usage, settings);
  if (tokens === 0) return null;
  const context = usage.contextTokens(
    () => messages.all,
    () => '',
  );
  return {
    context: context / model.contextWindow,
    tokens,
    notificationTokens: usage.notifications,
    cost: cost ?? null,
  };
}
