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

test('a page that connects twice in a row is never shown an empty chat in between', async () => {
  const world = await createWebChatWorld({ answers: [{ text: ['Hello.'] }] });
  const conversation = await world.conversation();
  await world.turn(conversation, 'Hi.');
  const query = { page: 'page-0001', since: '7', conversation };
  const streams = await Promise.all([openStream(world, query), openStream(world, query)]);
  await expect.poll(() => streams.some(({ received }) => received.some(has('Hello.')))).toBe(true);
  for (const { received } of streams)
    for (const message of received)
      if (message.type === 'snapshot') expect(message.state.conversation).toBe(conversation);
});

test('queued messages are moved, withdrawn and sent at once; a request is edited and sent again in a fork', async () => {
  const world = await createWebChatWorld({
    answers: [
      { text: ['one '], hang: true },
      { text: ['two '], hang: true },
    ],
  });
  const stream = await openStream(world, { page: 'page-0001', since: '0', conversation: '' });
  const does = (message: FromPage) => post(world, 'page-0001', message);
  await stream.next(() => true);
  await does({ type: 'send', text: 'Count.' });
  await stream.next(has('"one "'));
  const first = conversationOf(stream);
  const queued = () => world.earshot.get(first)?.log.state.pending.queuedMessages ?? [];
  const idOf = (text: string) => queued().find(({ content }) => content === text)?.id ?? '';
  for (const text of ['a', 'b', 'c']) await does({ type: 'send', text });
  await stream.next(has('"text":"c"'));
  await does({ type: 'raise_queued', id: idOf('b') });
  await expect.poll(() => queued().map(({ content }) => content)).toEqual(['b', 'a', 'c']);
  await does({ type: 'take_back', id: idOf('a') });
  expect(await stream.next(({ type }) => type === 'restore_draft')).toMatchObject({ text: 'a' });
  expect(queued().map(({ content }) => content)).toEqual(['b', 'c']);
  await does({ type: 'take_back', id: 'gone' });
  await stream.next(has('"level":"warning"'));
  const other = await world.attach('builder', {});
  const notification = { kind: { name: 'failed' }, level: 'error', message: 'The task “build” failed.' };
  await other.ask({ type: 'notify', ...notification, conversation: first });
  await does({ type: 'send_queued', id: idOf('c') });
  // It is a chip of the request that took it to the model.
  await stream.next((message) => has('"carried"')(message) && has('The task “build” failed.')(message));
  await stream.next(has('"two "'));
  // The interrupted answer is released, too.
  for (let answer = 0; answer < 2; answer += 1) world.model.release();
  await world.earshot.settled(first);
  const [request] = (world.earshot.get(first)?.log.state.transcript.items ?? []).filter(
    ({ type }) => type === 'request',
  );
  await does({ type: 'resend', request: request?.id ?? '', text: 'Count again.' });
  await stream.next(has('Count again.'));
  await expect.poll(() => conversationOf(stream)).not.toBe(first);
  expect(JSON.stringify(world.earshot.get(first)?.log.state.transcript.items)).not.toContain('Count again.');
});

test('a turn that failed is retried from the page', async () => {
  const world = await createWebChatWorld({ answers: [{ fails: true }, { text: ['Better.'] }] });
  const stream = await openStream(world, { page: 'page-0001', since: '0', conversation: '' });
  await stream.next(() => true);
  await post(world, 'page-0001', { type: 'send', text: 'Try.' });
  await stream.next(has('"type":"retry_turn"'));
  await post(world, 'page-0001', { type: 'retry_turn' });
  await stream.next(has('Better.'));
});

function conversationOf({ received }: Stream): string {
  const shown = received.findLast((message) => message.type === 'snapshot');
  return (shown?.type === 'snapshot' ? shown.state.conversation : null) ?? '';
}
