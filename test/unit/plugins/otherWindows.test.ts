// Plugins and other windows of the same folder: events of those arrive live, and queries take over idle conversations.
import { expect, test } from 'vitest';
import { createManualClock } from '../../support/manualClock.ts';
import { answerApprovals } from '../../support/answerApprovals.ts';
import { createPluginWorld } from '../../support/plugins/pluginWorld.ts';

test('events that another window writes reach subscribers, by name and by “*”, in order', async () => {
  const world = await createPluginWorld({ answers: [{ text: ['One.'] }, { text: ['Two.'] }] });
  const second = await world.second();
  const created = await second.earshot.create();
  if (!created.ok) throw new Error(created.failure.message);
  const { id } = created.value.log;
  const plugin = await world.attach();
  await plugin.ask({ type: 'subscribe', sub_id: 'named', conversation: id });
  await plugin.ask({ type: 'subscribe', sub_id: 'all', conversation: '*' });
  await second.earshot.send(id, 'Written there.');
  await second.earshot.settled(id);
  for (const sub of ['named', 'all']) {
    const { seq: last } = await plugin.event((one) => one.sub_id === sub && one.data.type === 'turn_ended');
    const seqs = plugin.received.flatMap((one) => (one.type === 'event' && one.sub_id === sub ? (one.seq ?? []) : []));
    expect(seqs).toEqual(Array.from({ length: (last ?? 0) - 1 }, (_, index) => index + 2));
  }
  // A conversation that is created there later.
  const later = await second.earshot.create();
  if (!later.ok) throw new Error(later.failure.message);
  expect(await plugin.event(({ conversation }) => conversation === later.value.log.id)).toMatchObject({
    sub_id: 'all',
    seq: 1,
  });
  expect(world.errors).toEqual([]);
});

test('a query on an idle conversation of another window moves it here; during a turn or typing there it is refused', async () => {
  const world = await createPluginWorld({ answers: [{ text: ['Busy'], hang: true }, { text: ['Here.'] }] });
  const second = await world.second();
  const created = await second.earshot.create();
  if (!created.ok) throw new Error(created.failure.message);
  const { id } = created.value.log;
  const plugin = await world.attach();
  await plugin.ask({ type: 'subscribe', sub_id: 's', conversation: id });
  await second.earshot.send(id, 'Busy?');
  await plugin.event(({ data }) => data.type === 'chat_request');
  const busy = { type: 'error', message: 'another window is working on this conversation' };
  expect(await plugin.ask({ type: 'query', conversation: id, content: 'Mine.' })).toMatchObject(busy);
  expect(await plugin.ask({ type: 'interrupt', conversation: id, action: 'stop' })).toMatchObject(busy);
  expect(await plugin.ask({ type: 'read_events', conversation: id })).toMatchObject({ lock: 'elsewhere' });
  world.model.release();
  await plugin.event(({ data }) => data.type === 'turn_ended');
  second.views.show(id);
  second.views.typed();
  await second.views.isShown(id);
  expect(await plugin.ask({ type: 'query', conversation: id, content: 'Mine.' })).toMatchObject(busy);
  second.views.show(undefined);
  await expect.poll(() => world.views.isTypedElsewhere(id)).toBe(false);
  expect(await plugin.ask({ type: 'query', conversation: id, content: 'Mine.' })).toMatchObject({
    type: 'query_started',
  });
  expect((await plugin.event(({ data }) => data.type === 'query_complete')).data).toMatchObject({ outcome: 'done' });
  expect(world.earshot.get(id)?.owned).toBe(true);
  const seqs = plugin.received.flatMap((one) => (one.type === 'event' ? (one.seq ?? []) : []));
  expect(seqs).toEqual(seqs.map((_, index) => index + 2));
});

test('a query whose turn another window takes over completes when the turn ends there', async () => {
  const calls = [{ id: 'a', name: 'run_command', arguments: { command: 'echo one' } }];
  const world = await createPluginWorld({ answers: [{ calls }, { text: ['There.'] }] });
  const second = await world.second();
  const id = await world.conversation();
  const plugin = await world.attach();
  await plugin.ask({ type: 'subscribe', sub_id: 's', conversation: id });
  await plugin.ask({ type: 'query', conversation: id, content: 'Go.' });
  await plugin.event(({ data }) => data.type === 'tool_call_request');
  answerApprovals(second.frontends.requests, () => 'approve');
  await second.earshot.open(id);
  await second.earshot.continueHere(id);
  expect((await plugin.event(({ data }) => data.type === 'query_complete')).data).toMatchObject({ outcome: 'done' });
  const seqs = plugin.received.flatMap((one) => (one.type === 'event' ? (one.seq ?? []) : []));
  expect(seqs).toEqual(seqs.map((_, index) => index + 2));
});

test('a conversation that a plugin’s query opened is closed when nobody needs it any more', async () => {
  const clock = createManualClock();
  const world = await createPluginWorld({ answers: [{ text: ['One.'] }], clock });
  const id = await world.conversation();
  await world.earshot.close(id);
  const plugin = await world.attach();
  await plugin.ask({ type: 'subscribe', sub_id: 's', conversation: id });
  await plugin.ask({ type: 'query', conversation: id, content: 'Go.' });
  await plugin.event(({ data }) => data.type === 'query_complete');
  expect(world.earshot.get(id)?.owned).toBe(true);
  await plugin.ask({ type: 'unsubscribe', sub_id: 's' });
  const closed = () => {
    clock.advance(1000);
    return world.earshot.get(id);
  };
  await expect.poll(closed, { interval: 5 }).toBeUndefined();
});

test('a feed has each event once, while its source changes from this window’s log to the file and back', async () => {
  const world = await createPluginWorld();
  const id = await world.conversation();
  const used = await world.shared.feeds.use(id);
  if (!used.ok) throw new Error(used.failure.message);
  world.hold(used.value);
  const { feed } = used.value;
  const seqs: number[] = [];
  world.hold(feed.onEvent(({ seq }) => seqs.push(seq)));
  const appendHere = () => world.earshot.get(id)?.log.append({ type: 'title_set', title: 'Here' });
  await appendHere();
  await world.earshot.close(id);
  expect(await world.shared.ports.library.rename(id, 'Not live')).toMatchObject({ ok: true });
  await expect.poll(() => feed.lastSeq, { interval: 5 }).toBe(3);
  await world.earshot.open(id);
  await appendHere();
  await expect.poll(() => feed.lastSeq, { interval: 5 }).toBe(4);
  expect(seqs).toEqual([2, 3, 4]);
});

test('a deleted conversation ends its subscription with an error; a subscription to all continues', async () => {
  const world = await createPluginWorld();
  const id = await world.conversation();
  const plugin = await world.attach();
  await plugin.ask({ type: 'subscribe', sub_id: 's', conversation: id });
  await plugin.ask({ type: 'subscribe', sub_id: 'all', conversation: '*' });
  expect(await world.shared.ports.library.remove(id)).toMatchObject({ ok: true });
  expect(await plugin.next('error')).toMatchObject({ request: 'subscribe', sub_id: 's' });
  const fresh = await world.conversation();
  expect(await plugin.event(({ conversation }) => conversation === fresh)).toMatchObject({ sub_id: 'all' });
  expect(await plugin.ask({ type: 'unsubscribe', sub_id: 's' })).toMatchObject({ type: 'error' });
});

test('a window that closes releases the conversation of a query that is still running', async () => {
  const world = await createPluginWorld({ answers: [{ text: ['Slow'], hang: true }] });
  const id = await world.conversation();
  const plugin = await world.attach();
  await plugin.ask({ type: 'subscribe', sub_id: 's', conversation: id });
  await plugin.ask({ type: 'query', conversation: id, content: 'Go on.' });
  // What the turn holds is released: the leak check of every test would find it.
  world.shared.clients.dispose();
  expect(world.earshot.get(id)?.running).toBe(true);
});
