// The page of the Agents view: agents, threads, and one thread to read and write in.
import { useState, useEffect, useMemo, useRef } from 'preact/hooks';
import type {
  AgentsState,
  AgentView,
  FromAgentsPage,
  MachinesView,
  ThreadView,
  AgentMessageView,
} from '../../protocol/page/agentsView.ts';
import { formatAge } from '../strings/panelStrings.ts';
import { ActionsProvider } from '../render/actions.ts';
import { Icon, type IconName, IconButton } from '../render/icons.tsx';
import { visibleText } from '../render/visibleText.ts';
import { agentsStrings as strings } from './agentsStrings.ts';
import { MessageForm } from './messageForm.tsx';
import { Markdown } from '../render/markdown/markdown.tsx';
import { createMarkdownStream } from '../render/markdown/markdownStream.ts';

export interface AgentsPageProperties {
  readonly state: AgentsState;
  /** The last message that was not sent. */
  readonly returned: { readonly text: string; readonly problem: string } | undefined;
  readonly post: (message: FromAgentsPage) => void;
}

/** Actions for the Markdown of other agents: its links and buttons open nothing. */
const READING = {
  post: () => undefined,
  conversation: undefined,
  offers: () => false,
  followed: false,
  copy: (text: string) => navigator.clipboard.writeText(text),
  showItem: () => undefined,
  focusComposer: () => undefined,
  readDiff: async () => [],
  readMedia: async () => undefined,
};

export function AgentsPage(properties: AgentsPageProperties) {
  return (
    <ActionsProvider value={READING}>
      <AgentsBody {...properties} />
    </ActionsProvider>
  );
}

function AgentsBody({ state, returned, post }: AgentsPageProperties) {
  /** The agent that a new thread is being written to. */
  const [writingTo, setWritingTo] = useState<string>();
  const { hub, threads, thread, machines } = state;
  if (hub === 'off')
    return (
      <main class="agents">
        <p class="quiet agents-note">{strings.off}</p>
      </main>
    );
  if (hub === 'connecting')
    return (
      <main class="agents">
        <p class="quiet agents-note" role="status">
          {strings.connecting}
        </p>
      </main>
    );
  if (thread !== null || writingTo !== undefined) {
    const shown = threads.find(({ id }) => id === thread?.id);
    const close = () => {
      setWritingTo(undefined);
      post({ type: 'open_thread', thread: null });
    };
    return (
      <main class="agents">
        <header class="agents-head">
          <IconButton icon="chevron-right" label={strings.back} run={close} />
          <h1>{writingTo === undefined ? visibleText(shown?.title ?? '') : strings.newThreadWith(writingTo)}</h1>
        </header>
        <Machines machines={machines} />
        {thread !== null && <ThreadMessages messages={thread.messages} />}
        <MessageForm
          key={thread?.id ?? writingTo}
          state={state}
          thread={thread?.id ?? null}
          to={writingTo}
          returned={returned}
          post={(message) => {
            setWritingTo(undefined);
            post(message);
          }}
        />
      </main>
    );
  }
  return (
    <main class="agents">
      <h1 class="hidden">{strings.agents}</h1>
      <Machines machines={machines} />
      <section class="agents-part" aria-label={strings.agents}>
        <h2>{strings.agents}</h2>
        {groupAgents(state.agents).map(({ label, agents }) => (
          <section key={label} aria-label={label}>
            <h3>{label}</h3>
            <ul class="agent-rows">
              {agents.map((agent) => (
                <AgentRow key={`${agent.name} ${agent.machine ?? ''}`} agent={agent} write={setWritingTo} post={post} />
              ))}
            </ul>
          </section>
        ))}
      </section>
      <section class="agents-part" aria-label={strings.threads}>
        <h2>{strings.threads}</h2>
        {threads.length === 0 && <p class="quiet agents-note">{strings.noThreads}</p>}
        <ul class="agent-rows">
          {threads.map((one) => (
            <ThreadRow
              key={one.id}
              thread={one}
              me={state.me}
              open={() => post({ type: 'open_thread', thread: one.id })}
            />
          ))}
        </ul>
      </section>
    </main>
  );
}

interface AgentGroup {
  readonly label: string;
  readonly agents: readonly AgentView[];
}

/**
 * This window, then the connected agents of this machine and of each other one, then those that are not connected. A
 * group without agents is left out.
 */
function groupAgents(agents: readonly AgentView[]): readonly AgentGroup[] {
  const isHere = ({ kind }: AgentView) => kind === 'me' || kind === 'here';
  const live = agents.filter((one) => one.live && !isHere(one));
  const away = agents.filter((one) => !one.live && !isHere(one));
  const machines = [...new Set(live.flatMap(({ machine }) => machine ?? []))].sort();
  return [
    { label: strings.thisWindow, agents: agents.filter(isHere) },
    { label: strings.thisMachine, agents: live.filter(({ machine }) => machine === undefined) },
    ...machines.map((name) => ({
      label: strings.machine(visibleText(name)),
      agents: live.filter(({ machine }) => machine === name),
    })),
    { label: strings.notConnected, agents: away },
  ].filter((group) => group.agents.length > 0);
}

const ACTIVITY_ICONS = { approval: 'warning', question: 'question', running: 'loading' } as const satisfies Record<
  NonNullable<AgentView['activity']>,
  IconName
>;

interface AgentProperties {
  readonly agent: AgentView;
  readonly write: (name: string) => void;
  readonly post: (message: FromAgentsPage) => void;
}

function AgentRow({ agent, write, post }: AgentProperties) {
  const { name, role, display, kind, machine, live, lastSeen, unread = 0, activity, conversation, subagent } = agent;
  const state = live ? strings.live : strings.away(formatAge(Date.now() - Date.parse(lastSeen)));
  const kindText = kind === 'window' && !live ? strings.closed : strings.kinds[kind];
  const about = [
    kind === 'me' || display === '' ? kindText : visibleText(display),
    ...(kind === 'window' && display !== '' ? [kindText] : []),
    ...(subagent === undefined ? [] : [strings.subagent(visibleText(subagent.of))]),
    ...(role === '' || kind === 'me' ? [] : [visibleText(role)]),
    // Agents that are not connected are listed together, whichever machine they are on.
    ...(live ? [] : [...(machine === undefined ? [] : [strings.on(visibleText(machine))]), state]),
  ].join(' · ');
  return (
    <li class={`agent-row${live ? '' : ' is-away'}${(subagent?.of ?? '') === '' ? '' : ' is-nested'}`}>
      <span class={`agent-dot${live ? ' is-live' : ''}`} role="img" aria-label={state} title={state} />
      <span class="agent-text">
        <span class="agent-name">{visibleText(name)}</span>
        <span class="agent-about" title={about}>
          {about}
        </span>
        {activity !== undefined && (
          <span class={`agent-activity activity-${activity}`}>
            <Icon name={ACTIVITY_ICONS[activity]} /> {strings.activities[activity]}
          </span>
        )}
      </span>
      {unread > 0 && <span class="agent-unread">{strings.unread(unread)}</span>}
      {conversation !== undefined && (
        <IconButton
          icon="file"
          label={`${strings.openConversation}: ${visibleText(display === '' ? name : display)}`}
          title={strings.openConversation}
          run={() => post({ type: 'open_conversation', id: conversation })}
        />
      )}
      {kind !== 'me' && <IconButton icon="edit" label={strings.writeTo(name)} run={() => write(name)} />}
    </li>
  );
}

interface ThreadProperties {
  readonly thread: ThreadView;
  /** The user's own name. */
  readonly me: string;
  readonly open: () => void;
}

function ThreadRow({ thread, me, open }: ThreadProperties) {
  const { title, messages, unread, lastSender, preview, at } = thread;
  return (
    <li class="thread-row">
      <button type="button" class="thread-open" onClick={open}>
        <span class="thread-title">{visibleText(title)}</span>
        <span class="thread-age">{formatAge(Date.now() - Date.parse(at))}</span>
        <span class="thread-preview">
          {lastSender === me ? strings.kinds.me : visibleText(lastSender)}: {visibleText(preview)}
        </span>
        <span class="thread-count">
          {strings.messageCount(messages)}
          {unread > 0 && <span class="agent-unread">{strings.unread(unread)}</span>}
        </span>
      </button>
    </li>
  );
}

/** The connection with other machines, and what has not reached them. */
function Machines({ machines }: { readonly machines: MachinesView | null }) {
  if (machines === null) return null;
  const { state, error, notSent, full } = machines;
  const isWell = state === 'connected' && notSent === 0 && !full;
  return (
    <div class={`machines level-${isWell ? 'info' : 'warning'}`} role="status">
      <Icon name={isWell ? 'info' : 'warning'} />
      <span>
        {[
          strings.machines[state] ?? state,
          ...(error === undefined ? [] : [capitalized(visibleText(error))]),
          ...(notSent === 0 ? [] : [strings.waiting(notSent)]),
          ...(full ? [strings.full] : []),
        ].join(' ')}
      </span>
    </div>
  );
}

/** Errors begin in lower case, since they are parts of sentences elsewhere. */
function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** The messages of a thread, with their authors, scopes and mentions, and what has not reached a model yet. */
function ThreadMessages({ messages }: { readonly messages: readonly AgentMessageView[] }) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => list.current?.lastElementChild?.scrollIntoView({ block: 'nearest' }), [messages.length]);
  return (
    <ul class="thread-messages" ref={list} tabIndex={0} aria-label={strings.threads} aria-live="polite">
      {messages.map((message) => (
        <Message key={message.id} message={message} />
      ))}
    </ul>
  );
}

function MessageText({ text }: { readonly text: string }) {
  const view = useMemo(() => {
    const stream = createMarkdownStream();
    stream.append(text);
    stream.finish();
    return stream.view();
  }, [text]);
  return <Markdown view={view} />;
}

function Message({ message }: { readonly message: AgentMessageView }) {
  const { author, machine, own, text, format, deleted, edited, at, mentions, scopes, pendingIn } = message;
  const from = own ? strings.kinds.me : visibleText(author);
  return (
    <li class={`message${own ? ' is-own' : ''}`}>
      <p class="message-head">
        <span class="agent-name">{from}</span>
        {machine !== undefined && <span class="quiet"> {strings.on(machine)}</span>}
        <span class="quiet">
          {' '}
          · {formatAge(Date.now() - Date.parse(at))}
          {edited && ` · ${strings.edited}`}
        </span>
      </p>
      {mentions.length > 0 && (
        <p class="message-to quiet">{strings.sentTo(mentions.map((name) => `@${visibleText(name)}`).join(', '))}</p>
      )}
      {deleted ? (
        <p class="quiet">{strings.deleted}</p>
      ) : format === 'markdown' ? (
        <MessageText text={text} />
      ) : (
        <pre class="message-plain">{visibleText(text)}</pre>
      )}
      {scopes.length > 0 && (
        <ul class="message-scopes">
          {scopes.map((scope) => (
            <li key={scope}>
              <Icon name="file" /> {visibleText(scope)}
            </li>
          ))}
        </ul>
      )}
      {pendingIn.length > 0 && (
        <p class="message-pending" role="status">
          <Icon name="clock" /> {strings.pendingIn(pendingIn.map(visibleText).join(', '))}
        </p>
      )}
    </li>
  );
}
