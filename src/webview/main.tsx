// The entry point of the page in VS Code: exchanges its messages with the extension.
import type { FromPage, ToPage } from '../protocol/webview.ts';
import { startPage } from './page.tsx';

interface VsCodeApi {
  postMessage(message: FromPage): void;
}
declare function acquireVsCodeApi(): VsCodeApi;

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

/** Messages of VS Code itself also arrive here; they are ignored. */
function isToPage(data: unknown): data is ToPage {
  if (typeof data !== 'object' || data === null || !('type' in data)) return false;
  return typeof data.type === 'string' && TO_PAGE.has(data.type);
}

const api = acquireVsCodeApi();
startPage({
  post: (message) => api.postMessage(message),
  listen: (receive) =>
    window.addEventListener('message', (event: MessageEvent<unknown>) => {
      if (isToPage(event.data)) receive(event.data);
    }),
});
