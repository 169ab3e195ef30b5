// A plugin that does not read: the turn continues, memory is bounded, pieces are dropped, and the plugin catches up
// with `since`.
import { expect, test } from 'vitest';
import { type HostMessageOf } from '../../../src/protocol/plugin.ts';
import { createPluginWorld } from '../../support/plugins/pluginWorld.ts';

const MIB = 1024 * 1024;

test('with 1 MB of answer for a plugin that does not read, the turn ends, little is buffered, and the whole answer arrives', async () => {
  const text = Array.from({ length: 10_000 }, (_, index) => `piece ${index} ${'x'.repeat(90)}`);
  const world = await createPluginWorld({ answers: [{ text }] });
  const id = await world.conversation();
  const plugin = await world.spawn();
  await plugin.ask({ type: 'subscribe', sub_id: 's', conversation: id });
  plugin.pause();
  await world.turn(id);
  expect(world.host.waitingFor('tea')).toBeLessThan(4 * MIB);
  plugin.resume();
  const whole = await plugin.event(({ seq, data }) => seq !== undefined && data.type === 'chat_response');
  expect(whole.data['message']).toBe(text.join(''));
  const offsets = plugin.received.flatMap((one) => (one.type === 'event' && one.partial !== undefined ? [one] : []));
  // The pieces have no gap up to the first one that was dropped.
  let length = 0;
  for (const one of offsets) {
    expect(one.partial?.offset).toBe(length);
    length += String(one.data['message']).length;
  }
  expect(length).toBeLessThan(text.join('').length);
  await plugin.event(({ data }) => data.type === 'turn_ended');
});

test('beyond 1,000 waiting events the subscription ends with the last seq, and since continues without a gap', async () => {
  const world = await createPluginWorld();
  const id = await world.conversation();
  const plugin = await world.spawn();
  await plugin.ask({ type: 'subscribe', sub_id: 's', conversation: id });
  await plugin.ask({ type: 'subscribe', sub_id: 'all', conversation: '*' });
  const log = world.earshot.get(id)?.log;
  const title = 'x'.repeat(1000);
  // From the first event on, both subscriptions are live.
  await log?.append({ type: 'title_set', title });
  for (const sub of ['s', 'all']) await plugin.event((one) => one.sub_id === sub);
  await log?.append({ type: 'title_set', title });
  for (const sub of ['s', 'all']) await plugin.event((one) => one.sub_id === sub);
  plugin.pause();
  for (let group = 0; group < 25; group += 1) {
    await Promise.all(Array.from({ length: 100 }, async () => log?.append({ type: 'title_set', title })));
  }
  expect(world.host.waitingFor('tea')).toBeLessThan(16 * MIB);
  plugin.resume();
  const last = log?.state.turn.lastSeq ?? 0;
  for (const sub of ['s', 'all']) {
    const error = await plugin.next((one) => one.type === 'error' && one.sub_id === sub);
    const { seq } = error as HostMessageOf<'error'>;
    const reached = typeof seq === 'object' ? (seq[id] ?? 0) : (seq ?? 0);
    expect(reached).toBeGreaterThan(1000);
    expect(reached).toBeLessThan(last);
    await plugin.ask({ type: 'subscribe', sub_id: sub, conversation: sub === 's' ? id : '*', since: seq });
    await plugin.event((one) => one.sub_id === sub && one.seq === last);
    const seqs = plugin.received.flatMap((one) => (one.type === 'event' && one.sub_id === sub ? (one.seq ?? []) : []));
    expect(seqs).toEqual(Array.from({ length: last - 1 }, (_, index) => index + 2));
  }
  expect(world.errors).toEqual([]);
});

test('at most 16 MiB of events are buffered for a plugin, for any number of subscriptions and any length of events', async () => {
  const world = await createPluginWorld();
  const id = await world.conversation();
  const plugin = await world.attach();
  const subs = Array.from({ length: 10 }, (_, index) => `s${index}`);
  for (const sub of subs) await plugin.ask({ type: 'subscribe', sub_id: sub, conversation: id });
  plugin.pause();
  const append = (length: number) =>
    world.earshot.get(id)?.log.append({ type: 'title_set', title: 'x'.repeat(length) });
  // Three events of 1 MiB for ten subscriptions.
  for (let event = 0; event < 3; event += 1) await append(MIB);
  expect(world.attached.waitingFor('tea')).toBeLessThan(16 * MIB + 10_000);
  plugin.resume();
  const ended = () => plugin.received.filter((one) => one.type === 'error').length;
  await expect.poll(ended, { interval: 5 }).toBe(subs.length);
  // An event that is longer than this limit still arrives.
  await plugin.ask({ type: 'subscribe', sub_id: 'again', conversation: id });
  await append(17 * MIB);
  expect((await plugin.event((one) => one.sub_id === 'again')).data['title']).toHaveLength(17 * MIB);
});

test('a plugin that reads no replies gets no more of them, and can still exit', async () => {
  const world = await createPluginWorld();
  const id = await world.conversation();
  await world.earshot.get(id)?.log.append({ type: 'title_set', title: 'x'.repeat(4 * MIB) });
  const plugin = await world.attach();
  plugin.pause();
  for (let request = 0; request < 100; request += 1) plugin.send({ type: 'read_events', conversation: id });
  await expect.poll(() => world.attached.waitingFor('tea'), { interval: 5 }).toBeGreaterThan(16 * MIB);
  plugin.send({ type: 'print', text: 'The last words.' });
  expect(world.output).not.toContain('tea: The last words.');
  expect(world.attached.waitingFor('tea')).toBeLessThan(30 * MIB);
  plugin.destroy();
  await expect.poll(() => world.attached.statuses, { interval: 5 }).toEqual([]);
});

test('a long replay waits for a slow reader instead of filling memory', async () => {
  const world = await createPluginWorld();
  const id = await world.conversation();
  const log = world.earshot.get(id)?.log;
  const title = 'x'.repeat(10_000);
  await Promise.all(Array.from({ length: 3000 }, async () => log?.append({ type: 'title_set', title })));
  const plugin = await world.spawn();
  plugin.pause();
  plugin.send({ type: 'subscribe', sub_id: 's', conversation: id, since: 0 });
  await expect.poll(() => world.host.waitingFor('tea'), { interval: 5 }).toBeGreaterThan(100_000);
  expect(world.host.waitingFor('tea')).toBeLessThan(2 * MIB);
  plugin.resume();
  await plugin.event(({ seq }) => seq === 3001);
});
