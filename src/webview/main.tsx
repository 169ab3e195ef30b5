// The entry point of the page in VS Code: exchanges its messages with the extension.
import type { FromPage, ToPage } from '../protocol/webview.ts';
import { startPage } from './page.tsx';

interface VsCodeApi {
  postMessage(message: FromPage): void;
}
declare function acquireVsCodeApi(): VsCodeApi;

/** A message that is missing here does not compile. */
const TO_PAGE: Readonly<Record<ToPage['type'], true>> = {
  snapshot: true,
  delta: true,
  focus_composer: true,
  show_item: true,
  approve_first: true,
  show_conversations: true,
  conversations: true,
  prompts: true,
  completions: true,
  context: true,
  freshness: true,
  sound: true,
  restore_draft: true,
  diff: true,
  media: true,
};

/** Messages of VS Code itself also arrive here; they are ignored. */
function isToPage(data: unknown): data is ToPage {
  if (typeof data !== 'object' || data === null || !('type' in data)) return false;
  return typeof data.type === 'string' && Object.hasOwn(TO_PAGE, data.type);
}

const api = acquireVsCodeApi();
const postFocus = (focused: boolean) => api.postMessage({ type: 'focused', focused });
window.addEventListener('focus', () => postFocus(true));
window.addEventListener('blur', () => postFocus(false));
postFocus(document.hasFocus());
startPage({
  post: (message) => api.postMessage(message),
  listen: (receive) =>
    window.addEventListener('message', (event: MessageEvent<unknown>) => {
      if (isToPage(event.data)) receive(event.data);
    }),
});
