// The page's entry: joins the host's messages, the reducer and the drawing, and tells the host what fails here.
import { render } from 'preact';
import { describeError } from '../base/errors.ts';
import type { FromPage, ToPage } from '../protocol/webview.ts';
import { App } from './app.tsx';
import { DiffReader } from './diffs.ts';
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
const root = document.getElementById('root');
let state = initialState;
let drawing = false;

function draw(): void {
  drawing = false;
  if (root === null) return;
  render(<App state={state} post={post} keepDraft={keepDraft} readDiff={(call) => diffs.read(call)} />, root);
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
  const { asked } = state;
  state = reduce(state, event.data);
  if (state.asked !== asked) post({ type: 'ready', fresh: false });
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
