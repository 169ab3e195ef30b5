// The list of background commands and subagents above the composer: state, last output and actions of each.
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { HandleView } from '../../protocol/page/handlesView.ts';
import type { FromPage } from '../../protocol/webview.ts';
import { memo } from '../memo.ts';
import { shortCount, StripList } from '../panel/strip.tsx';
import { strings } from '../strings/strings.ts';
import { transcriptStrings as ofTranscript } from '../strings/transcriptStrings.ts';
import { useWords } from '../strings/words.ts';
import { useActions } from './actions.ts';
import { askAboutHandle } from '../cards/askAboutHandle.ts';
import { agentOutput } from '../cards/agentOutput.ts';
import { Icon, type IconName, IconButton } from './icons.tsx';
import { visibleText } from './visibleText.ts';

export const HANDLE_ICONS: Record<HandleView['state'], IconName> = {
  running: 'loading',
  waiting: 'question',
  stopped: 'check',
  failed: 'error',
};

export const HandleList = memo(function HandleList({ handles }: { readonly handles: readonly HandleView[] }) {
  const inWords = useWords();
  if (handles.length === 0) return null;
  const agents = handles.filter(({ agent }) => agent !== undefined);
  const summary = strings.handlesSummary({
    running: count(handles, 'running'),
    waiting: count(handles, 'waiting') - count(agents, 'waiting'),
    waitingForYou: count(agents, 'waiting'),
    all: handles.length,
  });
  // The handle that ended last; its detail has the exit code.
  const newest = handles.findLast(({ state }) => state === 'failed' || state === 'stopped');
  const isWaiting = handles.some(({ state }) => state === 'waiting');
  return (
    <StripList
      name="handles"
      level={isWaiting ? 'warning' : undefined}
      label={strings.handles}
      icon="terminal"
      count={shortCount(count(handles, 'running') + count(handles, 'waiting') || handles.length)}
      summary={summary}
      note={newest && visibleText(`${newest.name}: ${inWords(newest.detail)}`)}
      status={summary}
    >
      {() => (
        <>
          <p class="sheet-head">
            {strings.handles} <span class="handles-count">{summary}</span>
          </p>
          <ul class="handles-items">
            {handles.map((handle) => (
              <Row key={handle.call} handle={handle} />
            ))}
          </ul>
        </>
      )}
    </StripList>
  );
});

function count(handles: readonly HandleView[], wanted: HandleView['state']): number {
  return handles.filter(({ state }) => state === wanted).length;
}

function Row({ handle }: { readonly handle: HandleView }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const { call, name, state, agent } = handle;
  const { offers } = useActions();
  const command = visibleText(handle.command);
  const ended = state === 'stopped' || state === 'failed';
  return (
    <li class={`handle handle-${state}`}>
      <div class="handle-row">
        <button
          type="button"
          class="handle-head"
          aria-expanded={open}
          aria-controls={id}
          onClick={() => setOpen(!open)}
        >
          <Icon name={open ? 'chevron-down' : 'chevron-right'} />
          <span class="handle-state">
            <Icon name={HANDLE_ICONS[state]} />
            <span class="hidden">
              {agent !== undefined && state === 'waiting' ? strings.agentWaits : strings.handleStates[state]}:
            </span>
          </span>
          <span class="handle-name" title={visibleText(name)}>
            {visibleText(name)}
          </span>
          <span class="handle-command" title={command}>
            {command}
          </span>
        </button>
        <HandleAction
          icon="bell"
          label={strings.notifyOfHandle(name)}
          message={{ type: 'queue', content: askAboutHandle(handle), attachments: [] }}
        />
        {agent === undefined ? (
          <HandleAction icon="terminal" label={strings.showTerminal(name)} message={{ type: 'show_terminal', call }} />
        ) : (
          offers('open_conversation') && <OpenAgent name={name} conversation={agent.conversation} />
        )}
        {ended ? (
          <HandleAction icon="trash" label={strings.removeHandle(name)} message={{ type: 'hide_handle', call }} />
        ) : (
          <HandleAction
            icon="debug-stop"
            label={strings.stopHandle(name)}
            message={{ type: 'stop_command', tool_call_id: call }}
          />
        )}
      </div>
      <p class="handle-detail">
        <HandleDetail handle={handle} />
      </p>
      <div id={id} hidden={!open}>
        {open && <LastLines text={agent === undefined ? handle.output : agentOutput(handle.output)} name={name} />}
      </div>
    </li>
  );
}

/** The milliseconds since then, updated every second; the rest of the view changes only with its command. */
function useElapsed(since: string | undefined): number | undefined {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (since === undefined) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [since]);
  return since === undefined ? undefined : Math.max(0, now - Date.parse(since));
}

/** A waiting subagent gets another text than `detail`, which is also written for models and says `the user`. */
export function HandleDetail({ handle: { detail, state, since, agent } }: { readonly handle: HandleView }) {
  const inWords = useWords();
  const time = useElapsed(since);
  return (
    <span>
      {agent !== undefined && state === 'waiting'
        ? strings.agentWaits
        : time === undefined
          ? visibleText(inWords(detail))
          : strings.runningFor(ofTranscript.duration(time))}
      {typeof agent?.tokens === 'number' && <> · {strings.agentTokens(agent.tokens)}</>}
    </span>
  );
}

/** The button that opens the conversation of a subagent. */
export function OpenAgent({ name, conversation }: { readonly name: string; readonly conversation: string }) {
  const { post } = useActions();
  return (
    <button
      type="button"
      class="link agent-open"
      title={strings.openAgent(name)}
      aria-label={strings.openAgent(name)}
      onClick={() => post({ type: 'open_conversation', id: conversation })}
    >
      {strings.open}
    </button>
  );
}

/** A button of a row, unless the host does not handle its message. */
export function HandleAction({
  icon,
  label,
  message,
}: {
  readonly icon: IconName;
  readonly label: string;
  readonly message: FromPage;
}) {
  const actions = useActions();
  if (!actions.offers(message.type)) return null;
  return <IconButton icon={icon} label={label} run={() => actions.post(message)} />;
}

/** Scrolled to the end, where the newest output is. */
function LastLines({ text, name }: { readonly text: string; readonly name: string }) {
  const element = useRef<HTMLPreElement>(null);
  useLayoutEffect(() => {
    if (element.current !== null) element.current.scrollTop = element.current.scrollHeight;
  }, [text]);
  if (text === '') return <p class="quiet handle-detail">{strings.noOutput}</p>;
  return (
    <pre class="output handle-output" ref={element} tabIndex={0} role="group" aria-label={strings.outputOf(name)}>
      {visibleText(text)}
    </pre>
  );
}
