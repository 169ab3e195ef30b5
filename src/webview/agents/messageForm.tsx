// The form that writes a message in a thread or starts one: text with completed mentions, and the files it is about.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { AgentsState, AgentView, FromAgentsPage } from '../../protocol/page/agentsView.ts';
import { Icon } from '../render/icons.tsx';
import { visibleText } from '../render/visibleText.ts';
import { agentsStrings as strings } from './agentsStrings.ts';

const MOST_OFFERED = 8;
const OPTIONS = 'mention-options';

interface Properties {
  readonly state: AgentsState;
  readonly thread: string | null;
  /** The agent that a new thread is written to. */
  readonly to: string | undefined;
  readonly returned: { readonly text: string; readonly problem: string } | undefined;
  readonly post: (message: FromAgentsPage) => void;
}

export function MessageForm({ state, thread, to, returned, post }: Properties) {
  const field = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState(to === undefined ? '' : `@${to} `);
  const [title, setTitle] = useState('');
  const [files, setFiles] = useState('');
  const [caret, setCaret] = useState(text.length);
  const [active, setActive] = useState(0);
  // A layout effect sets the focus before the user can type; an effect would run only after the next frame.
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.setSelectionRange(text.length, text.length);
  }, []);
  useEffect(() => {
    if (returned !== undefined && text === '') setText(returned.text);
  }, [returned]);
  const others = state.agents.filter(({ kind }) => kind !== 'me');
  const known = new Set(others.flatMap(({ name, role }) => [name, ...(role === '' ? [] : [role])]));
  const mentions = mentionsIn(text, known);
  const typed = mentionAt(text, caret);
  const offered = typed === undefined ? [] : offer(others, typed.query);
  const choose = (agent: AgentView | undefined) => {
    if (agent === undefined || typed === undefined) return;
    const next = `${text.slice(0, typed.start)}@${agent.name} ${text.slice(caret)}`;
    const at = typed.start + agent.name.length + 2;
    setText(next);
    setCaret(at);
    setActive(0);
    requestAnimationFrame(() => field.current?.setSelectionRange(at, at));
  };
  const send = () => {
    if (text.trim() === '') return;
    post({
      type: 'send',
      thread,
      title: title.trim(),
      text,
      mentions,
      files: files
        .split(',')
        .map((path) => path.trim())
        .filter((path) => path !== '')
        .slice(0, 100),
    });
    setText('');
    setFiles('');
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing || event.key === 'Process') return;
    const count = offered.length;
    if (count > 0 && event.key === 'ArrowDown') setActive((active + 1) % count);
    else if (count > 0 && event.key === 'ArrowUp') setActive((active - 1 + count) % count);
    else if (count > 0 && (event.key === 'Tab' || event.key === 'Enter')) choose(offered[Math.min(active, count - 1)]);
    else if (event.key === 'Enter' && !event.shiftKey) send();
    else return;
    event.preventDefault();
  };
  return (
    <form
      class="message-form"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {returned !== undefined && (
        <p class="message-problem" role="alert">
          {strings.notSent(returned.problem)}
        </p>
      )}
      {thread === null && (
        <input
          class="search"
          value={title}
          maxLength={200}
          placeholder={strings.title}
          aria-label={strings.title}
          onInput={(event) => setTitle(event.currentTarget.value)}
        />
      )}
      {offered.length > 0 && (
        <ul class="picker mention-picker" id={OPTIONS} role="listbox" aria-label={strings.mention}>
          {offered.map((agent, index) => (
            <li
              key={agent.name}
              id={`${OPTIONS}-${index}`}
              class="picker-item"
              role="option"
              aria-selected={index === active}
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => choose(agent)}
            >
              <span class="picker-label">@{visibleText(agent.name)}</span>
              <span class="picker-detail">{visibleText(agent.display === '' ? agent.role : agent.display)}</span>
            </li>
          ))}
        </ul>
      )}
      <div class="field">
        <textarea
          ref={field}
          dir="auto"
          rows={3}
          value={text}
          maxLength={500_000}
          placeholder={strings.placeholder}
          aria-label={strings.message}
          {...(offered.length > 0 && {
            'aria-controls': OPTIONS,
            'aria-activedescendant': `${OPTIONS}-${Math.min(active, offered.length - 1)}`,
          })}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setCaret(event.currentTarget.selectionStart);
          }}
          onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
          onKeyDown={onKeyDown}
        />
        <button type="submit" class="send" title={strings.send} aria-label={strings.send} disabled={text.trim() === ''}>
          <Icon name="send" />
        </button>
      </div>
      <input
        class="search"
        value={files}
        placeholder={strings.files}
        aria-label={strings.files}
        onInput={(event) => setFiles(event.currentTarget.value)}
      />
      <p class="quiet small">
        {mentions.length === 0 ? strings.nobody : strings.sentTo(mentions.map((name) => `@${name}`).join(', '))}
      </p>
    </form>
  );
}

/** The matching agents; those whose names begin with the query come first. */
function offer(agents: readonly AgentView[], query: string): readonly AgentView[] {
  const found = agents.filter(({ name, display }) => `${name} ${display}`.toLowerCase().includes(query));
  const begins = ({ name }: AgentView) => Number(name.startsWith(query));
  return found.toSorted((one, other) => begins(other) - begins(one)).slice(0, MOST_OFFERED);
}

const LONGEST = 80;

/** The beginning of a name at the caret, and where its `@` is; undefined if none is being typed. */
function mentionAt(text: string, caret: number): { readonly start: number; readonly query: string } | undefined {
  const before = text.slice(Math.max(0, caret - LONGEST), caret);
  const typed = /(?:^|[\s(,])@([a-z0-9_-]*)$/i.exec(before)?.[1];
  return typed === undefined ? undefined : { start: caret - typed.length - 1, query: typed.toLowerCase() };
}

/** Names and roles that the text mentions and that exist, each once. */
function mentionsIn(text: string, known: ReadonlySet<string>): string[] {
  const found = new Set<string>();
  for (const [, name = ''] of text.matchAll(/(?:^|[\s(,])@([a-z0-9_-]{1,80})/gi)) {
    const wanted = name.toLowerCase();
    if (known.has(wanted)) found.add(wanted);
  }
  return [...found];
}
