// Approvals in the web chat, with the real plugin and its server: the page shows the same reasons and previews as VS Code.
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type TranscriptItem } from '../../../src/protocol/transcript.ts';
import { type ToPage } from '../../../src/protocol/webview.ts';
import { atTestEnd } from '../../support/endings.ts';
import { openStream, type PageStream, post } from '../../support/webchat/pageStream.ts';
import { checkView, oneTaskTool } from '../../support/tools/oneTask.ts';
import { createWebChatWorld } from '../../support/webchat/webChatWorld.ts';

const call = (id: string, name: string, args: Record<string, unknown>) => ({ calls: [{ id, name, arguments: args }] });
const PAGE = 'page-0001';

type Tool = Extract<TranscriptItem, { type: 'tool' }>;

const itemsOf = (message: ToPage): readonly TranscriptItem[] => {
  if (message.type === 'snapshot') return message.state.items;
  return message.type === 'delta' ? message.changes.flatMap((one) => (one.type === 'item' ? [one.item] : [])) : [];
};

/** The last state of a call's card that fits. */
async function card(stream: PageStream, id: string, fits: (tool: Tool) => boolean): Promise<Tool> {
  const cards = () =>
    stream.received.flatMap(itemsOf).filter((item): item is Tool => item.type === 'tool' && item.id === id);
  await expect.poll(() => cards().some(fits), { interval: 5 }).toBe(true);
  return cards().findLast(fits) as Tool;
}

test('a link to a key outside the workspace is read only after a question that says so', async () => {
  const outside = await mkdtemp(join(tmpdir(), 'earshot-outside-'));
  atTestEnd(() => rm(outside, { recursive: true, force: true }));
  await writeFile(join(outside, 'id_rsa'), 'the key');
  const world = await createWebChatWorld({
    answers: [call('r', 'read_file', { path: 'notes.txt' }), { text: ['Done.'] }],
  });
  await symlink(join(outside, 'id_rsa'), join(world.headless.folder, 'notes.txt'));
  const stream = await openStream(world, { page: PAGE, since: '0', conversation: '' });
  await post(world, PAGE, { type: 'send', text: 'Read the notes.' });
  const { approval } = await card(stream, 'r', ({ state }) => state === 'approval');
  expect(approval?.reason).toContain('notes.txt is outside the workspace');
  await post(world, PAGE, { type: 'answer_approval', call: 'r', action: 'reject' });
  await card(stream, 'r', ({ state }) => state === 'rejected');
});

test('the page shows what an overwrite and a deletion remove', async () => {
  const world = await createWebChatWorld({
    answers: [
      call('r', 'read_file', { path: 'menu.txt' }),
      call('w', 'write_file', { path: 'menu.txt', content: 'Coffee.\n' }),
      call('d', 'delete_file', { path: 'menu.txt' }),
      { text: ['Done.'] },
    ],
  });
  const menu = join(world.headless.folder, 'menu.txt');
  await writeFile(menu, 'Tea.\n');
  const stream = await openStream(world, { page: PAGE, since: '0', conversation: '' });
  await post(world, PAGE, { type: 'send', text: 'Rewrite the menu.' });
  const lines = ({ approval }: Tool) =>
    approval?.preview?.files.flatMap(({ hunks }) => hunks.flatMap((one) => one.lines));
  const write = await card(stream, 'w', ({ state }) => state === 'approval');
  expect(lines(write)).toEqual(['-Tea.', '+Coffee.']);
  await post(world, PAGE, { type: 'answer_approval', call: 'w', action: 'approve' });
  const removal = await card(stream, 'd', ({ state }) => state === 'approval');
  expect(lines(removal)).toEqual(['-Coffee.']);
  expect(await readFile(menu, 'utf8')).toBe('Coffee.\n');
  await post(world, PAGE, { type: 'answer_approval', call: 'd', action: 'reject' });
  await card(stream, 'd', ({ state }) => state === 'rejected');
});

test('the page shows what a task would run, with its environment and the tasks before it', async () => {
  const world = await createWebChatWorld({
    answers: [call('t', 'run_task', { name: 'check' }), { text: ['Done.'] }],
    tools: [oneTaskTool()],
  });
  const stream = await openStream(world, { page: PAGE, since: '0', conversation: '' });
  await post(world, PAGE, { type: 'send', text: 'Check it.' });
  const { approval } = await card(stream, 't', ({ state }) => state === 'approval');
  expect(approval?.task).toEqual(checkView);
  await post(world, PAGE, { type: 'answer_approval', call: 't', action: 'reject' });
  await card(stream, 't', ({ state }) => state === 'rejected');
});
