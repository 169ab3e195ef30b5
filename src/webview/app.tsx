// The layout of the page: obstacles, conversation or welcome, composer, footer.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ChatHead, Obstacle } from '../protocol/webview.ts';
import { valueAt } from './chunked.ts';
import { Composer } from './composer.tsx';
import { HeldBack } from './heldBack.tsx';
import { type Actions, ActionsProvider } from './render/actions.ts';
import { ChangedFiles } from './render/changedFiles.tsx';
import { HandleList } from './render/handles.tsx';
import { Icon } from './render/icons.tsx';
import { TodoList } from './render/todo.tsx';
import type { PageState } from './state.ts';
import { strings } from './strings.ts';
import { Transcript } from './transcript.tsx';

interface Properties {
  readonly state: PageState;
  readonly post: Actions['post'];
  readonly keepDraft: (text: string) => void;
  readonly readDiff: Actions['readDiff'];
}

export function App({ state, post, keepDraft, readDiff }: Properties) {
  const field = useRef<HTMLTextAreaElement>(null);
  const [draft, setDraftState] = useState('');
  const [sent, setSent] = useState(0);
  const setDraft = (text: string) => {
    setDraftState(text);
    keepDraft(text);
  };
  const actions = useMemo<Actions>(
    () => ({
      post,
      copy: (text) => navigator.clipboard.writeText(text),
      focusComposer: () => field.current?.focus(),
      readDiff,
    }),
    [post],
  );
  useEffect(() => {
    if (state.focusRequests > 0) field.current?.focus();
  }, [state.focusRequests]);

  const taken = useRef(0);
  useEffect(() => {
    const back = state.returned.slice(taken.current);
    taken.current = state.returned.length;
    if (back.length > 0) setDraft([...back, draft].filter((text) => text !== '').join('\n'));
  }, [state.returned]);

  const { head } = state;
  if (head === null) return <p class="loading">{strings.loading}</p>;
  const suggest = (text: string) => {
    setDraft(text);
    field.current?.focus();
  };
  return (
    <ActionsProvider value={actions}>
      <main class="chat">
        <h1 class="hidden">{head.title === '' ? strings.earshot : head.title}</h1>
        {head.obstacles.map((obstacle) => (
          <ObstacleBar key={obstacle.text} obstacle={obstacle} post={post} />
        ))}
        {state.items.length === 0 ? (
          <Welcome head={head} suggest={suggest} />
        ) : (
          <Transcript key={valueAt(state.items, 0)?.id} items={state.items} running={head.running} sent={sent} />
        )}
        <HandleList handles={head.handles} />
        <TodoList items={head.todo} />
        {head.changes != null && <ChangedFiles changes={head.changes} running={head.running} />}
        <HeldBack heldBack={head.heldBack} pending={head.pending} />
        <Composer
          draft={draft}
          setDraft={setDraft}
          running={head.running}
          canSend={head.canSend}
          queued={head.queued}
          attachments={head.attachments}
          returned={head.returned === true}
          approvals={openApprovals(state)}
          onSent={() => setSent(sent + 1)}
          recall={() => lastRequest(state)}
          field={field}
        />
        <Footer head={head} />
        <div class="hidden" role="status" aria-live="polite" key="announcer">
          <span key={state.announcement.serial}>{state.announcement.text}</span>
        </div>
      </main>
    </ActionsProvider>
  );
}

/** All of them belong to the turn at the end of the transcript. */
function openApprovals(state: PageState): string[] {
  const open: string[] = [];
  for (const chunk of state.items.chunks.toReversed()) {
    for (const item of chunk.toReversed()) {
      if (item.type === 'request' && item.meanwhile !== true) return open.reverse();
      if (item.type === 'tool' && item.state === 'approval') open.push(item.id);
    }
  }
  return open.reverse();
}

function lastRequest(state: PageState): string | undefined {
  for (const chunk of state.items.chunks.toReversed()) {
    const found = chunk.findLast((item) => item.type === 'request' && item.source === 'user');
    if (found?.type === 'request') return found.text;
  }
  return undefined;
}

function ObstacleBar({ obstacle, post }: { readonly obstacle: Obstacle; readonly post: Actions['post'] }) {
  const { action } = obstacle;
  return (
    <div class={`obstacle level-${obstacle.level}`} role={obstacle.level === 'error' ? 'alert' : 'status'}>
      <Icon name={obstacle.level} />
      <div>
        <p>{obstacle.text}</p>
        {obstacle.nextStep !== undefined && <p class="next-step">{obstacle.nextStep}</p>}
        {action !== undefined && (
          <button type="button" class="secondary" onClick={() => post(action.message)}>
            {action.label}
          </button>
        )}
      </div>
    </div>
  );
}

function Welcome({ head, suggest }: { readonly head: ChatHead; readonly suggest: (text: string) => void }) {
  return (
    <div class="welcome">
      <div class="welcome-inner">
        <h2>{strings.helloTitle}</h2>
        <p>{strings.hello}</p>
        <p class="quiet">{strings.helloNotifications}</p>
        <h3>{strings.tryThis}</h3>
        <ul class="suggestions">
          {suggestionsFor(head).map((text) => (
            <li key={text}>
              <button type="button" class="suggestion" onClick={() => suggest(text)}>
                {text}
              </button>
            </li>
          ))}
        </ul>
        <p class="quiet small">
          {strings.model}: {head.model.label} · {head.model.detail}
          <br />
          {strings.versions(head.version, head.hostVersion)}
        </p>
      </div>
    </div>
  );
}

function suggestionsFor({ model }: ChatHead): readonly string[] {
  const [tour, ...more] = model.label === strings.guide ? strings.guideSuggestions : [];
  return [...(tour === undefined ? [] : [tour]), ...strings.suggestions, ...more];
}

function Footer({ head }: { readonly head: ChatHead }) {
  const { pending, model, meter } = head;
  return (
    <footer class="footer">
      <span class="model" title={`${model.label} · ${model.detail}`}>
        {model.label} · {model.detail}
      </span>
      {meter !== null && (
        <span class="meter" title={strings.contextTitle(meter.context, meter.tokens, meter.notificationTokens)}>
          {strings.contextUsed(meter.context)}
          {meter.cost !== null && ` · ${strings.cost(meter.cost)}`}
        </span>
      )}
      {pending.count > 0 && (
        <span class={`pending level-${pending.worst ?? 'info'}`}>
          <Icon name="bell" /> {strings.pendingCount(pending.count)}
        </span>
      )}
    </footer>
  );
}
