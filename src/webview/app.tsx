// The layout of the page: obstacles, conversation or welcome, composer, footer.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ChatHead, FromPage, Obstacle } from '../protocol/webview.ts';
import { valueAt } from './chunked.ts';
import { Composer } from './composer/composer.tsx';
import { Conversations, ConversationTabs } from './panel/conversations.tsx';
import { Footer } from './panel/footer.tsx';
import { Due } from './panel/due.tsx';
import { PendingDrawer } from './panel/pendingDrawer.tsx';
import { OriginBar, ParentBar } from './panel/parentBar.tsx';
import { PinnedBar } from './panel/pinnedBar.tsx';
import { PlanBar } from './panel/planBar.tsx';
import { Strip } from './panel/strip.tsx';
import { TitleBar } from './panel/titleBar.tsx';
import { type Actions, ActionsProvider } from './render/actions.ts';
import { ButtonPriorityProvider } from './cards/primary.ts';
import { ChangedFiles } from './render/changedFiles.tsx';
import { HandlesProvider } from './cards/agentLine.tsx';
import { type Revealed, RevealedProvider } from './cards/reveal.ts';
import { HandleList } from './render/handles.tsx';
import { Icon } from './render/icons.tsx';
import { TodoList } from './render/todo.tsx';
import type { PageState, ToolItem } from './state.ts';
import { t } from './strings/l10n.ts';
import { strings } from './strings/strings.ts';
import { useWords } from './strings/words.ts';
import { Transcript } from './transcript.tsx';

interface Properties {
  readonly state: PageState;
  readonly post: Actions['post'];
  readonly keepDraft: (text: string) => void;
  readonly readDiff: Actions['readDiff'];
  readonly readMedia: Actions['readMedia'];
  /** As in `PageHost`. */
  readonly offers: ReadonlySet<FromPage['type']> | undefined;
  readonly standsAlone: boolean;
  readonly status: Obstacle | undefined;
}

export function App({ state, post, keepDraft, readDiff, readMedia, offers, standsAlone, status }: Properties) {
  const field = useRef<HTMLTextAreaElement>(null);
  const page = useRef<HTMLElement>(null);
  const [draft, setDraftState] = useState('');
  const [sent, setSent] = useState(0);
  const [revealed, setRevealed] = useState<Revealed | null>(null);
  const setDraft = (text: string) => {
    setDraftState(text);
    keepDraft(text);
  };
  const rendered = state.head?.conversation ?? undefined;
  const followed = state.head?.followed === true;
  const actions = useMemo<Actions>(
    () => ({
      post,
      conversation: rendered,
      offers: (type) => offers?.has(type) ?? true,
      followed,
      copy: (text) => navigator.clipboard.writeText(text),
      showItem: (item, text) => setRevealed({ item, text }),
      focusComposer: () => field.current?.focus(),
      readDiff,
      readMedia,
    }),
    [post, rendered, followed],
  );
  useEffect(() => {
    if (state.focusRequests > 0) field.current?.focus();
  }, [state.focusRequests]);

  useEffect(() => {
    if (state.wanted !== null) setRevealed({ ...state.wanted, text: '' });
  }, [state.wanted]);

  const taken = useRef({ returned: 0, serial: 0 });
  useEffect(() => {
    const { serial, text: own } = state.draft;
    const isNew = serial !== taken.current.serial;
    // Both may come at once: text that was returned after another conversation was shown belongs to that one.
    const back = state.returned.slice(taken.current.returned).filter((one) => one.serial === serial);
    taken.current = { returned: state.returned.length, serial };
    const before = isNew ? own : draft;
    if (back.length > 0) setDraft([...back.map(({ text }) => text), before].filter((text) => text !== '').join('\n'));
    else if (isNew) setDraftState(own);
  }, [state.draft, state.returned]);

  const [finding, setFinding] = useState(false);
  const [listing, setListing] = useState(false);
  useEffect(() => {
    if (state.listRequests > 0) setListing(true);
  }, [state.listRequests]);
  const shown = state.head?.conversation;
  useEffect(() => {
    setListing(false);
    // The host may have stored the text that was typed since then for another conversation.
    if (state.head?.draft === null && draft !== '') {
      post({ type: 'draft', conversation: null, text: '' });
      keepDraft(draft);
    }
  }, [shown]);

  const onKeyDown = useRef<(event: KeyboardEvent) => void>(() => undefined);
  onKeyDown.current = (event) => {
    if (event.key === 'f' && (event.ctrlKey || event.metaKey) && state.items.length > 0) {
      setFinding(true);
      page.current?.querySelector<HTMLInputElement>('.find input')?.focus();
    } else if (isNewChatKey(event)) post({ type: 'new_chat' });
    else if (event.key === 'Escape' && state.head?.running === true && isInCard(event)) post({ type: 'stop' });
    else if (event.altKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown')) {
      jumpToRequest(page.current, event.key === 'ArrowUp' ? -1 : 1);
    } else return;
    event.preventDefault();
    // VS Code listens to the window, and would open the find bar of the active editor as well.
    event.stopPropagation();
  };
  useEffect(() => {
    // Also for keys that no element of the page has the focus for.
    const listener = (event: KeyboardEvent) => onKeyDown.current(event);
    document.addEventListener('keydown', listener);
    return () => document.removeEventListener('keydown', listener);
  }, []);

  const open = openCalls(state);
  const [first] = open;
  const isWriting = draft.trim() !== '';
  const wanted = useMemo(() => ({ request: first?.id, isWriting }), [first?.id, isWriting]);

  const { head } = state;
  if (head === null)
    return status === undefined ? <p class="loading">{strings.loading}</p> : <Refused status={status} />;
  const closeList = () => {
    setListing(false);
    field.current?.focus();
  };
  const suggest = (text: string) => {
    if (head.canSend) {
      post({ type: 'queue', content: text });
      setSent(sent + 1);
    } else setDraft(text);
    field.current?.focus();
  };
  return (
    <ActionsProvider value={actions}>
      <ButtonPriorityProvider value={wanted}>
        <main class="chat" ref={page}>
          <h1 class="hidden">{head.title === '' ? strings.earshot : head.title}</h1>
          {standsAlone && (
            <TitleBar head={head} listing={listing} list={() => (listing ? closeList() : setListing(true))} />
          )}
          <Obstacles obstacles={status === undefined ? head.obstacles : [status, ...head.obstacles]} post={post} />
          {head.parent != null && <ParentBar parent={head.parent} />}
          {head.origin != null && !listing && <OriginBar key={`origin ${shown}`} origin={head.origin} />}
          <ConversationTabs head={head} />
          {listing ? (
            <Conversations head={head} listed={state.conversations} close={closeList} />
          ) : state.items.length === 0 ? (
            <Welcome head={head} suggest={suggest} chooseModel={() => post({ type: 'choose_model' })} />
          ) : (
            <HandlesProvider value={head.handles}>
              <RevealedProvider value={revealed}>
                <Transcript
                  key={head.conversation ?? valueAt(state.items, 0)?.id}
                  items={state.items}
                  running={head.running}
                  sent={sent}
                  finding={finding}
                  endFinding={() => {
                    setFinding(false);
                    field.current?.focus();
                  }}
                  revealed={revealed}
                  endRevealing={() => setRevealed(null)}
                />
              </RevealedProvider>
            </HandlesProvider>
          )}
          {!listing && !isGuide(head) && (
            <PlanBar key={`plan ${shown}`} head={head} answered={endsWithAnswer(state)} send={suggest} />
          )}
          <Strip key={`strip ${shown}`}>
            <HandleList handles={head.handles} />
            <Due due={head.due} />
            <TodoList items={head.todo} />
            {head.changes != null && <ChangedFiles changes={head.changes} running={head.running} />}
            <PendingDrawer heldBack={head.heldBack} pending={head.pending} />
          </Strip>
          <PinnedBar key={shown} items={state.items} head={head} area={page} approveRequests={state.approveRequests} />
          <Composer
            draft={draft}
            setDraft={setDraft}
            running={head.running}
            canSend={head.canSend}
            queued={head.queued}
            attachments={head.attachments}
            editor={head.editor}
            returned={head.returned === true}
            approvals={open.flatMap((item) => (item.state === 'approval' ? [item.id] : []))}
            asked={open.some((item) => item.state === 'question')}
            onSent={() => setSent(sent + 1)}
            recall={() => earlierRequests(state)}
            prompts={state.prompts}
            sendKey={head.controls.sendKey}
            completions={state.completions}
            field={field}
          />
          <Footer head={head} context={state.context} freshness={state.freshness} />
          <div class="hidden" role="status" aria-live="polite" key="announcer">
            <span key={state.announcement.serial}>{state.announcement.text}</span>
          </div>
        </main>
      </ButtonPriorityProvider>
    </ActionsProvider>
  );
}

/** A browser's VS Code does not see this key, since it takes it for *Cut*; the desktop's runs its command. */
function isNewChatKey({ ctrlKey, metaKey, altKey, code }: KeyboardEvent): boolean {
  return (ctrlKey || metaKey) && altKey && code === 'KeyX' && !navigator.userAgent.includes('Electron');
}

/** Whether the key belongs to a card, and not to a part of it that Escape closes or to text that would be lost. */
function isInCard({ target, defaultPrevented, isComposing }: KeyboardEvent): boolean {
  if (defaultPrevented || isComposing || !(target instanceof Element)) return false;
  if ('value' in target && target.value !== '') return false;
  return target.closest('.item-tool, .pinned') !== null && target.closest('.modify') === null;
}

/** The Guide works by rules and cannot carry out plans. */
function isGuide({ model }: ChatHead): boolean {
  return model.label === strings.guide;
}

function endsWithAnswer({ items }: PageState): boolean {
  const last = valueAt(items, items.length - 1);
  return last?.type === 'answer' && !last.streaming;
}

/** Calls that wait for the user. All of them belong to the turn at the end of the transcript. */
function openCalls(state: PageState): ToolItem[] {
  const open: ToolItem[] = [];
  for (const chunk of state.items.chunks.toReversed()) {
    for (const item of chunk.toReversed()) {
      if (item.type === 'request' && item.meanwhile !== true) return open.reverse();
      if (item.type === 'tool' && (item.state === 'approval' || item.state === 'question')) open.push(item);
    }
  }
  return open.reverse();
}

/** Scrolls to the request before or after the top of the visible part. */
function jumpToRequest(page: HTMLElement | null, by: 1 | -1): void {
  const area = page?.querySelector('.scroller');
  const top = area?.getBoundingClientRect().top ?? 0;
  const requests = [...(area?.querySelectorAll<HTMLElement>('.item-request') ?? [])];
  const isBefore = (one: HTMLElement) => one.getBoundingClientRect().top < top - 4;
  const next = by < 0 ? requests.findLast(isBefore) : requests.find((one) => one.getBoundingClientRect().top > top + 8);
  next?.scrollIntoView({ block: 'start' });
}

const MOST_RECALLED = 100;

/** The user's requests, the newest first. */
function earlierRequests(state: PageState): string[] {
  const found: string[] = [];
  for (const chunk of state.items.chunks.toReversed()) {
    for (const item of chunk.toReversed()) {
      if (item.type === 'request' && item.source === 'user' && item.text !== found.at(-1)) found.push(item.text);
      if (found.length === MOST_RECALLED) return found;
    }
  }
  return found;
}

/** Shown while the host was never reached. */
function Refused({ status }: { readonly status: Obstacle }) {
  return (
    <main class="chat">
      <ObstacleBar obstacle={status} post={() => undefined} />
    </main>
  );
}

function Obstacles({ obstacles, post }: { readonly obstacles: readonly Obstacle[]; readonly post: Actions['post'] }) {
  if (obstacles.length === 0) return null;
  // In a low panel they scroll: without a button inside, the keyboard needs the list itself.
  const focusable = obstacles.some(({ action }) => action !== undefined) ? {} : { tabIndex: 0 };
  return (
    <div class="obstacles" {...focusable}>
      {obstacles.map((obstacle) => (
        <ObstacleBar key={obstacle.text} obstacle={obstacle} post={post} />
      ))}
    </div>
  );
}

function ObstacleBar({ obstacle, post }: { readonly obstacle: Obstacle; readonly post: Actions['post'] }) {
  const { action } = obstacle;
  const inWords = useWords();
  return (
    <div class={`obstacle level-${obstacle.level}`} role={obstacle.level === 'error' ? 'alert' : 'status'}>
      <Icon name={obstacle.level} />
      <div>
        <p>{inWords(obstacle.text)}</p>
        {obstacle.nextStep !== undefined && <p class="next-step">{inWords(obstacle.nextStep)}</p>}
        {action !== undefined && (
          <button type="button" class="secondary" onClick={() => post(action.message)}>
            {action.label}
          </button>
        )}
      </div>
    </div>
  );
}

interface WelcomeProperties {
  readonly head: ChatHead;
  readonly suggest: (text: string) => void;
  readonly chooseModel: () => void;
}

function Welcome({ head, suggest, chooseModel }: WelcomeProperties) {
  const ofGuide = isGuide(head);
  const suggestions = (head.suggestions ?? []).map((text) => (ofGuide ? text : t(text)));
  return (
    <div class="welcome">
      <div class="welcome-inner">
        <h2>{strings.helloTitle}</h2>
        <p>{strings.hello}</p>
        <p class="quiet">{strings.helloNotifications}</p>
        {suggestions.length > 0 && <h3>{strings.tryThis}</h3>}
        <ul class="suggestions">
          {suggestions.map((text) => (
            <li key={text}>
              <button type="button" class="suggestion" onClick={() => suggest(text)}>
                {text}
              </button>
            </li>
          ))}
        </ul>
        {ofGuide && head.models === undefined && (
          <p class="welcome-model">
            {strings.chooseModelHint}
            <button type="button" class="secondary" onClick={chooseModel}>
              {strings.chooseModelButton}
            </button>
          </p>
        )}
        <p class="quiet small">
          {strings.model}: {head.model.label} · {t(head.model.detail)}
          <br />
          {strings.versions(head.version, head.hostVersion)}
        </p>
      </div>
    </div>
  );
}
