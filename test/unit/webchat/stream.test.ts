// The stream of a page of the web chat, with the real plugin: what a page gets first, what it gets when it comes back, and drafts.
import { expect, test } from 'vitest';
import { atTestEnd } from '../../support/endings.ts';
import { createWebChatWorld, TOKEN, type WebChatWorld } from '../../support/webchat/webChatWorld.ts';
import { type FromPage, type ToPage } from '../../../src/protocol/webview.ts';

const headers = { authorization: `Bearer ${TOKEN}` };

interface Stream {
  readonly received: readonly ToPage[];
  /** The next message that fits, of all that were received and will be. */
  next(fits: (message: ToPage) => boolean): Promise<ToPage>;
  close(): void;
}

async function openStream(world: WebChatWorld, query: Readonly<Record<string, string>>): Promise<Stream> {
  const aborter = new AbortController();
  atTestEnd(async () => aborter.abort());
  const response = await fetch(`${world.origin}/stream?${new URLSearchParams(query)}`, {
    headers,
    signal: aborter.signal,
  });
  expect(response.status).toBe(200);
  const received: ToPage[] = [];
  const read = async () => {
    let rest = '';
    for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') received.push(JSON.parse(line) as ToPage);
    }
  };
  read().catch(() => undefined);
  return {
    received,
    close: () => aborter.abort(),
    next: async (fits) => {
      await expect.poll(() => received.some(fits), { interval: 5 }).toBe(true);
      return received.find(fits) as ToPage;
    },
  };
}

async function post(world: WebChatWorld, page: string, message: FromPage): Promise<void> {
  const response = await fetch(`${world.origin}/messages?page=${page}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(message),
  });
  expect(response.status).toBe(204);
}

const has = (text: string) => (message: ToPage) => JSON.stringify(message).includes(text);
const numbers = (stream: Stream) => stream.received.flatMap((message) => ('number' in message ? [message.number] : []));

test('a page gets a snapshot and numbered deltas, lists and dismisses what is pending; after a lost connection it gets exactly what it missed', async () => {
  const world = await createWebChatWorld({ answers: [{ text: ['one '], hang: true }, { text: ['Bye.'] }] });
  const first = await openStream(world, { page: 'page-0001', since: '0', conversation: '' });
  expect(await first.next(() => true)).toMatchObject({ type: 'snapshot', state: { conversation: null, items: [] } });
  await post(world, 'page-0001', { type: 'send', text: 'Count.' });
  await first.next(has('"one "'));
  const other = await world.attach('builder', {});
  const notification = { kind: { name: 'failed' }, level: 'error', message: 'The task “build” failed.' };
  await other.ask({ type: 'notify', ...notification, conversation: conversationOf(first) });
  await first.next(has('The task “build” failed.'));
  const [queued] = world.earshot.get(conversationOf(first))?.log.state.pending.notifications ?? [];
  await post(world, 'page-0001', { type: 'dismiss_notifications', ids: [queued?.id ?? ''] });
  await first.next(has('"pending":{"count":0,"worst":null,"entries":[]}'));
  const last = numbers(first).at(-1) ?? 0;
  const [begin = 0] = numbers(first);
  expect(numbers(first)).toEqual(Array.from({ length: last - begin + 1 }, (_, index) => begin + index));
  first.close();
  world.model.release();
  await world.earshot.settled(conversationOf(first));
  const again = await openStream(world, { page: 'page-0001', since: String(last), conversation: '' });
  await again.next(has('"running":false'));
  expect(again.received.every(({ type }) => type === 'delta')).toBe(true);
  expect(numbers(again)[0]).toBe(last + 1);
  // A number that it never sent: from the start.
  const anew = await openStream(world, { page: 'page-0001', since: '9999', conversation: '' });
  expect(await anew.next(() => true)).toMatchObject({ type: 'snapshot' });
});

test('a reload continues with the conversation and the unsent text; a copy of the tab shows the same and disturbs nobody', async () => {
  const world = await createWebChatWorld({ answers: [{ text: ['Hello.'] }] });
  const first = await openStream(world, { page: 'page-0001', since: '0', conversation: '' });
  await first.next(() => true);
  await post(world, 'page-0001', { type: 'send', text: 'Hi.' });
  await first.next(has('Hello.'));
  const conversation = conversationOf(first);
  await post(world, 'page-0001', { type: 'draft', conversation, text: 'half a sentence' });
  const copy = await openStream(world, { page: 'page-0002', previous: 'page-0001', since: '0', conversation });
  expect(await copy.next(has('Hello.'))).toMatchObject({ type: 'snapshot', state: { conversation } });
  expect(JSON.stringify(copy.received)).toContain('half a sentence');
  first.close();
  await expect
    .poll(async () => {
      const reloaded = await openStream(world, { page: 'page-0003', previous: 'page-0001', since: '0', conversation });
      return reloaded.next(has('Hello.'));
    })
    .toMatchObject({ type: 'snapshot', state: { conversation, draft: 'half a sentence' } });
  // A conversation that is not there, and an answer that comes too late.
  const lost = await openStream(world, { page: 'page-0004', since: '0', conversation: 'nothing' });
  await lost.next(has('"level":"warning"'));
  await post(world, 'page-0004', { type: 'open_conversation', id: conversation });
  await post(world, 'page-0004', { type: 'answer_approval', call: 'gone', action: 'approve' });
  await lost.next(has('No approval “gone” is open.'));
});

function conversationOf({ received }: Stream): string {
  const shown = received.findLast((message) => message.type === 'snapshot');
  return (shown?.type === 'snapshot' ? shown.state.conversation : null) ?? '';
}
