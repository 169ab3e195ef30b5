// Transports the page's messages over HTTP: a stream of lines from the web chat's server, and a request for each
// message to it.
// Reconnects automatically, and continues after the last message that it has received.
import { BackOff, ignore, Sequence } from '../../base/async.ts';
import type { FromPage, Obstacle, ToPage } from '../../protocol/webview.ts';
import type { PageHost } from '../page.tsx';
import { webStrings as strings } from './webStrings.ts';

/** The server sends something at least every 15 s. */
const SILENCE_MILLISECONDS = 40_000;
const FIRST_RETRY = 300;
const LONGEST_RETRY = 5000;
const TOKEN = 'earshot.token';
const PAGE = 'earshot.page';
const CONVERSATION = 'earshot.conversation';

type Status = 'connecting' | 'connected' | 'lost' | 'refused' | 'of_command';

export function createWebHost(): PageHost {
  const offers = readOffers();
  const { page, previous } = pageIds();
  let token = sessionStorage.getItem(TOKEN) ?? '';
  let code = takeCode();
  let status: Status = token === '' && code === '' ? 'refused' : 'connecting';
  /** The number of the last message that was received. */
  let last = 0;
  const retry = new BackOff(FIRST_RETRY, LONGEST_RETRY);
  let receive: (message: ToPage) => void = () => undefined;
  let changed: () => void = () => undefined;
  /** Messages are sent one after the other, so that they arrive in their order. */
  const sending = new Sequence();
  let wake: (() => void) | undefined;

  const setStatus = (next: Status) => {
    if (status === next) return;
    status = next;
    changed();
  };
  const authorized = (secret: string) => ({ authorization: `Bearer ${secret}` });

  const isAccepted = ({ status: answer, headers }: Response): boolean => {
    if (answer !== 401 && answer !== 403) return true;
    setStatus(headers.get('x-earshot-refused') === 'command' ? 'of_command' : 'refused');
    return false;
  };

  /** A code is valid once. */
  const exchange = async () => {
    const response = await fetch('exchange', { method: 'POST', headers: authorized(code), cache: 'no-store' });
    if (!isAccepted(response)) return;
    if (!response.ok) throw new Error(`status ${response.status}`);
    token = await response.text();
    code = '';
    sessionStorage.setItem(TOKEN, token);
  };

  const follow = async () => {
    if (code !== '') await exchange();
    if (isRefused()) return;
    const shown = sessionStorage.getItem(CONVERSATION) ?? '';
    const query = new URLSearchParams({ page, previous, since: String(last), conversation: shown });
    const aborter = new AbortController();
    const response = await fetch(`stream?${query}`, {
      headers: authorized(token),
      cache: 'no-store',
      signal: aborter.signal,
    });
    if (!isAccepted(response)) return;
    if (!response.ok || response.body === null) throw new Error(`status ${response.status}`);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest: string[] = [];
    for (;;) {
      const silent = setTimeout(() => aborter.abort(), SILENCE_MILLISECONDS);
      const { done, value } = await reader.read().finally(() => clearTimeout(silent));
      if (done) return;
      retry.reset();
      setStatus('connected');
      const lines = value.split('\n');
      const open = lines.pop() ?? '';
      if (lines.length > 0) {
        lines[0] = rest.join('') + (lines[0] ?? '');
        rest = [];
        for (const line of lines) if (line !== '') take(JSON.parse(line) as ToPage);
      }
      rest.push(open);
    }
  };

  const take = (message: ToPage) => {
    if ('number' in message) last = message.number;
    if (message.type === 'snapshot') sessionStorage.setItem(CONVERSATION, message.state.conversation ?? '');
    receive(message);
  };

  const isRefused = () => status === 'refused' || status === 'of_command';

  const stayConnected = async () => {
    while (!isRefused()) {
      // After a network error or an aborted stream it tries again.
      await follow().catch(ignore);
      if (isRefused()) return;
      setStatus('lost');
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, retry.next());
      });
    }
  };
  const hurry = () => {
    retry.reset();
    wake?.();
  };
  window.addEventListener('online', hurry);
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && hurry());

  const send = async (message: FromPage) => {
    const response = await fetch(`messages?${new URLSearchParams({ page })}`, {
      method: 'POST',
      headers: { ...authorized(token), 'content-type': 'application/json' },
      body: JSON.stringify(message),
      cache: 'no-store',
      keepalive: message.type === 'draft' && message.text.length < 30_000,
    });
    if (!response.ok) throw new Error(`status ${response.status}`);
  };

  return {
    offers,
    standsAlone: true,
    status: () => (status === 'connected' || status === 'connecting' ? undefined : describeConnection(status)),
    listen: (onMessage, onChange) => {
      receive = onMessage;
      changed = onChange;
      void stayConnected().catch(() => setStatus('lost'));
    },
    post: (message) => {
      if (!offers.has(message.type) || !isConfirmed(message)) return;
      // Opening the stream already requests the state.
      if (message.type === 'ready' && status !== 'connected') return;
      sending
        .run(() => send(message))
        .catch(() => {
          // Typed text must not be lost; everything else is still on the page and can be done again.
          if (message.type === 'queue' || message.type === 'interrupt')
            receive({ type: 'restore_draft', text: message.content });
        });
    },
  };
}

/** The messages that the server handles, as it has written them into the page. */
function readOffers(): ReadonlySet<FromPage['type']> {
  const text = document.getElementById('offers')?.textContent ?? '[]';
  return new Set(JSON.parse(text) as FromPage['type'][]);
}

/** One tap must neither delete a conversation nor turn off all approvals. */
function isConfirmed(message: FromPage): boolean {
  if (message.type === 'delete') return confirm(strings.confirmDelete);
  return message.type !== 'choose' || message.approvals !== 'all' || confirm(strings.confirmAll);
}

/**
 * Removes the code from the address, so that neither the history nor copied links contain it. After it, the address may
 * have the conversation to open.
 */
function takeCode(): string {
  const [code = '', conversation] = location.hash.slice(1).split('&', 2);
  if (code !== '') {
    if (conversation !== undefined) sessionStorage.setItem(CONVERSATION, conversation);
    history.replaceState(null, '', location.pathname + location.search);
  }
  return code;
}

/** Each load of the page has its own id; the id from before a reload identifies the state to continue with. */
function pageIds(): { readonly page: string; readonly previous: string } {
  const previous = sessionStorage.getItem(PAGE) ?? '';
  const page = crypto.getRandomValues(new Uint32Array(4)).join('-');
  sessionStorage.setItem(PAGE, page);
  return { page, previous };
}

function describeConnection(status: 'lost' | 'refused' | 'of_command'): Obstacle {
  if (status === 'lost') return { level: 'warning', text: strings.lost, nextStep: strings.lostNext };
  return status === 'refused'
    ? { level: 'error', text: strings.refused, nextStep: strings.refusedNext }
    : { level: 'error', text: strings.refusedOfCommand, nextStep: strings.refusedOfCommandNext };
}
