// WIRE A: query, interrupt, cancel_query, deliver_now, dismiss and notify.
import * as assert from 'node:assert/strict';
import { type HostMessageOf } from '../../../../src/protocol/plugin.ts';
import {
  command,
  complete,
  type ConformanceCase,
  includes,
  interactive,
  isError,
  logged,
  subscribed,
} from './conformance.ts';

const schema = { type: 'object', properties: { summary: { type: 'string' } }, required: ['summary'] };

export const queryCases: readonly ConformanceCase[] = [
  {
    title:
      'query starts a turn: query_started names its turn_started, query_complete comes last, to each subscription of the plugin',
    run: async (world) => {
      const { id, plugin } = await subscribed(world);
      await plugin.ask({ type: 'subscribe', sub_id: 't', conversation: id, events: [] });
      await plugin.ask({ type: 'subscribe', sub_id: 'all', conversation: '*', events: [] });
      const other = await world.plugin();
      await other.ask({ type: 'subscribe', sub_id: 'o', conversation: id });
      world.script({ text: ['Green.'] });
      const started = (await plugin.ask({
        type: 'query',
        conversation: id,
        content: 'Which tea?',
      })) as HostMessageOf<'query_started'>;
      includes(started, { type: 'query_started', conversation: id });
      const first = await logged(plugin, 'turn_started');
      assert.equal(first.data['event_id'], started.turn);
      for (const sub of ['s', 't', 'all']) {
        const { data } = await plugin.event((one) => one.sub_id === sub && one.data.type === 'query_complete');
        assert.deepEqual(data, { type: 'query_complete', turn: started.turn, outcome: 'done' });
      }
      // A checkpoint is taken in the background and may be ready later.
      const last = plugin.received.findLast(
        (one) => one.type === 'event' && one.sub_id === 's' && one.data.type !== 'checkpoint_taken',
      );
      assert.equal(last?.type === 'event' && last.data.type, 'query_complete');
      await logged(other, 'turn_ended');
      assert.ok(!other.received.some((one) => one.type === 'event' && one.data.type === 'query_complete'));
    },
  },
  {
    title: 'query is refused without a subscription, with empty content, and while a turn runs',
    run: async (world) => {
      const { id, plugin } = await subscribed(world);
      const elsewhere = await world.conversation();
      isError(await plugin.ask({ type: 'query', conversation: elsewhere, content: 'a' }), 'query', /no subscription/);
      isError(await plugin.ask({ type: 'query', conversation: id, content: ' ' }), 'query', /content/);
      isError(await plugin.ask({ type: 'query', content: 'a' }), 'query', /conversation/);
      isError(await plugin.ask({ type: 'query', conversation: id, content: 'a', title: 'T' }), 'query', /title/);
      world.script({ text: ['One.'], hang: true });
      await plugin.ask({ type: 'query', conversation: id, content: 'One.' });
      isError(await plugin.ask({ type: 'query', conversation: id, content: 'Two.' }), 'query', /running.*interrupt/i);
      await plugin.event(({ partial }) => partial !== undefined);
      world.release();
      await complete(plugin);
    },
  },
  {
    title: 'query with new first makes a conversation with its title and subscribes the plugin to it under sub_id',
    run: async (world) => {
      const plugin = await world.plugin();
      isError(await plugin.ask({ type: 'query', new: true, content: 'Hello.' }), 'query', /no subscription/);
      isError(
        await plugin.ask({ type: 'query', new: true, conversation: 'x', content: 'Hello.', sub_id: 'n' }),
        'query',
        /conversation/,
      );
      world.script({ text: ['Hi.'] });
      const started = (await plugin.ask({
        type: 'query',
        new: true,
        sub_id: 'n',
        content: 'Hello.',
        title: 'Tea',
      })) as HostMessageOf<'query_started'>;
      const created = await plugin.next('created');
      assert.equal(created.conversation, started.conversation);
      assert.ok(plugin.received.indexOf(created) < plugin.received.indexOf(started));
      includes(await plugin.next('subscribed'), { sub_id: 'n' });
      includes(await complete(plugin), { sub_id: 'n', conversation: created.conversation, data: { outcome: 'done' } });
      const listed = (await plugin.ask({ type: 'list_conversations' })) as HostMessageOf<'conversations'>;
      includes(
        listed.data.find((one) => one.id === created.conversation),
        { title: 'Tea' },
      );
    },
  },
  {
    title: 'the answer to a schema is in data; an answer that does not fit is requested once more and is then an error',
    run: async (world) => {
      const { id, plugin } = await subscribed(world);
      world.script({ text: ['{"summary":"tea"}'] });
      await plugin.ask({ type: 'query', conversation: id, content: 'Summarize.', schema });
      includes((await complete(plugin)).data, { outcome: 'done', data: { summary: 'tea' } });
      world.script({ text: ['tea'] }, { text: ['{"summary":"twice"}'] });
      await plugin.ask({ type: 'query', conversation: id, content: 'Summarize.', schema });
      includes((await complete(plugin)).data, { outcome: 'done', data: { summary: 'twice' } });
      world.script({ text: ['tea'] }, { text: ['tea'] });
      await plugin.ask({ type: 'query', conversation: id, content: 'Summarize.', schema });
      const { data } = await complete(plugin);
      includes(data, { outcome: 'error' });
      assert.match(String(data['message']), /does not fit the schema/);
      assert.ok(!('data' in data), 'data of an older turn is never sent');
      isError(
        await plugin.ask({ type: 'query', conversation: id, content: 'a', schema: { type: 'tea' } }),
        'query',
        /schema/,
      );
      world.script({ text: ['Plain.'] });
      await plugin.ask({ type: 'query', conversation: id, content: 'Plainly.', schema: null });
      assert.ok(!('data' in (await complete(plugin)).data));
    },
  },
  {
    title: 'attachments are texts, or files that pass the same checks as those of read_file',
    run: async (world) => {
      const { id, plugin } = await subscribed(world);
      const attachments = [{ type: 'file_content', path: 'src/main.rs', content: 'fn main() {}' }];
      world.script({ text: ['Read.'] });
      await plugin.ask({ type: 'query', conversation: id, content: 'Read it.', attachments });
      includes((await logged(plugin, 'chat_request')).data, { attachments });
      await complete(plugin);
      for (const path of ['.env', '/etc/passwd', '../outside', 'no-such-file']) {
        const query = { type: 'query', conversation: id, content: 'Read it.', attachments: [{ type: 'file', path }] };
        isError(await plugin.ask(query), 'query', /attachments\.0/);
      }
    },
  },
  {
    title: 'cancel_query and interrupt with stop end the turn as stopped; without a turn they are errors',
    run: async (world) => {
      const { id, plugin } = await subscribed(world);
      for (const stop of [{ type: 'cancel_query' }, { type: 'interrupt', action: 'stop' }]) {
        isError(await plugin.ask({ ...stop, conversation: id }), stop.type, /No turn is running/);
        world.script({ text: ['One.'], hang: true });
        await plugin.ask({ type: 'query', conversation: id, content: 'Go.' });
        await plugin.event(({ partial }) => partial !== undefined);
        includes(await plugin.ask({ ...stop, conversation: id }), { type: 'done' });
        includes((await complete(plugin)).data, { outcome: 'stopped' });
      }
    },
  },
  {
    title: 'interrupt with queue is done once the message is on disk; the message starts the next turn',
    run: async (world) => {
      const { id, plugin } = await subscribed(world);
      isError(
        await plugin.ask({ type: 'interrupt', conversation: id, action: 'queue', content: 'a' }),
        'interrupt',
        /No turn/,
      );
      world.script({ text: ['One.'], hang: true }, { text: ['Two.'] });
      await plugin.ask({ type: 'query', conversation: id, content: 'Go.' });
      await plugin.event(({ partial }) => partial !== undefined);
      isError(await plugin.ask({ type: 'interrupt', conversation: id, action: 'queue' }), 'interrupt', /content/);
      includes(await plugin.ask({ type: 'interrupt', conversation: id, action: 'queue', content: 'And milk?' }), {
        type: 'done',
      });
      includes((await logged(plugin, 'user_text_queued')).data, { content: 'And milk?' });
      world.release();
      await complete(plugin);
      const request = await plugin.event(({ data }) => data.type === 'chat_request' && data['content'] === 'And milk?');
      assert.ok(request.seq !== undefined);
      await world.earshot.settled(id);
    },
  },
  {
    title: 'interrupt with reply breaks off the answer and is done once its request is in the log',
    run: async (world) => {
      const { id, plugin } = await subscribed(world);
      world.script({ text: ['One.'], hang: true }, { text: ['Two.'] });
      await plugin.ask({ type: 'query', conversation: id, content: 'Go.' });
      await plugin.event(({ partial }) => partial !== undefined);
      isError(
        await plugin.ask({ type: 'interrupt', conversation: id, action: 'reply', content: '' }),
        'interrupt',
        /content/,
      );
      includes(await plugin.ask({ type: 'interrupt', conversation: id, action: 'reply', content: 'Stop that.' }), {
        type: 'done',
      });
      includes((await plugin.event(({ data }) => data['truncated'] === true)).data, { message: 'One.' });
      await plugin.event(({ data }) => data.type === 'chat_request' && data['content'] === 'Stop that.');
      includes((await complete(plugin)).data, { outcome: 'done' });
    },
  },
  {
    title: 'while an approval is open, interrupt with reply is an error and queue works',
    run: async (world) => {
      const { id, plugin } = await subscribed(world, { approve: true });
      world.script(command('echo one'));
      await plugin.ask({ type: 'query', conversation: id, content: 'Go.' });
      await interactive(plugin);
      const reply = { type: 'interrupt', conversation: id, action: 'reply', content: 'No.' };
      isError(await plugin.ask(reply), 'interrupt', /waiting for your answer/);
      includes(await plugin.ask({ ...reply, action: 'queue' }), { type: 'done' });
      await plugin.ask({
        type: 'respond',
        sub_id: 's',
        respond: 'tool_approval',
        tool_call_id: 'call-1',
        action: 'approve',
      });
      await complete(plugin);
    },
  },
  {
    title: 'notify queues a notification under plugin.<name>; deliver_now delivers it, dismiss withdraws it',
    run: async (world) => {
      const { id, plugin } = await subscribed(world, { name: 'kettle' });
      const notify = { type: 'notify', kind: { name: 'boiled' }, level: 'critical', message: 'The water boils.' };
      const done = (await plugin.ask({ ...notify, conversation: id })) as HostMessageOf<'done'>;
      assert.equal(done.matched, 1);
      const queued = await logged(plugin, 'notification_queued');
      includes(queued.data['notification'], {
        kind: { source: 'plugin.kettle', name: 'boiled' },
        level: 'error',
        origin: 'plugin',
      });
      const { id: notification } = queued.data['notification'] as { id: string };
      includes(await plugin.ask({ type: 'dismiss', conversation: id, notification_ids: [notification] }), {
        type: 'done',
      });
      includes((await logged(plugin, 'notification_withdrawn')).data, { ids: [notification] });
      isError(
        await plugin.ask({ type: 'dismiss', conversation: id, notification_ids: [notification] }),
        'dismiss',
        /is pending/,
      );
      isError(await plugin.ask({ type: 'deliver_now', conversation: id }), 'deliver_now', /no pending/);
      await plugin.ask({ ...notify, kind: { source: 'tea', name: 'ready' }, conversation: id });
      includes((await logged(plugin, 'notification_queued')).data['notification'], {
        kind: { source: 'plugin.kettle.tea', name: 'ready' },
      });
      world.script({ text: ['Noted.'] });
      includes(await plugin.ask({ type: 'deliver_now', conversation: id }), { type: 'done' });
      const request = await logged(plugin, 'chat_request');
      includes(request.data, { source: 'system' });
      assert.match(
        (request.data['notifications'] as { text: string }).text,
        /source="plugin\.kettle\.tea".*The water boils\./s,
      );
      await world.earshot.settled(id);
    },
  },
  {
    title: 'notify without a conversation goes to those its scopes select, or to every live one; done says how many',
    run: async (world) => {
      const { plugin } = await subscribed(world);
      await world.conversation();
      const notify = { type: 'notify', kind: { name: 'boiled' }, level: 'info', message: 'The water boils.' };
      const live = (await plugin.ask(notify)) as HostMessageOf<'done'>;
      assert.ok((live.matched ?? 0) >= 2);
      includes(await plugin.ask({ ...notify, scopes: ['file:no/such/file.ts'] }), { type: 'done', matched: 0 });
      plugin.send(notify);
      const { id: none, matched } = await plugin.next('done');
      assert.deepEqual([none, matched], [undefined, live.matched]);
      isError(await plugin.ask({ ...notify, conversation: '01ARZ3NDEKTSV4RRFFQ69G5FAV' }), 'notify', /no such/);
      isError(await plugin.ask({ ...notify, conversation: 'nowhere' }), 'notify', /not the id of a conversation/);
    },
  },
];
