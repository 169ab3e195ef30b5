// WIRE A: subscriptions, since, partial answers.
import * as assert from 'node:assert/strict';
import { type HostMessageOf } from '../../../../src/protocol/plugin.ts';
import { type ConformanceCase, complete, includes, isError, lastSeq, logged, subscribed } from './conformance.ts';

export const streamCases: readonly ConformanceCase[] = [
  {
    title: 'subscribed has the last seq; every later event is sent once with its seq, whichever window wrote it',
    run: async (world) => {
      const { id, plugin } = await subscribed(world);
      const before = lastSeq(world, id);
      assert.equal((plugin.received.at(-1) as HostMessageOf<'subscribed'>).seq, before);
      world.script({ text: ['One.'] });
      const sent = await world.earshot.send(id, 'From the view.');
      assert.ok(sent.ok);
      await logged(plugin, 'turn_ended');
      const events = plugin.received.filter(
        (one): one is HostMessageOf<'event'> => one.type === 'event' && one.seq !== undefined,
      );
      assert.deepEqual(
        events.map(({ seq }) => seq),
        events.map((_, index) => before + 1 + index),
      );
      for (const { sub_id: sub, conversation, seq, data } of events) {
        assert.deepEqual([sub, conversation, data['seq']], ['s', id, seq]);
      }
      includes(
        events.find(({ data }) => data.type === 'chat_request'),
        { data: { content: 'From the view.', source: 'user' } },
      );
    },
  },
  {
    title: 'events filters log events by type; unknown names are allowed; query_complete is always sent',
    run: async (world) => {
      const { id, plugin } = await subscribed(world, {}, { events: ['turn_started', 'tea_time'] });
      world.script({ text: ['One.'] });
      await plugin.ask({ type: 'query', conversation: id, content: 'Hello.' });
      await complete(plugin);
      const types = plugin.received.flatMap((one) => (one.type === 'event' ? [one.data.type] : []));
      assert.deepEqual(types, ['turn_started', 'query_complete']);
    },
  },
  {
    title: 'since replays all later events before live ones; since beyond the end is an error',
    run: async (world) => {
      const { id, plugin } = await subscribed(world);
      world.script({ text: ['One.'] });
      await plugin.ask({ type: 'query', conversation: id, content: 'Hello.' });
      let end = (await logged(plugin, 'turn_ended')).seq ?? 0;
      await complete(plugin);
      for (const since of [0, 1, 3, end]) {
        const sub = `since-${since}`;
        const reply = await plugin.ask({ type: 'subscribe', sub_id: sub, conversation: id, since });
        includes(reply, { type: 'subscribed' });
        // A title may have been added meanwhile.
        end = Number((reply as HostMessageOf<'subscribed'>).seq);
        for (let seq = since + 1; seq <= end; seq += 1) {
          assert.equal((await plugin.event((event) => event.sub_id === sub)).seq, seq);
        }
      }
      const beyond = { type: 'subscribe', sub_id: 'x', conversation: id, since: end + 1000 };
      isError(await plugin.ask(beyond), 'subscribe', /beyond/);
      isError(await plugin.ask({ ...beyond, since: {} }), 'subscribe', /number/);
    },
  },
  {
    title: 'sub_id in use and an unknown conversation are errors; after an error the sub_id is free',
    run: async (world) => {
      const { id, plugin } = await subscribed(world);
      isError(await plugin.ask({ type: 'subscribe', sub_id: 's', conversation: id }), 'subscribe', /in use/);
      const unknown = { type: 'subscribe', sub_id: 't', conversation: '01ARZ3NDEKTSV4RRFFQ69G5FAV' };
      isError(await plugin.ask(unknown), 'subscribe', /no such/);
      includes(await plugin.ask({ ...unknown, conversation: id }), { type: 'subscribed' });
    },
  },
  {
    title: 'unsubscribe is answered, and nothing more is sent for the subscription; an unknown sub_id is an error',
    run: async (world) => {
      const { id, plugin } = await subscribed(world);
      includes(await plugin.ask({ type: 'subscribe', sub_id: 't', conversation: id }), { type: 'subscribed' });
      includes(await plugin.ask({ type: 'unsubscribe', sub_id: 's' }), { type: 'unsubscribed', sub_id: 's' });
      world.script({ text: ['One.'] });
      await plugin.ask({ type: 'query', conversation: id, content: 'Hello.' });
      await complete(plugin);
      assert.ok(!plugin.received.some((one) => one.type === 'event' && one.sub_id === 's'));
      isError(await plugin.ask({ type: 'unsubscribe', sub_id: 's' }), 'unsubscribe', /no subscription/);
    },
  },
  {
    title: '“*” subscribes to all conversations, also new ones; seq and since are then objects by conversation',
    run: async (world) => {
      const id = await world.conversation();
      const plugin = await world.plugin();
      const all = (await plugin.ask({
        type: 'subscribe',
        sub_id: 'all',
        conversation: '*',
      })) as HostMessageOf<'subscribed'>;
      const before = lastSeq(world, id);
      includes(all.seq, { [id]: before });
      world.script({ text: ['One.'] });
      await plugin.ask({ type: 'query', conversation: id, content: 'Hello.' });
      await plugin.event(({ conversation, data }) => conversation === id && data.type === 'query_complete');
      const fresh = await world.conversation();
      includes(await plugin.event(({ conversation }) => conversation === fresh), { seq: 1 });
      isError(await plugin.ask({ type: 'subscribe', sub_id: 'x', conversation: '*', since: 1 }), 'subscribe', /object/);
      isError(
        await plugin.ask({ type: 'subscribe', sub_id: 'x', conversation: '*', since: { [id]: 99 } }),
        'subscribe',
        /beyond/,
      );
      await plugin.ask({ type: 'subscribe', sub_id: 'again', conversation: '*', since: { [id]: before } });
      for (const later of [1, 2, 3, 4])
        includes(await plugin.event((one) => one.sub_id === 'again'), { seq: before + later, conversation: id });
    },
  },
  {
    title: 'an answer streams as pieces without seq; the complete event has the same response',
    run: async (world) => {
      const { id, plugin } = await subscribed(world);
      world.script({ reasoning: ['Hm', 'm.'], text: ['Gre', 'en ', '🍵!'] });
      await plugin.ask({ type: 'query', conversation: id, content: 'Hello.' });
      const whole = await logged(plugin, 'chat_response');
      includes(whole.data, { message: 'Green 🍵!', reasoning: 'Hmm.' });
      const texts = { message: '', reasoning: '' };
      const indexes = new Map<string, number>();
      for (const one of plugin.received) {
        if (one.type !== 'event' || one.partial === undefined) continue;
        assert.equal(one.partial.response, whole.response);
        assert.ok(!('seq' in one));
        const field = 'message' in one.data ? 'message' : 'reasoning';
        assert.equal(one.partial.offset, texts[field].length);
        assert.equal(indexes.get(field) ?? one.partial.index, one.partial.index);
        indexes.set(field, one.partial.index);
        texts[field] += String(one.data[field]);
      }
      assert.deepEqual(texts, { message: 'Green 🍵!', reasoning: 'Hmm.' });
      await complete(plugin);
    },
  },
  {
    title: 'a plugin that subscribes in the middle of an answer gets the text so far as one piece with offset 0',
    run: async (world) => {
      const { id, plugin } = await subscribed(world);
      world.script({ text: ['One, ', 'two, '], hang: true });
      await plugin.ask({ type: 'query', conversation: id, content: 'Hello.' });
      const seen: string[] = [];
      while (seen.join('') !== 'One, two, ') {
        seen.push(String((await plugin.event((one) => one.partial !== undefined)).data['message']));
      }
      await plugin.ask({ type: 'subscribe', sub_id: 'late', conversation: id });
      includes(await plugin.event((one) => one.sub_id === 'late'), {
        partial: { offset: 0 },
        data: { message: 'One, two, ' },
      });
      world.release();
      const isWhole = ({ seq, data }: HostMessageOf<'event'>) => seq !== undefined && data['type'] === 'chat_response';
      const whole = await plugin.event((one) => one.sub_id === 'late' && isWhole(one));
      includes(whole.data, { type: 'chat_response', message: 'One, two, ' });
      await complete(plugin);
    },
  },
  {
    title: 'a filter with chat_response includes its pieces, and one without it excludes them',
    run: async (world) => {
      const { id, plugin } = await subscribed(world, {}, { events: ['chat_response'] });
      await plugin.ask({ type: 'subscribe', sub_id: 'none', conversation: id, events: ['turn_ended'] });
      world.script({ text: ['Green.'] });
      await plugin.ask({ type: 'query', conversation: id, content: 'Hello.' });
      await complete(plugin);
      const pieces = plugin.received.filter((one) => one.type === 'event' && one.partial !== undefined);
      assert.ok(pieces.length > 0 && pieces.every((one) => one.type === 'event' && one.sub_id === 's'));
    },
  },
  {
    title: 'nothing that the plugin receives contains the key of the conversation',
    run: async (world) => {
      const { id, plugin } = await subscribed(world);
      const key = world.earshot.get(id)?.log.state.turn.key ?? '';
      assert.ok(key.length > 10);
      // Both the model, in pieces that split it anywhere, and the user write the key.
      world.script({
        reasoning: [`a ${key.slice(0, 5)}`, key.slice(5)],
        text: [...Array.from(`It is ${key}, ${key}.`), key.slice(0, 6)],
      });
      await plugin.ask({ type: 'query', conversation: id, content: `Say ${key}` });
      await complete(plugin);
      await plugin.ask({ type: 'subscribe', sub_id: 'replay', conversation: id, since: 0 });
      await plugin.event((one) => one.sub_id === 'replay' && one.data.type === 'turn_ended');
      await plugin.ask({ type: 'read_events', conversation: id });
      await plugin.ask({ type: 'list_conversations' });
      assert.ok(plugin.lines.some((line) => line.includes('•••')));
      assert.deepEqual(
        plugin.lines.filter((line) => line.includes(key)),
        [],
      );
      const pieces = plugin.received.flatMap((one) =>
        one.type === 'event' && one.partial !== undefined ? [(one.data['message'] as string | undefined) ?? ''] : [],
      );
      const whole = plugin.received.find(
        (one) => one.type === 'event' && one.seq !== undefined && one.data.type === 'chat_response',
      );
      assert.equal(pieces.join(''), (whole as HostMessageOf<'event'>).data['message']);
    },
  },
];
