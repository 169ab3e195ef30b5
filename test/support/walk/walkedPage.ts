// The clients of a headless window, and a chat page over one of them.
import { expect } from 'vitest';
import { LocalClients } from '../../../src/core/client/local/localClient.ts';
import { ChatFrontend } from '../../../src/core/frontend/chatFrontend.ts';
import { emptyChatHead } from '../../../src/core/frontend/chatHead.ts';
import { Activities } from '../../../src/core/frontend/conversationActivity.ts';
import { Frontends } from '../../../src/core/frontend/frontends.ts';
import { type KeptText, PageComposer } from '../../../src/core/frontend/page/pageComposer.ts';
import { PageHost } from '../../../src/core/frontend/page/pageHost.ts';
import { KeepAlive } from '../../../src/core/keepAlive.ts';
import { Library } from '../../../src/core/library.ts';
import { base64 } from '../../../src/node/files/base64.ts';
import { isAlive } from '../../../src/node/kernelLock.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { realIds } from '../../../src/node/realIds.ts';
import { publicSettings } from '../../../src/plugins/initMessage.ts';
import { type TranscriptItem } from '../../../src/protocol/transcript.ts';
import { type ChatHead, type ToPage } from '../../../src/protocol/webview.ts';
import { wholeText } from '../../../src/webview/growing.ts';
import { initialState, type PageState, reduce } from '../../../src/webview/state.ts';
import { atTestEnd } from '../endings.ts';
import { testControls } from '../plugins/testControls.ts';
import { recordingLogger } from '../recordingLogger.ts';
import { type Headless } from './headless.ts';

/** Closed when the test ends. Without `frontends` the clients see no approvals and no growing answers. */
export function openClients(headless: Headless, frontends?: Frontends): LocalClients {
  const { earshot, ports, handles, wakes, supervision, views } = headless;
  const { lock, settings } = ports;
  const base = { clock: realClock, ids: realIds, logger: recordingLogger([]) };
  const keepAlive = new KeepAlive({ ...base, earshot, handles, supervision, wakes });
  const clients = new LocalClients({
    ...{ ...base, earshot, keepAlive, handles, wakes, store: ports.store, lock, views, snapshots: ports.snapshots },
    ...{ frontends: frontends ?? new Frontends(base), library: new Library(ports, earshot), files: ports },
    permissions: ports.permissions,
    ...{ controls: testControls({ model: 'one', settings: {} }), settings, base64, isAlive },
    config: () => publicSettings(settings()),
  });
  atTestEnd(async () => {
    clients.dispose();
    keepAlive.dispose();
  });
  return clients;
}

export interface WalkedPage {
  readonly page: PageHost;
  /** The state of the page after all messages so far. */
  state(): PageState;
  items(): readonly TranscriptItem[];
  /** Resolves once an item has this text, or the head fits. */
  until(fits: string | ((head: Partial<ChatHead>) => boolean)): Promise<void>;
  readonly posted: readonly ToPage[];
}

/** A page of the user. */
export function openPage(headless: Headless, frontends: Frontends): WalkedPage {
  const clients = openClients(headless, frontends);
  const client = clients.as({ by: 'user' });
  const { earshot, ports } = headless;
  const head = emptyChatHead({ version: '1', hostVersion: '2' }, { label: 'm', detail: '' });
  const frontend = new ChatFrontend(realClock, head, client.requests);
  const posted: ToPage[] = [];
  frontend.attach((message) => posted.push(message));
  const kept = new Map<string, string>();
  const keep = (key: string): KeptText => ({
    read: async () => kept.get(key) ?? '',
    write: async (text) => void kept.set(key, text),
  });
  const t = (text: string) => text;
  const composer = new PageComposer({
    ...{ client, frontend, t, logger: recordingLogger([]) },
    draftsOf: (id) => ({ text: keep(`${id} text`), attachments: keep(`${id} files`), returned: keep(`${id} back`) }),
  });
  const activities = new Activities({
    get: () => undefined,
    requests: client.requests,
    isShown: (id) => id === page.shown,
  });
  const model = { id: 'm', label: 'm', detail: '', contextWindow: 100_000 };
  const page: PageHost = new PageHost({
    ...{ client, frontend, composer, activities, clock: realClock, ids: realIds },
    offers: {
      chosen: () => ({ model, settings: ports.settings(), choice: {}, alternatives: () => [] }),
      headOf: (_, problem) => ({ canSend: problem === undefined, obstacles: [] }),
      t,
      describe: ({ message }) => message,
      didShow: (id) => earshot.returnMessages(id),
    },
    report: (what, error) => expect([what, error]).toEqual([]),
  });
  const attached = frontends.add(page);
  atTestEnd(async () => {
    attached.dispose();
    page.dispose();
    frontend.dispose();
    client.dispose();
  });
  const state = () => posted.reduce(reduce, initialState);
  const items = () => shownItems(state());
  const isFit = (fits: Parameters<WalkedPage['until']>[0]) =>
    typeof fits === 'string' ? JSON.stringify(items()).includes(fits) : fits(state().head ?? {});
  return {
    ...{ page, state, posted, items },
    until: async (fits) => {
      await expect.poll(() => isFit(fits), { interval: 5 }).toBe(true);
    },
  };
}

/** The items of a page, with whole texts. */
function shownItems(state: PageState): readonly TranscriptItem[] {
  return state.items.chunks.flat().map((item) => {
    if (item.type === 'answer') return { ...item, text: wholeText(item.text), reasoning: wholeText(item.reasoning) };
    return item.type === 'tool' ? { ...item, output: wholeText(item.output) } : item;
  });
}
