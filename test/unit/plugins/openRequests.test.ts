// Open requests that a plugin gets, in whichever order it subscribes and the request is asked; revisions and *Always*.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type ApprovalAnswer } from '../../../src/core/ports/ports.ts';
import { type HostMessage } from '../../../src/protocol/plugin.ts';
import { createManualClock } from '../../support/manualClock.ts';
import { createPluginWorld } from '../../support/plugins/pluginWorld.ts';
import { type RawPlugin } from '../../support/plugins/rawPlugin.ts';
import { afterTicks } from '../../support/ticks.ts';

const run = (id: string) => ({ calls: [{ id, name: 'run_command', arguments: { command: `echo ${id}` } }] });
const respond = { type: 'respond', sub_id: 's', respond: 'tool_approval', tool_call_id: 'a', action: 'approve' };
const isRequest = (message: HostMessage) => message.type === 'event' && message.respond !== undefined;
const isResolved = (message: HostMessage) => message.type === 'event' && message.data.type === 'resolved';
const asked = (plugin: RawPlugin) => plugin.event((event) => event.respond === 'tool_approval');

test.each(['one', '*'])(
  'a request is sent once to a subscription (%s) that is made at any moment of asking',
  async (which) => {
    const world = await createPluginWorld();
    const plugin = await world.attach('tea', { approve: true });
    const { requests } = world.frontends;
    for (let ticks = 0; ticks < 12; ticks += 1) {
      const id = await world.conversation();
      const before = plugin.received.length;
      const sub = `s${ticks}`;
      const subscribed = plugin.ask({ type: 'subscribe', sub_id: sub, conversation: which === '*' ? '*' : id });
      await afterTicks(ticks);
      const call = { id: 'a', name: 'run_command', arguments: { command: 'echo' } };
      const stop = new AbortController();
      const answer: Promise<ApprovalAnswer> = requests.approve({ conversation: id, call }, stop.signal);
      await subscribed;
      await asked(plugin);
      requests.answer({ type: 'approval', conversation: id, id: 'a', answer: { action: 'reject', by: 'user' } });
      await answer;
      await plugin.event(({ data }) => data.type === 'resolved');
      await plugin.ask({ type: 'unsubscribe', sub_id: sub });
      const got = plugin.received.slice(before);
      expect([got.filter(isRequest).length, got.filter(isResolved).length], `after ${ticks} ticks`).toEqual([1, 1]);
      // Nothing comes before the reply, and a new subscription starts after the last event.
      expect(got.findIndex(({ type }) => type === 'subscribed')).toBeLessThan(
        got.findIndex(({ type }) => type === 'event'),
      );
      expect(got.filter((one) => one.type === 'event' && one.seq !== undefined)).toEqual([]);
    }
  },
);

test('a plugin that may answer only later gets the requests that are open then', async () => {
  const clock = createManualClock();
  const world = await createPluginWorld({ answers: [run('a'), { text: ['Done.'] }], clock });
  const id = await world.conversation();
  const plugin = await world.attach('tea', { approve: true });
  const tea = world.programs.get('tea');
  if (tea === undefined) throw new Error('no program');
  world.programs.set('tea', { ...tea, approve: false });
  await plugin.ask({ type: 'subscribe', sub_id: 's', conversation: id });
  const turn = world.turn(id);
  await expect.poll(() => world.frontends.requests.all.length, { interval: 2 }).toBe(1);
  expect(await plugin.ask(respond)).toMatchObject({ type: 'error' });
  expect(plugin.received.filter(isRequest)).toEqual([]);
  world.programs.set('tea', tea);
  clock.advance(5000);
  await asked(plugin);
  expect(await plugin.ask(respond)).toMatchObject({ type: 'done' });
  await turn;
});

test('*Always* of a plugin is stored with the chosen scope; what is not offered is an error', async () => {
  const world = await createPluginWorld({ answers: [run('a'), { text: ['Done.'] }, run('a2'), { text: ['Done.'] }] });
  const id = await world.conversation();
  const plugin = await world.attach('tea', { approve: true });
  await plugin.ask({ type: 'subscribe', sub_id: 's', conversation: id });
  const turn = world.turn(id);
  const { data } = await asked(plugin);
  expect(data['always']).toEqual({ covers: 'echo a', scopes: ['conversation', 'folder'] });
  const server = { scope: 'folder', server: true };
  expect(await plugin.ask({ ...respond, always: server })).toMatchObject({
    message: 'always: this is not offered for the call.',
  });
  expect(await plugin.ask({ ...respond, action: 'reject', always: { scope: 'folder' } })).toMatchObject({
    message: 'always: only with “approve”.',
  });
  expect(await plugin.ask({ ...respond, always: { scope: 'everywhere' } })).toMatchObject({ type: 'error' });
  expect(await plugin.ask({ ...respond, always: { scope: 'conversation' } })).toMatchObject({ type: 'done' });
  await turn;
  expect(world.headless.ports.permissions.rules).toMatchObject([{ label: 'echo a', conversation: id }]);
  expect(await world.headless.events(id)).toContain('"by":"plugin:tea"');
});

test('a revision that is no longer shown cannot be approved; the request is sent again with the current one', async () => {
  const calls = [{ id: 'a', name: 'delete_file', arguments: { path: 'menu.txt' } }];
  const world = await createPluginWorld({ answers: [{ calls }, { text: ['Done.'] }] });
  await writeFile(join(world.headless.folder, 'menu.txt'), 'Tea.\n');
  const id = await world.conversation();
  const plugin = await world.attach('tea', { approve: true });
  await plugin.ask({ type: 'subscribe', sub_id: 's', conversation: id });
  const turn = world.turn(id);
  const first = Number((await asked(plugin)).data['revision']);
  const open = world.frontends.requests.approval(id, 'a');
  if (open === undefined) throw new Error('not open');
  world.frontends.requests.approvalChanged({ ...open.request, reason: 'it was changed' });
  expect(await plugin.ask({ ...respond, revision: first })).toMatchObject({
    type: 'error',
    message: expect.stringContaining('has changed since it was shown') as string,
  });
  const again = await asked(plugin);
  expect(again.data).toMatchObject({ reason: 'it was changed' });
  expect(await plugin.ask({ ...respond, revision: Number(again.data['revision']) })).toMatchObject({ type: 'done' });
  await turn;
});
