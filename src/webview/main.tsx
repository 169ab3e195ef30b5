// The page's entry point: connects the host's messages, the reducer and rendering, and reports errors to the host.
import { render } from 'preact';
import { describeError } from '../base/errors.ts';
import type { FromPage, ToPage } from '../protocol/webview.ts';
import { App } from './app.tsx';
import { DiffReader } from './diffs.ts';
import { MediaReader } from './mediaReader.ts';
import { FailedPage, Restarts, RootBoundary } from './restarts.tsx';
import { playSound } from './sound.ts';
import { initialState, reduce } from './state.ts';

interface VsCodeApi {
  postMessage(message: FromPage): void;
}
declare function acquireVsCodeApi(): VsCodeApi;

const api = acquireVsCodeApi();
const post = (message: FromPage) => api.postMessage(message);

/** A page that fails repeatedly must not flood the host. */
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
const media = new MediaReader(post);
const restarts = new Restarts(() => performance.now());
let root = document.getElementById('root');
let state = initialState;
let drawing = false;
/** It failed repeatedly: nothing is rendered until the user restarts the page. */
let givenUp = false;
/** It has failed, and a restart or the failure page is scheduled. */
let failing = false;

function draw(): void {
  drawing = false;
  if (root === null || givenUp) return;
  try {
    render(
      <RootBoundary onFail={fail}>
        <App
          state={state}
          post={post}
          keepDraft={keepDraft}
          readDiff={(call) => diffs.read(call)}
          readMedia={(hash) => media.read(hash)}
        />
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
  // Not during the render that failed.
  requestAnimationFrame(next);
}

/** Starts over like a new page: the host sends the conversation and the draft again. */
function restart(): void {
  sendDraft();
  renewRoot();
  [givenUp, failing] = [false, false];
  state = initialState;
  draw();
  post({ type: 'ready' });
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

/** The DOM left by a failed render cannot be updated safely. */
function renewRoot(): void {
  const fresh = document.createElement('div');
  fresh.id = 'root';
  root?.replaceWith(fresh);
  root = fresh;
}

const DRAFT_MILLISECONDS = 200;
let draft: { text: string; timer: number; conversation: string | null } | undefined;

/** Sends the draft to the host shortly after each change, and at the latest when the page closes. */
function keepDraft(text: string): void {
  clearTimeout(draft?.timer);
  const conversation = state.head?.conversation ?? null;
  draft = { text, conversation, timer: window.setTimeout(sendDraft, text === '' ? 0 : DRAFT_MILLISECONDS) };
}

function sendDraft(): void {
  if (draft === undefined) return;
  const { timer, ...rest } = draft;
  clearTimeout(timer);
  post({ type: 'draft', ...rest });
  draft = undefined;
}
window.addEventListener('pagehide', sendDraft);

// The page is rendered at most once a frame.
window.addEventListener('message', (event: MessageEvent<unknown>) => {
  if (!isToPage(event.data)) return;
  if (event.data.type === 'sound') {
    playSound();
    return;
  }
  if (event.data.type === 'diff') {
    diffs.resolve(event.data.call, event.data.files);
    return;
  }
  if (event.data.type === 'media') {
    media.resolve(event.data.hash, event.data.data);
    return;
  }
  try {
    const { snapshotRequests } = state;
    if (event.data.type === 'snapshot') sendDraft();
    state = reduce(state, event.data);
    if (state.snapshotRequests !== snapshotRequests) post({ type: 'ready' });
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
  'show_conversations',
  'conversations',
  'completions',
  'context',
  'sound',
  'restore_draft',
  'diff',
  'media',
] satisfies ToPage['type'][]);

/** Messages of the editor itself arrive here too; they are ignored. */
function isToPage(data: unknown): data is ToPage {
  if (typeof data !== 'object' || data === null || !('type' in data)) return false;
  return typeof data.type === 'string' && TO_PAGE.has(data.type);
}

draw();
post({ type: 'ready' });
