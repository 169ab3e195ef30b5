// The page's entry: joins the host's messages, the reducer and the drawing, and tells the host what fails here.
import { render } from 'preact';
import { describeError } from '../base/errors.ts';
import type { FromPage, ToPage } from '../protocol/webview.ts';
import { App } from './app.tsx';
import { DiffReader } from './diffs.ts';
import { FailedPage, Restarts, RootBoundary } from './restarts.tsx';
import { initialState, reduce } from './state.ts';

interface VsCodeApi {
  postMessage(message: FromPage): void;
}
declare function acquireVsCodeApi(): VsCodeApi;

const api = acquireVsCodeApi();
const post = (message: FromPage) => api.postMessage(message);

/** A page that fails again and again must not flood the host. */
let failures = 0;
function report(error: unknown): void {
  if (failures++ < 20) post({ type: 'failed', message: describeWithStack(error).slice(0, 10_000) });
}
function describeWithStack(error: unknown): string {
  return error instanceof Error && error.stack !== undefined
    ? `${error.message}\n${error.stack}`
    : describeError(error);
}
window.addEventListener('error', (event) => report(event.error ?? event.message));
window.addEventListener('unhandledrejection', (event) => report(event.reason));

const diffs = new DiffReader(post);
const restarts = new Restarts(() => performance.now());
let root = document.getElementById('root');
let state = initialState;
let drawing = false;
/** It failed again and again: nothing is drawn until the user asks for it. */
let givenUp = false;
/** It has failed, and what follows from that is to come. */
let failing = false;

function draw(): void {
  drawing = false;
  if (root === null || givenUp) return;
  try {
    render(
      <RootBoundary onFail={fail}>
        <App state={state} post={post} keepDraft={keepDraft} readDiff={(call) => diffs.read(call)} />
      </RootBoundary>,
      root,
    );
  } catch (error) {
    fail(error);
  }
}

function fail(error: unknown): void {
  report(error);
  if (failing) return;
  failing = true;
  const next = restarts.next() === 'restart' ? restart : giveUp;
  // Not within the drawing that failed.
  requestAnimationFrame(next);
}

/** As if the page were new: the host gives the conversation and the draft again. */
function restart(): void {
  sendDraft();
  renewRoot();
  [givenUp, failing] = [false, false];
  state = initialState;
  draw();
  post({ type: 'ready', fresh: true });
}

function giveUp(): void {
  renewRoot();
  [givenUp, failing] = [true, false];
  const again = () => {
    restarts.reset();
    restart();
  };
  if (root !== null) render(<FailedPage restart={again} />, root);
}

/** What a failed drawing left behind cannot be taken apart safely. */
function renewRoot(): void {
  const fresh = document.createElement('div');
  fresh.id = 'root';
  root?.replaceWith(fresh);
  root = fresh;
}

const DRAFT_MILLISECONDS = 200;
let draft: { text: string; timer: number } | undefined;

/** The host keeps it, a moment after each change and at the latest when the page goes. */
function keepDraft(text: string): void {
  clearTimeout(draft?.timer);
  draft = { text, timer: window.setTimeout(sendDraft, text === '' ? 0 : DRAFT_MILLISECONDS) };
}

function sendDraft(): void {
  if (draft === undefined) return;
  clearTimeout(draft.timer);
  post({ type: 'draft', text: draft.text });
  draft = undefined;
}
window.addEventListener('pagehide', sendDraft);

// However many messages come, the page is drawn once a frame.
window.addEventListener('message', (event: MessageEvent<unknown>) => {
  if (!isToPage(event.data)) return;
  if (event.data.type === 'diff') {
    diffs.take(event.data.call, event.data.files);
    return;
  }
  try {
    const { asked } = state;
    state = reduce(state, event.data);
    if (state.asked !== asked) post({ type: 'ready', fresh: false });
  } catch (error) {
    fail(error);
    return;
  }
  if (!drawing) requestAnimationFrame(draw);
  drawing = true;
});

const TO_PAGE = new Set<string>([
  'snapshot',
  'delta',
  'focus_composer',
  'restore_draft',
  'diff',
] satisfies ToPage['type'][]);

/** Only the host can post here; other listeners' messages (the editor's own) are not ours. */
function isToPage(data: unknown): data is ToPage {
  if (typeof data !== 'object' || data === null || !('type' in data)) return false;
  return typeof data.type === 'string' && TO_PAGE.has(data.type);
}

draw();
post({ type: 'ready', fresh: true });
