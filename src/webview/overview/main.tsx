// The entry point of the page of the notifications overview.
import { render } from 'preact';
import { describeError } from '../../base/errors.ts';
import type { FromOverview, ToOverview } from '../../protocol/page/overviewView.ts';
import { OverviewPage, type OverviewState } from './overviewPage.tsx';
import { merge, NO_DATA } from './timelineData.ts';

declare function acquireVsCodeApi(): { postMessage(message: FromOverview): void };

const api = acquireVsCodeApi();
const post = (message: FromOverview) => api.postMessage(message);
let failures = 0;
const report = (error: unknown) => {
  if (failures++ < 20) post({ type: 'failed', message: describeError(error).slice(0, 10_000) });
};
window.addEventListener('error', (event) => report(event.error ?? event.message));
window.addEventListener('unhandledrejection', (event) => report(event.reason));

let state: OverviewState = { part: 'timeline', scope: 'conversation', table: undefined, timeline: undefined };

function draw(): void {
  const root = document.getElementById('root');
  if (root !== null) render(<OverviewPage state={state} post={send} />, root);
}

function send(message: FromOverview): void {
  if (message.type === 'show_timeline') show({ part: 'timeline' });
  if (message.type === 'show_use') show({ part: 'use', scope: message.scope });
  post(message);
}

function show(changes: Partial<OverviewState>): void {
  state = { ...state, ...changes };
  draw();
}

window.addEventListener('message', (event: MessageEvent<unknown>) => {
  const message = event.data as ToOverview | null;
  if (message?.type === 'use')
    show({ part: 'use', table: message.table, ...(message.table && { scope: message.table.scope }) });
  if (message?.type !== 'timeline') return;
  const { items, whole } = message;
  show({ part: 'timeline', timeline: items === null ? null : merge(state.timeline ?? NO_DATA, items, whole) });
});

draw();
post({ type: 'ready' });
