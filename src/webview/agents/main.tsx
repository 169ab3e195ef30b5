// The entry point of the Agents view's page.
import { render } from 'preact';
import { describeError } from '../../base/errors.ts';
import type { AgentsState, FromAgentsPage, ToAgentsPage } from '../../protocol/page/agentsView.ts';
import { AgentsPage } from './agentsPage.tsx';

declare function acquireVsCodeApi(): { postMessage(message: FromAgentsPage): void };

const api = acquireVsCodeApi();
const post = (message: FromAgentsPage) => api.postMessage(message);
let failures = 0;
const report = (error: unknown) => {
  if (failures++ < 20) post({ type: 'failed', message: describeError(error).slice(0, 10_000) });
};
window.addEventListener('error', (event) => report(event.error ?? event.message));
window.addEventListener('unhandledrejection', (event) => report(event.reason));

let state: AgentsState = { hub: 'connecting', me: '', agents: [], threads: [], thread: null, machines: null };
let returned: { readonly text: string; readonly problem: string } | undefined;

function draw(): void {
  const root = document.getElementById('root');
  if (root !== null) render(<AgentsPage state={state} returned={returned} post={send} />, root);
}

function send(message: FromAgentsPage): void {
  if (message.type === 'send') returned = undefined;
  post(message);
}

window.addEventListener('message', (event: MessageEvent<unknown>) => {
  const message = event.data as Partial<ToAgentsPage> | null;
  if (message?.type === 'agents' && message.state !== undefined) state = message.state;
  else if (message?.type === 'not_sent') returned = { text: message.text ?? '', problem: message.problem ?? '' };
  else return;
  draw();
});

draw();
post({ type: 'ready' });
