// The host of a chat page over the local client, with a scripted endpoint.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Frontends } from '../../src/core/frontend/frontends.ts';
import { realClock } from '../../src/node/realClock.ts';
import { realIds } from '../../src/node/realIds.ts';
import { defineTool } from '../../src/tools/defineTool.ts';
import { type ScriptedAnswer } from '../support/models/scriptedServer.ts';
import { recordingLogger } from '../support/recordingLogger.ts';
import { openPage } from '../support/walk/walkedPage.ts';
import { beginWalk } from '../support/walk/walking.ts';

async function begin(...answers: ScriptedAnswer[]) {
  const frontends = new Frontends({ clock: realClock, logger: recordingLogger([]) });
  const walk = await beginWalk(answers, { ports: { frontend: frontends } });
  return { ...walk, ...openPage(walk.headless, frontends), requests: frontends.requests };
}

test('an answer that grows while another conversation is shown is complete, and only once, when it is shown again', async () => {
  const { page, id, headless, state, until, items, server } = await begin({ text: ['One ', 'two'], hang: true });
  const other = await headless.earshot.create();
  if (!other.ok) throw new Error(other.failure.message);
  await page.open(id);
  await page.send('Count.');
  await until('One');
  await page.open(other.value.log.id);
  expect(items()).toEqual([]);
  expect(state().head?.conversation).toBe(other.value.log.id);
  await page.open(id);
  await until('two');
  const answers = items().filter(({ type }) => type === 'answer');
  expect(answers).toMatchObject([{ streaming: true }]);
  server.release();
  await headless.earshot.settled(id);
  await until(({ running }) => running === false);
  await page.open(other.value.log.id);
  await page.open(id);
  expect(items().filter(({ type }) => type === 'answer')).toMatchObject([{ text: 'One two', streaming: false }]);
});

test('output of a call that grows while another conversation is shown is complete when it is shown again', async () => {
  const { promise: shownAgain, resolve } = Promise.withResolvers<void>();
  const { promise: begun, resolve: start } = Promise.withResolvers<void>();
  const { promise: hidden, resolve: hide } = Promise.withResolvers<void>();
  const { promise: grown, resolve: grow } = Promise.withResolvers<void>();
  const stir = defineTool({
    name: 'stir',
    description: 'Stirs.',
    effect: 'read',
    arguments: {},
    run: async (_, { progress }) => {
      await begun;
      progress('one ');
      await hidden;
      progress('two');
      grow();
      await shownAgain;
      return { content: 'Stirred.', isError: false };
    },
  });
  const call = { calls: [{ id: 's', name: 'stir', arguments: {} }] };
  const { page, id, headless, until, items } = await begin(call, { text: ['Done.'] });
  const registered = headless.earshot.tools.register([stir]);
  const other = await headless.earshot.create();
  if (!other.ok) throw new Error(other.failure.message);
  await page.open(id);
  await page.send('Stir.');
  await until('stir');
  start();
  await until('one ');
  await page.open(other.value.log.id);
  hide();
  await grown;
  await page.open(id);
  await until('one two');
  expect(items().filter(({ type }) => type === 'tool')).toMatchObject([{ id: 's', output: 'one two' }]);
  resolve();
  await headless.earshot.settled(id);
  registered.dispose();
});

test('two quick messages in a new chat start one conversation, which takes over the draft', async () => {
  const { page, state, headless } = await begin({ text: ['One.'], hang: true }, { text: ['Two.'] });
  await page.handle({ type: 'draft', conversation: null, text: 'half' });
  await Promise.all([
    page.handle({ type: 'queue', content: 'First.' }),
    page.handle({ type: 'queue', content: 'Second.' }),
  ]);
  const { shown = '' } = page;
  expect(state().head?.conversation).toBe(shown);
  const written = await headless.events(shown);
  expect(['First.', 'Second.'].map((text) => written.includes(text))).toEqual([true, true]);
  await page.newChat();
  expect(state().head?.draft).toBe('');
  await page.open(shown);
  expect(state().head?.draft).toBe('half');
});

test('a message that is refused returns to the composer with its attachments, and the page says why', async () => {
  const { page, state, posted, until, headless } = await begin({ text: ['I see.'] });
  await page.handle({ type: 'attach', name: 'tea.png', media_type: 'image/png', data: 'iVBORw0KGgo=' });
  await until(({ attachments = [] }) => attachments.length === 1);
  await writeFile(join(headless.folder, 'tea.bin'), new Uint8Array([0, 1, 2, 255]));
  await page.handle({ type: 'queue', content: 'Look.', attachments: [{ type: 'file', path: 'tea.bin' }] });
  expect(posted).toContainEqual({ type: 'restore_draft', text: 'Look.' });
  await until('tea.bin is not a text file');
  // Its own attachments were given, so those in the composer stay.
  expect(state().head?.attachments).toMatchObject([{ name: 'tea.png' }]);
  await page.handle({ type: 'queue', content: 'Look.' });
  await until('I see.');
  await until(({ attachments = [] }) => attachments.length === 0);
});

test('an approval of a call that has changed since is refused on its card; another answer counts', async () => {
  const call = { id: 'd', name: 'delete_file', arguments: { path: 'menu.txt' } };
  const { page, headless, until, items, requests } = await begin({ calls: [call] }, { text: ['Done.'] });
  await writeFile(join(headless.folder, 'menu.txt'), 'Tea.\n');
  await page.send('Delete it.');
  await until('"state":"approval"');
  const [open] = requests.all;
  if (open?.type !== 'approval') throw new Error('not open');
  requests.approvalChanged({ ...open.request, note: 'It has grown.' });
  const approve = { type: 'approve', tool_call_id: 'd', action: 'approve' } as const;
  await page.handle({ ...approve, revision: open.revision });
  await until('has changed since it was shown');
  expect(items().find(({ id }) => id === 'd')).toMatchObject({
    state: 'approval',
    approval: { note: 'It has grown.' },
  });
  await page.handle({ ...approve, action: 'reject' });
  await until('"state":"rejected"');
  await page.handle({ ...approve, action: 'reject' });
  await until('This request was already answered.');
});

test('messages that no turn delivers return to the composer of their conversation only', async () => {
  const { page, id, headless, until, posted, state } = await begin({ text: ['One '], hang: true });
  await page.open(id);
  await page.send('Count.');
  await until('One');
  await page.send('And on.');
  await page.newChat();
  await headless.earshot.stop(id);
  expect(posted.some(({ type }) => type === 'restore_draft')).toBe(false);
  await page.open(id);
  await expect.poll(() => state().returned.map(({ text }) => text)).toEqual(['And on.']);
  expect(headless.earshot.get(id)?.log.state.pending.queuedMessages).toEqual([]);
});

test('a conversation that is deleted while it is shown gives way to a new chat', async () => {
  const { page, id, state, until, items } = await begin({ text: ['Hello.'] });
  await page.open(id);
  await page.send('Hi.');
  await until('Hello.');
  await until(({ running }) => running === false);
  await page.handle({ type: 'list_conversations', query: '' });
  await page.handle({ type: 'delete', conversation: id });
  await until(({ conversation }) => conversation === null);
  expect(items()).toEqual([]);
  expect(state().conversations?.items).toEqual([]);
  expect(page.shown).toBeUndefined();
});

test('a conversation that does not exist is not shown, and the page says so', async () => {
  const { page, until, state } = await begin();
  expect(await page.open(realIds.ulid())).toBe(false);
  await until('no such conversation');
  expect(state().head).toMatchObject({ conversation: null });
});
