// The stream of a page of the web chat, with the real plugin: what a page gets first, what it gets after a reconnect,
// and drafts.
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStream, type PageStream, post } from '../../support/webchat/pageStream.ts';
import { createWebChatWorld } from '../../support/webchat/webChatWorld.ts';
import { EVENT_VERSION } from '../../../src/protocol/event.ts';
import { type FromPage, type ToPage } from '../../../src/protocol/webview.ts';

const has = (text: string) => (message: ToPage) => JSON.stringify(message).includes(text);
const numbers = (stream: PageStream) =>
  stream.received.flatMap((message) => ('number' in message ? [message.number] : []));

test('a page gets a snapshot and numbered deltas, can dismiss pending notifications, and after a reconnect gets exactly what it missed', async () => {
  const world = await createWebChatWorld({ answers: [{ text: ['one '], hang: true }, { text: ['Bye.'] }] });
  const first = await openStream(world, { page: 'page-0001', since: '0', conversation: '' });
  expect(await first.next(() => true)).toMatchObject({ type: 'snapshot', state: { conversation: null, items: [] } });
  await post(world, 'page-0001', { type: 'queue', content: 'Count.' });
  await first.next(has('"one "'));
  const other = await world.attach('builder', {});
  const notification = { kind: { name: 'failed' }, level: 'error', message: 'The task “build” failed.' };
  await other.ask({ type: 'notify', ...notification, conversation: conversationOf(first) });
  await first.next(has('The task “build” failed.'));
  const [queued] = world.earshot.get(conversationOf(first))?.log.state.pending.notifications ?? [];
  await post(world, 'page-0001', { type: 'dismiss', notification_ids: [queued?.id ?? ''] });
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
  // For a number that was never sent, the stream starts again with a snapshot.
  const anew = await openStream(world, { page: 'page-0001', since: '9999', conversation: '' });
  expect(await anew.next(() => true)).toMatchObject({ type: 'snapshot' });
});

test('a reload continues with the conversation and the unsent text; a copy of the tab shows the same without affecting the first', async () => {
  const world = await createWebChatWorld({ answers: [{ text: ['Hello.'] }] });
  const first = await openStream(world, { page: 'page-0001', since: '0', conversation: '' });
  await first.next(() => true);
  await post(world, 'page-0001', { type: 'queue', content: 'Hi.' });
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
  // A conversation that does not exist, and an answer that comes too late.
  const lost = await openStream(world, { page: 'page-0004', since: '0', conversation: 'nothing' });
  await lost.next(has('"level":"warning"'));
  await post(world, 'page-0004', { type: 'open_conversation', id: conversation });
  await post(world, 'page-0004', { type: 'approve', tool_call_id: 'gone', action: 'approve' });
  await lost.next(has('This request was already answered.'));
});

test('the output of a running command is shown while it runs, also to a page that connects later', async () => {
  const command = 'echo water boils; cat pipe';
  const world = await createWebChatWorld({
    settings: { 'approvals.mode': 'all' },
    answers: [{ calls: [{ id: 'c1', name: 'run_command', arguments: { command } }] }, { text: ['Done.'] }],
  });
  execFileSync('mkfifo', [join(world.headless.folder, 'pipe')]);
  const first = await openStream(world, { page: 'page-0001', since: '0', conversation: '' });
  expect(await first.next(() => true)).toMatchObject({ state: { folder: 'tea-shop' } });
  await post(world, 'page-0001', { type: 'queue', content: 'Boil.' });
  await first.next(has('"field":"output","text":"water boils\\n"'));
  const conversation = conversationOf(first);
  const later = await openStream(world, { page: 'page-0002', since: '0', conversation });
  expect(await later.next(has('water boils\\n'))).toMatchObject({ type: 'snapshot' });
  await writeFile(join(world.headless.folder, 'pipe'), 'tea\n');
  await first.next(has('Done.'));
  await later.next(has('Done.'));
  // The complete result replaces it.
  const whole = await openStream(world, { page: 'page-0003', since: '0', conversation });
  const shown = JSON.stringify(await whole.next(has('Done.')));
  expect(shown.split('water boils').length - 1).toBe(2);
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
  await does({ type: 'queue', content: 'Count.' });
  await stream.next(has('"one "'));
  const first = conversationOf(stream);
  const queued = () => world.earshot.get(first)?.log.state.pending.queuedMessages ?? [];
  const idOf = (text: string) => queued().find(({ content }) => content === text)?.id ?? '';
  for (const text of ['a', 'b', 'c']) await does({ type: 'queue', content: text });
  await stream.next(has('"text":"c"'));
  await does({ type: 'raise_queued', queued_id: idOf('b') });
  await expect.poll(() => queued().map(({ content }) => content)).toEqual(['b', 'a', 'c']);
  await does({ type: 'withdraw_queued', queued_id: idOf('a') });
  expect(await stream.next(({ type }) => type === 'restore_draft')).toMatchObject({ text: 'a' });
  expect(queued().map(({ content }) => content)).toEqual(['b', 'c']);
  await does({ type: 'withdraw_queued', queued_id: 'gone' });
  await stream.next(has('"level":"warning"'));
  const other = await world.attach('builder', {});
  const notification = { kind: { name: 'failed' }, level: 'error', message: 'The task “build” failed.' };
  await other.ask({ type: 'notify', ...notification, conversation: first });
  await does({ type: 'send_queued', queued_id: idOf('c') });
  // It is shown as a chip on the request that delivered it to the model.
  await stream.next((message) => has('"carried"')(message) && has('The task “build” failed.')(message));
  await stream.next(has('"two "'));
  // Releases the interrupted answer, too.
  for (let answer = 0; answer < 2; answer += 1) world.model.release();
  await world.earshot.settled(first);
  const [request] = (world.earshot.get(first)?.log.state.transcript.items ?? []).filter(
    ({ type }) => type === 'request',
  );
  await does({ type: 'resend', instead_of: request?.id ?? '', content: 'Count again.' });
  await stream.next(has('Count again.'));
  await expect.poll(() => conversationOf(stream)).not.toBe(first);
  expect(JSON.stringify(world.earshot.get(first)?.log.state.transcript.items)).not.toContain('Count again.');
});

test('a turn that failed is retried from the page', async () => {
  const world = await createWebChatWorld({ answers: [{ fails: true }, { text: ['Better.'] }] });
  const stream = await openStream(world, { page: 'page-0001', since: '0', conversation: '' });
  await stream.next(() => true);
  await post(world, 'page-0001', { type: 'queue', content: 'Try.' });
  await stream.next(has('"type":"retry"'));
  await post(world, 'page-0001', { type: 'retry' });
  await stream.next(has('Better.'));
});

/** The smallest PNG. */
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

test('a message is sent with an image and a file of the @ picker, which return to the composer if it is refused', async () => {
  const world = await createWebChatWorld({ answers: [{ text: ['Tea, I think.'] }] });
  await mkdir(join(world.headless.folder, 'src'), { recursive: true });
  await writeFile(join(world.headless.folder, 'src/menu.ts'), 'export const tea = 1;\n');
  const stream = await openStream(world, { page: 'page-0001', since: '0', conversation: '' });
  const does = (message: FromPage) => post(world, 'page-0001', message);
  await stream.next(() => true);
  const preview = `data:image/png;base64,${PIXEL}`;
  await does({ type: 'attach', name: 'tea.png', media_type: 'image/png', data: PIXEL, preview });
  await stream.next(has(preview));
  await does({ type: 'attach', name: 'x.svg', media_type: 'image/svg+xml', data: PIXEL });
  await stream.next(has('models take PNG'));
  await does({ type: 'complete', trigger: '@', query: 'menu' });
  const listed = await stream.next(({ type }) => type === 'completions');
  expect(listed).toMatchObject({ items: [{ source: 'files', id: 'src/menu.ts', mention: 'src/menu.ts' }] });
  await does({ type: 'choose_completion', source: 'files', id: 'src/menu.ts' });
  await does({ type: 'choose_completion', source: 'files', id: 'src/gone.ts' });
  await stream.next(has('src/gone.ts'));
  await does({ type: 'queue', content: 'What is this?' });
  // The message is refused as a whole, and nothing of it is lost.
  expect(await stream.next(({ type }) => type === 'restore_draft')).toMatchObject({ text: 'What is this?' });
  await does({ type: 'detach', id: 'src/gone.ts' });
  await does({ type: 'queue', content: 'What is this?' });
  await stream.next(has('Tea, I think.'));
  const [request] = (world.earshot.get(conversationOf(stream))?.log.state.transcript.items ?? []).filter(
    ({ type }) => type === 'request',
  );
  expect(JSON.stringify(request)).toContain('tea.png');
  expect(JSON.stringify(request)).toContain('src/menu.ts');
});

test('model and mode are chosen on the page, which shows the model that answers', async () => {
  const world = await createWebChatWorld();
  const stream = await openStream(world, { page: 'page-0001', since: '0', conversation: '' });
  const does = (message: FromPage) => post(world, 'page-0001', message);
  await stream.next(has('"model":{"label":"one"'));
  await does({ type: 'list_models', all: true });
  await stream.next(has('"models":[{"id":"one","label":"one","detail":"test","current":true}'));
  await does({ type: 'choose', model: 'two' });
  await stream.next(has('"model":{"label":"two"'));
  await does({ type: 'choose', mode: 'plan' });
  await stream.next(has('"mode":"plan"'));
  await does({ type: 'choose', approvals: 'ask' });
  await stream.next(has('"approvals":"ask"'));
  expect(world.chosen).toEqual({ model: 'two', settings: { mode: 'plan', 'approvals.mode': 'ask' } });
  // The model is changed in VS Code meanwhile; a page opened later shows it.
  world.chosen.model = 'one';
  const other = await openStream(world, { page: 'page-0002', since: '0', conversation: '' });
  await other.next(has('"model":{"label":"one"'));
});

test('conversations are renamed, forked and deleted; a background command is listed, asked about and stopped', async () => {
  const background = { command: 'echo boiling; sleep 600', background: true, handle: 'kettle' };
  const world = await createWebChatWorld({
    settings: { 'approvals.mode': 'all' },
    answers: [
      { calls: [{ id: 'c1', name: 'run_command', arguments: background }] },
      { text: ['It boils.'] },
      { text: ['I see it.'] },
    ],
  });
  const stream = await openStream(world, { page: 'page-0001', since: '0', conversation: '' });
  const does = (message: FromPage) => post(world, 'page-0001', message);
  await stream.next(() => true);
  await does({ type: 'queue', content: 'Boil water.' });
  await stream.next(has('It boils.'));
  const first = conversationOf(stream);
  await stream.next((message) => has('"name":"kettle"')(message) && has('boiling')(message));
  await does({ type: 'queue', content: 'Look at the kettle.', attachments: [] });
  await stream.next(has('Look at the kettle.'));
  await stream.next(has('I see it.'));
  await world.earshot.settled(first);
  await does({ type: 'stop_command', tool_call_id: 'c1' });
  await stream.next((message) => has('"name":"kettle"')(message) && !has('"state":"running"')(message));
  await does({ type: 'hide_handle', call: 'c1' });
  await stream.next(has('"handles":[]'));
  await does({ type: 'read_context' });
  expect(await stream.next(({ type }) => type === 'context')).toMatchObject({ context: { window: 100_000 } });

  await does({ type: 'rename', conversation: first, title: 'Green tea' });
  await stream.next(has('"title":"Green tea"'));
  await does({ type: 'fork', conversation: first });
  await expect.poll(() => conversationOf(stream)).not.toBe(first);
  const fork = conversationOf(stream);
  await does({ type: 'delete', conversation: fork });
  await expect.poll(() => conversationOf(stream)).toBe('');
  await does({ type: 'list_conversations', query: 'green' });
  const listed = await stream.next((message) => message.type === 'conversations' && message.query === 'green');
  expect(listed).toMatchObject({ items: [{ id: first, title: 'Green tea' }] });
  // If the conversation is in use by a turn, or gone, the page says why.
  await does({ type: 'delete', conversation: fork });
  await stream.next(has('"level":"warning"'));
});

test('subagents are listed below the conversation that started them', async () => {
  const world = await createWebChatWorld({});
  const [parent, other] = [await world.conversation(), await world.conversation()];
  const { store, ids } = world.headless.ports;
  const child = ids.ulid();
  const opening = { v: EVENT_VERSION, seq: 1, event_id: ids.ulid(), timestamp: new Date().toISOString() } as const;
  const subagent = { parent, name: 'tests', depth: 1 };
  const started = { ...opening, type: 'conversation_started', key: ids.key(), subagent } as const;
  expect(await store.create(child, [started])).toMatchObject({ ok: true });
  const stream = await openStream(world, { page: 'page-0001', since: '0', conversation: '' });
  await post(world, 'page-0001', { type: 'list_conversations', query: '' });
  const listed = await stream.next(({ type }) => type === 'conversations');
  const items = listed.type === 'conversations' ? listed.items : [];
  expect(items.map(({ id }) => id).sort()).toEqual([parent, other, child].sort());
  const index = items.findIndex(({ id }) => id === child);
  expect(items[index]).toMatchObject({ subagent: { name: 'tests', nested: true } });
  expect(items[index - 1]?.id).toBe(parent);
});

function conversationOf({ received }: PageStream): string {
  const shown = received.findLast((message) => message.type === 'snapshot');
  return (shown?.type === 'snapshot' ? shown.state.conversation : null) ?? '';
}
