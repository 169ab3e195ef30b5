// Reads agents and threads of the hub for the Agents view, and adds the state of this window's conversations.
import { defined } from '../../base/json/defined.ts';
import { type Notification } from '../../protocol/notification.ts';
import { type HubMessage, type HubThread, type ListedHubAgent } from '../../protocol/hubMethods.ts';
import {
  type AgentMessageView,
  type AgentsState,
  type AgentView,
  type ThreadView,
} from '../../protocol/page/agentsView.ts';
import { type ConversationActivity } from '../../protocol/page/conversationsView.ts';
import { type Earshot } from '../../core/earshot.ts';
import { belowParents } from '../../core/frontend/belowParents.ts';
import { CONVERSATION_MODULE } from '../../hub/agents/windowMembership.ts';
import { type UserAgent, USER_ROLE } from '../../hub/agents/userAgent.ts';
import { type WindowHub } from './windowHub.ts';

/** The page gets this much of a message; agents can read all of it. */
const LONGEST_TEXT = 20_000;
const MOST_AGENTS = 200;

/** A conversation of this window that is an agent. */
export interface LiveAgent {
  readonly conversation: string;
  readonly title: string;
  readonly activity?: AgentView['activity'];
  /** For a subagent: the conversation that started it. */
  readonly parent?: string;
  /** Notifications that its model has not received. */
  readonly pending: readonly Notification[];
}

/** The conversations of this window, by their names as agents. */
export type LiveAgents = () => ReadonlyMap<string, LiveAgent>;

/** The conversations of this window that have a name on the hub. */
export function liveAgents(
  hub: Pick<WindowHub, 'conversations' | 'nameOf'>,
  earshot: Pick<Earshot, 'get'>,
  activities: { activityOf(conversation: string): ConversationActivity | undefined },
): ReadonlyMap<string, LiveAgent> {
  return new Map(
    hub.conversations.flatMap((id): [string, LiveAgent][] => {
      const name = hub.nameOf(id);
      const state = earshot.get(id)?.log.state;
      if (name === undefined || state === undefined) return [];
      const activity = activities.activityOf(id);
      const isBusy = activity === 'approval' || activity === 'question' || activity === 'running';
      const { title, subagent } = state.summary;
      const { notifications: pending } = state.pending;
      const parent = subagent && { parent: subagent.parent };
      return [[name, { conversation: id, title, pending, ...parent, ...(isBusy && { activity }) }]];
    }),
  );
}

/** The state of the view, with one thread open. Rejects while the hub cannot be reached. */
export async function readAgents(agent: UserAgent, wanted: string | null, live: LiveAgents): Promise<AgentsState> {
  const { agents, threads, health } = await agent.overview();
  const me = agent.name ?? '';
  const byId = (wantedId: string | null) => threads.find(({ thread_id: id }) => id === wantedId);
  const thread = byId(wanted) ?? (wanted === null ? undefined : byId(await agent.threadOf(wanted)));
  const messages = thread === undefined ? [] : await agent.readThread(thread.thread_id);
  const { server, not_sent: notSent = 0, stream_full: full = false } = health;
  return {
    hub: 'connected',
    me,
    agents: viewAgents(agents, me, live),
    threads: threads.map((one) => viewThread(one, one === thread)),
    thread:
      thread === undefined
        ? null
        : { id: thread.thread_id, messages: messages.map((one) => viewMessage(one, me, live)) },
    machines: server === undefined ? null : { state: server.state, ...defined({ error: server.error }), notSent, full },
  };
}

/**
 * The user first, then conversations of this window with their subagents, then connected agents, then the rest, the
 * last seen first.
 */
function viewAgents(agents: readonly ListedHubAgent[], me: string, live: LiveAgents): AgentView[] {
  const here = live();
  const names = new Map([...here].map(([name, { conversation }]) => [conversation, name]));
  const views = agents.map((row): AgentView => {
    const { agent_id: name, role, display, machine, last_seen_at: lastSeen, unread } = row;
    const own = machine === undefined ? here.get(name) : undefined;
    const waiting = own?.pending.reduce((sum, one) => sum + messagesOf(one).length, 0) ?? unread;
    return {
      name,
      role,
      display: own?.title ?? display,
      kind: kindOf(row, me, own !== undefined),
      ...defined({ machine }),
      live: row.live,
      lastSeen,
      ...defined({ unread: waiting }),
      ...(own && { conversation: own.conversation }),
      ...defined({ activity: own?.activity }),
      ...(own?.parent !== undefined && { subagent: { of: names.get(own.parent) ?? '' } }),
    };
  });
  const rank = ({ kind, live: isLive }: AgentView) => (kind === 'me' ? 0 : kind === 'here' ? 1 : isLive ? 2 : 3);
  const byAge = (one: AgentView, other: AgentView) =>
    rank(one) === 3 ? Date.parse(other.lastSeen) - Date.parse(one.lastSeen) : 0;
  const sorted = views.toSorted(
    (one, other) => rank(one) - rank(other) || byAge(one, other) || one.name.localeCompare(other.name),
  );
  const rows = sorted.map((view, index) => {
    const parent = here.get(view.name)?.parent;
    const isSubagent = view.subagent !== undefined && parent !== undefined;
    return { id: view.conversation ?? String(index), view, ...(isSubagent && { subagent: { parent } }) };
  });
  return belowParents(rows)
    .slice(0, MOST_AGENTS)
    .map(({ item: { view } }) => view);
}

function kindOf(row: ListedHubAgent, me: string, isHere: boolean): AgentView['kind'] {
  const { agent_id: name, role, module, machine } = row;
  if (machine !== undefined) return 'remote';
  if (name === me) return 'me';
  if (role === USER_ROLE) return 'user';
  if (isHere) return 'here';
  return module === CONVERSATION_MODULE ? 'window' : 'other';
}

/** A shown thread has nothing unread: showing it marks its messages as read. */
function viewThread(thread: HubThread, shown: boolean): ThreadView {
  const {
    thread_id: id,
    title,
    message_count: messages,
    unread_count: unread,
    last_sender,
    preview,
    last_activity,
  } = thread;
  return {
    id,
    title: readableTitle(title, preview),
    messages,
    unread: shown ? 0 : unread,
    lastSender: last_sender,
    preview,
    at: last_activity,
  };
}

/** Agents may start a thread without a title, or with the id of a message. */
function readableTitle(title: string, preview: string): string {
  return /^(?:\s*|msg_\w+)$/.test(title) ? (preview.trim().split('\n', 1)[0] ?? '') : title;
}

function viewMessage(message: HubMessage, me: string, live: LiveAgents): AgentMessageView {
  const { message_id: id, author, body, deleted, updated_at: edited, created_at: at, refs, scopes } = message;
  const { content } = body;
  return {
    id,
    author: author.name,
    ...defined({ machine: author.machine }),
    own: author.agent_id === me && author.machine === undefined,
    format: body.format,
    text: content.length > LONGEST_TEXT ? `${content.slice(0, LONGEST_TEXT)}…` : content,
    deleted,
    edited: edited !== undefined && !deleted,
    at,
    mentions: refs.filter(({ type }) => type === 'mention').map(({ value }) => value),
    scopes: scopes.map(({ type, value }) => `${type}:${value}`),
    pendingIn: [...live()]
      .filter(([, { pending }]) => pending.some((one) => messagesOf(one).includes(id)))
      .map(([name, { title }]) => (title === '' ? name : title)),
  };
}

/** The messages that a pending notification is about. */
function messagesOf({ kind, data }: Notification): readonly unknown[] {
  const ids = kind.source === 'message' && kind.name === 'received' ? data?.['messages'] : undefined;
  return Array.isArray(ids) ? ids : [];
}
