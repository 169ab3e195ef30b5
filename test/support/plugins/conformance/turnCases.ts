// What the view can do to a turn beyond WIRE A: queued messages, retry, edit and resend, and running commands.
import * as assert from 'node:assert/strict';
import { type HostMessage, type HostMessageOf } from '../../../../src/protocol/plugin.ts';
import { type RawPlugin } from '../rawPlugin.ts';
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

const queued = (text: string) => (event: HostMessageOf<'event'>) =>
  event.data.type === 'user_text_queued' && event.data['content'] === text;

/** Repeats the request until it is done, because the command may not be running yet. */
async function askUntilDone(plugin: RawPlugin, request: object): Promise<HostMessage> {
  for (;;) {
    const reply = await plugin.ask(request);
    if (reply.type === 'done') return reply;
    isError(reply, 'move_to_background', /no command/);
  }
}

export const turnCases: readonly ConformanceCase[] = [
  {
    title: 'withdraw_queued removes a queued message, so that messages can be edited and reordered',
    run: async (world) => {
      const { id, plugin } = await subscribed(world);
      world.script({ text: ['One.'], hang: true }, { text: ['Two.'] });
      await plugin.ask({ type: 'query', conversation: id, content: 'Go.' });
      await plugin.event(({ partial }) => partial !== undefined);
      const queue = { type: 'interrupt', conversation: id, action: 'queue' };
      await plugin.ask({ ...queue, content: 'Milk?' });
      const { data } = await plugin.event(queued('Milk?'));
      await plugin.ask({ ...queue, content: 'Sugar?' });
      const withdraw = { type: 'withdraw_queued', conversation: id, queued_id: data['event_id'] };
      includes(await plugin.ask(withdraw), { type: 'done' });
      includes((await logged(plugin, 'user_text_withdrawn')).data, { ids: [data['event_id']] });
      isError(await plugin.ask(withdraw), 'withdraw_queued', /already delivered/);
      world.release();
      await complete(plugin);
      await plugin.event((one) => one.data.type === 'chat_request' && one.data['content'] === 'Sugar?');
      await world.earshot.settled(id);
    },
  },
  {
    title: 'retry continues after a turn that failed; at any other time it is an error',
    run: async (world) => {
      const { id, plugin } = await subscribed(world);
      const retry = { type: 'retry', conversation: id };
      isError(await plugin.ask(retry), 'retry', /nothing to retry/);
      isError(await plugin.ask({ ...retry, conversation: 'other' }), 'retry', /no subscription/);
      world.script({ fails: true });
      await plugin.ask({ type: 'query', conversation: id, content: 'Which tea?' });
      includes((await complete(plugin)).data, { outcome: 'error' });
      world.script({ text: ['Green.'] });
      const started = (await plugin.ask(retry)) as HostMessageOf<'query_started'>;
      includes(started, { type: 'query_started', conversation: id });
      includes((await complete(plugin)).data, { outcome: 'done', turn: started.turn });
      includes((await logged(plugin, 'chat_response')).data, { message: 'Green.' });
    },
  },
  {
    title: 'query with instead_of sends a changed version of an earlier message in a fork that ends before it',
    run: async (world) => {
      const { id, plugin } = await subscribed(world);
      world.script({ text: ['Green.'] }, { text: ['Black.'] });
      await plugin.ask({ type: 'query', conversation: id, content: 'Which tea?' });
      const { data: first } = await logged(plugin, 'chat_request');
      await complete(plugin);
      await plugin.ask({ type: 'query', conversation: id, content: 'And which else?' });
      const { data: second } = await logged(plugin, 'chat_request');
      await complete(plugin);
      const resend = { type: 'query', conversation: id, content: 'And with milk?', instead_of: second['event_id'] };
      isError(await plugin.ask(resend), 'query', /no subscription/);
      isError(await plugin.ask({ ...resend, sub_id: 'x', instead_of: 'nowhere' }), 'query', /no longer in the log/);
      isError(await plugin.ask({ ...resend, sub_id: 'x', conversation: undefined, new: true }), 'query', /instead_of/);
      world.script({ text: ['Assam.'] });
      const started = (await plugin.ask({ ...resend, sub_id: 'fork' })) as HostMessageOf<'query_started'>;
      const { conversation: fork } = await plugin.next('created');
      assert.notEqual(fork, id);
      includes(started, { type: 'query_started', conversation: fork });
      includes(
        (
          await plugin.event(
            (one) => one.sub_id === 'fork' && one.data.type === 'chat_response' && one.seq !== undefined,
          )
        ).data,
        {
          message: 'Assam.',
        },
      );
      await plugin.event((one) => one.sub_id === 'fork' && one.data.type === 'query_complete');
      const { data } = (await plugin.ask({ type: 'read_events', conversation: fork })) as HostMessageOf<'events'>;
      const asked = data.filter(({ type }) => type === 'chat_request').map(({ content }) => content);
      assert.deepEqual(asked, ['Which tea?', 'And with milk?']);
      world.script({ text: ['Oolong.'] });
      const whole = { type: 'query', conversation: id, content: 'Which coffee?', instead_of: first['event_id'] };
      includes(await plugin.ask({ ...whole, sub_id: 'new' }), { type: 'query_started' });
      await plugin.event((one) => one.sub_id === 'new' && one.data.type === 'query_complete');
    },
  },
  {
    title: 'list_due lists what is due; fire_due fires a timer, and cancel_due ends one',
    run: async (world) => {
      const { id, plugin } = await subscribed(world, { approve: true });
      for (const name of ['tea', 'milk']) {
        const call = { id: name, name: 'wake_when', arguments: { name, when: { after: '2h' } } };
        world.script({ calls: [call] }, { text: ['Set.'] });
        await plugin.ask({ type: 'query', conversation: id, content: 'Go.' });
        await plugin.event(({ respond, data }) => respond !== undefined && data['id'] === name);
        const approve = { type: 'respond', sub_id: 's', respond: 'tool_approval', action: 'approve' };
        await plugin.ask({ ...approve, tool_call_id: name });
        await complete(plugin);
      }
      const listed = async () => {
        const { data } = (await plugin.ask({ type: 'list_due', conversation: id })) as HostMessageOf<'due'>;
        return data.map(({ what, name }) => [what, name]);
      };
      assert.deepEqual(await listed(), [
        ['wake', 'tea'],
        ['wake', 'milk'],
      ]);
      world.script({ text: ['Tea.'] });
      includes(await plugin.ask({ type: 'fire_due', conversation: id, name: 'tea' }), { type: 'done' });
      const { data: fired } = await logged(plugin, 'notification_queued');
      assert.match(JSON.stringify(fired), /The user had it fired now\./);
      assert.deepEqual(await listed(), [['wake', 'milk']]);
      const cancel = { type: 'cancel_due', conversation: id };
      includes(await plugin.ask({ ...cancel, what: 'wake', name: 'milk' }), { type: 'done' });
      assert.deepEqual(await listed(), []);
      isError(await plugin.ask({ ...cancel, what: 'lines', name: 'x' }), 'cancel_due', /not set any more/);
      isError(await plugin.ask({ type: 'fire_due', conversation: id, name: 'milk' }), 'fire_due', /not set any more/);
    },
  },
  {
    title: 'move_to_background lets a call return while its command keeps running; stop_command ends it',
    run: async (world) => {
      const { id, plugin } = await subscribed(world, { approve: true });
      world.script(command('sleep 600'), { text: ['It runs.'] });
      await plugin.ask({ type: 'query', conversation: id, content: 'Go.' });
      await interactive(plugin);
      const approve = { type: 'respond', sub_id: 's', respond: 'tool_approval', tool_call_id: 'call-1' };
      await plugin.ask({ ...approve, action: 'approve' });
      const named = { conversation: id, tool_call_id: 'call-1' };
      await askUntilDone(plugin, { type: 'move_to_background', ...named });
      includes((await logged(plugin, 'tool_call_response')).data, { id: 'call-1' });
      // A command that is still running has changed nothing yet.
      includes(await plugin.ask({ type: 'read_diff', ...named }), { type: 'diffs', data: [] });
      includes(await plugin.ask({ type: 'read_freshness', conversation: id }), { type: 'freshness', data: [] });
      const use = await plugin.ask({ type: 'read_notification_use', conversation: id });
      includes(use, { type: 'notification_use', conversations: 1, data: [] });
      const timeline = await plugin.ask({ type: 'read_timeline', conversation: id });
      includes(timeline, { type: 'timeline', more: false });
      includes(await plugin.ask({ type: 'list_rules' }), { type: 'rules', data: [] });
      isError(await plugin.ask({ type: 'remove_rule', rule: 'tool:x' }), 'remove_rule', /no such rule/);
      includes(await plugin.ask({ type: 'update_files', conversation: id }), {
        type: 'reviewed',
        done: [],
        stayed: [],
      });
      includes((await complete(plugin)).data, { outcome: 'done' });
      includes(await plugin.ask({ type: 'stop_command', ...named }), { type: 'done' });
      isError(
        await plugin.ask({ type: 'stop_command', ...named, tool_call_id: 'other' }),
        'stop_command',
        /no command/,
      );
    },
  },
];
