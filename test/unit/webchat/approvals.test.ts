// Approvals in the web chat, with the real plugin and its server: the page shows the same reasons and previews as VS Code.
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { atTestEnd } from '../../support/endings.ts';
import { cardOf, itemsOf, type ToolCard } from '../../support/webchat/pageCards.ts';
import { openStream, post } from '../../support/webchat/pageStream.ts';
import { checkView, oneTaskTool } from '../../support/tools/oneTask.ts';
import { afterTicks } from '../../support/ticks.ts';
import { createWebChatWorld } from '../../support/webchat/webChatWorld.ts';

const call = (id: string, name: string, args: Record<string, unknown>) => ({ calls: [{ id, name, arguments: args }] });
const PAGE = 'page-0001';

test('a link to a key outside the workspace is read only after a question that says so', async () => {
  const outside = await mkdtemp(join(tmpdir(), 'earshot-outside-'));
  atTestEnd(() => rm(outside, { recursive: true, force: true }));
  await writeFile(join(outside, 'id_rsa'), 'the key');
  const world = await createWebChatWorld({
    answers: [call('r', 'read_file', { path: 'notes.txt' }), { text: ['Done.'] }],
  });
  await symlink(join(outside, 'id_rsa'), join(world.headless.folder, 'notes.txt'));
  const stream = await openStream(world, { page: PAGE, since: '0', conversation: '' });
  await post(world, PAGE, { type: 'queue', content: 'Read the notes.' });
  const { approval } = await cardOf(stream, 'r', ({ state }) => state === 'approval');
  expect(approval?.reason).toContain('notes.txt is outside the workspace');
  await post(world, PAGE, { type: 'approve', tool_call_id: 'r', action: 'reject' });
  await cardOf(stream, 'r', ({ state }) => state === 'rejected');
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
  await post(world, PAGE, { type: 'queue', content: 'Rewrite the menu.' });
  const lines = ({ approval }: ToolCard) =>
    approval?.preview?.files.flatMap(({ hunks }) => hunks.flatMap((one) => one.lines));
  const write = await cardOf(stream, 'w', ({ state }) => state === 'approval');
  expect(lines(write)).toEqual(['-Tea.', '+Coffee.']);
  await post(world, PAGE, { type: 'approve', tool_call_id: 'w', action: 'approve' });
  const removal = await cardOf(stream, 'd', ({ state }) => state === 'approval');
  expect(lines(removal)).toEqual(['-Coffee.']);
  expect(await readFile(menu, 'utf8')).toBe('Coffee.\n');
  await post(world, PAGE, { type: 'approve', tool_call_id: 'd', action: 'reject' });
  await cardOf(stream, 'd', ({ state }) => state === 'rejected');
});

test('the page shows what a task would run, with its environment and the tasks before it', async () => {
  const world = await createWebChatWorld({
    answers: [call('t', 'run_task', { name: 'check' }), { text: ['Done.'] }],
    tools: [oneTaskTool()],
  });
  const stream = await openStream(world, { page: PAGE, since: '0', conversation: '' });
  await post(world, PAGE, { type: 'queue', content: 'Check it.' });
  const { approval } = await cardOf(stream, 't', ({ state }) => state === 'approval');
  expect(approval?.task).toEqual(checkView);
  await post(world, PAGE, { type: 'approve', tool_call_id: 't', action: 'reject' });
  await cardOf(stream, 't', ({ state }) => state === 'rejected');
});

test.each([0, 1, 2, 4, 8, 16, 32])(
  'a page that opens a conversation %i ticks after its turn began shows the approval, and only once',
  async (ticks) => {
    const world = await createWebChatWorld({
      answers: [call('r', 'run_command', { command: 'echo one' }), { text: ['Done.'] }],
    });
    const conversation = await world.conversation();
    const stream = await openStream(world, { page: PAGE, since: '0', conversation: '' });
    const turn = world.turn(conversation);
    await afterTicks(ticks);
    await post(world, PAGE, { type: 'open_conversation', id: conversation });
    const { approval } = await cardOf(stream, 'r', ({ state }) => state === 'approval');
    expect(approval).toMatchObject({ always: 'echo one', revision: expect.any(Number) as number });
    await post(world, PAGE, { type: 'approve', tool_call_id: 'r', action: 'approve', revision: approval?.revision });
    await turn;
    const done = await cardOf(stream, 'r', ({ state }) => state === 'done');
    expect(done.output).toContain('one');
  },
);

test('*Always* of the page is stored with its scope, so the next call is not asked', async () => {
  const world = await createWebChatWorld({
    answers: [
      call('one', 'write_file', { path: 'a.txt', content: 'a' }),
      call('two', 'write_file', { path: 'b.txt', content: 'b' }),
      { text: ['Done.'] },
    ],
  });
  const stream = await openStream(world, { page: PAGE, since: '0', conversation: '' });
  await post(world, PAGE, { type: 'queue', content: 'Write both.' });
  const { approval } = await cardOf(stream, 'one', ({ state }) => state === 'approval');
  expect(approval?.always).toBe('write_file');
  const answer = {
    type: 'approve',
    tool_call_id: 'one',
    action: 'approve',
    always: { scope: 'conversation' },
  } as const;
  await post(world, PAGE, { ...answer, revision: approval?.revision });
  await cardOf(stream, 'two', ({ state }) => state === 'done');
  const [conversation] = world.headless.ports.permissions.rules.map((rule) => rule.conversation);
  expect(conversation).toMatch(/^\w{26}$/);
  expect(stream.received.flatMap(itemsOf).some((item) => item.id === 'two' && 'approval' in item)).toBe(false);
});

test('an answer to a card that has changed since is refused on the card, which stays open', async () => {
  const world = await createWebChatWorld({
    answers: [call('d', 'delete_file', { path: 'menu.txt' }), { text: ['Done.'] }],
  });
  await writeFile(join(world.headless.folder, 'menu.txt'), 'Tea.\n');
  const stream = await openStream(world, { page: PAGE, since: '0', conversation: '' });
  await post(world, PAGE, { type: 'queue', content: 'Delete the menu.' });
  const { approval } = await cardOf(stream, 'd', ({ state }) => state === 'approval');
  const [open] = world.frontends.requests.all;
  if (open?.type !== 'approval') throw new Error('not open');
  world.frontends.requests.approvalChanged({ ...open.request, note: 'It has grown.' });
  await post(world, PAGE, { type: 'approve', tool_call_id: 'd', action: 'approve', revision: approval?.revision });
  const refused = await cardOf(stream, 'd', (one) => one.approval?.problem !== undefined);
  expect(refused.approval).toMatchObject({
    note: 'It has grown.',
    problem: expect.stringContaining('has changed since it was shown') as string,
  });
  await post(world, PAGE, { type: 'approve', tool_call_id: 'd', action: 'reject' });
  await cardOf(stream, 'd', ({ state }) => state === 'rejected');
});
