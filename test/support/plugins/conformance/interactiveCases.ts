// WIRE A: approvals and questions answered by plugins.
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
  question,
  resolved,
  subscribed,
} from './conformance.ts';

const answerer = { approve: true };

export const interactiveCases: readonly ConformanceCase[] = [
  {
    title: 'an approval comes after its tool_call_request, without seq; respond approves it; resolved and done follow',
    run: async (world) => {
      const { id, plugin } = await subscribed(world, answerer);
      world.script(command('echo one'));
      await plugin.ask({ type: 'query', conversation: id, content: 'Go.' });
      const asked = await interactive(plugin);
      includes(asked, {
        sub_id: 's',
        conversation: id,
        respond: 'tool_approval',
        data: { type: 'tool_call_request', id: 'call-1' },
      });
      assert.ok(!('seq' in asked));
      const before = plugin.received.slice(0, plugin.received.indexOf(asked));
      assert.ok(
        before.some((one) => one.type === 'event' && one.seq !== undefined && one.data.type === 'tool_call_request'),
      );
      const respond = {
        type: 'respond',
        sub_id: 's',
        respond: 'tool_approval',
        tool_call_id: 'call-1',
        action: 'approve',
      };
      includes(await plugin.ask(respond), { type: 'done' });
      includes((await resolved(plugin)).data, { tool_call_id: 'call-1', action: 'approve' });
      includes((await logged(plugin, 'approval')).data, { action: 'approve', tool_call_id: 'call-1' });
      assert.match(String((await logged(plugin, 'tool_call_response')).data['content']), /one/);
      includes((await complete(plugin)).data, { outcome: 'done' });
    },
  },
  {
    title: 'a respond without an id gets no reply; the approval event names the plugin',
    run: async (world) => {
      const { id, plugin } = await subscribed(world, { ...answerer, name: 'kettle' });
      world.script(command('echo one'));
      await plugin.ask({ type: 'query', conversation: id, content: 'Go.' });
      await interactive(plugin);
      plugin.send({
        type: 'respond',
        sub_id: 's',
        respond: 'tool_approval',
        tool_call_id: 'call-1',
        action: 'reject',
        reason: 'no tea',
      });
      includes((await resolved(plugin)).data, { action: 'reject', by: 'plugin:kettle' });
      includes((await logged(plugin, 'approval')).data, { by: 'plugin:kettle', reason: 'no tea' });
      assert.match(
        String((await logged(plugin, 'tool_call_response')).data['content']),
        /plugin kettle rejected this call: no tea/,
      );
      await complete(plugin);
      assert.ok(!plugin.received.some(({ type }) => type === 'done'));
    },
  },
  {
    title: 'modify with arguments that do not fit the schema is an error, and the approval stays open',
    run: async (world) => {
      const { id, plugin } = await subscribed(world, answerer);
      world.script(command('echo one'));
      await plugin.ask({ type: 'query', conversation: id, content: 'Go.' });
      await interactive(plugin);
      const modify = {
        type: 'respond',
        sub_id: 's',
        respond: 'tool_approval',
        tool_call_id: 'call-1',
        action: 'modify',
      };
      isError(await plugin.ask(modify), 'respond', /arguments/);
      isError(await plugin.ask({ ...modify, arguments: { command: 7 } }), 'respond', /command/);
      includes(await plugin.ask({ ...modify, arguments: { command: 'echo two' } }), { type: 'done' });
      includes((await logged(plugin, 'approval')).data, { action: 'modify', arguments: { command: 'echo two' } });
      assert.match(String((await logged(plugin, 'tool_call_response')).data['content']), /two/);
      await complete(plugin);
    },
  },
  {
    title: 'an inquiry contains the logged question; its answer is a text, or a list if several choices are allowed',
    run: async (world) => {
      const { id, plugin } = await subscribed(world, answerer);
      world.script(question({ options: ['a.rs', 'b.rs'] }), question({ options: ['a', 'b'], several: true }, 'call-2'));
      await plugin.ask({ type: 'query', conversation: id, content: 'Go.' });
      const first = await interactive(plugin);
      includes(first, {
        respond: 'inquiry',
        data: { type: 'inquiry_request', question: 'Which file?', options: ['a.rs', 'b.rs'] },
      });
      const inquiry = String(first.data['id']);
      const respond = { type: 'respond', sub_id: 's', respond: 'inquiry', inquiry_id: inquiry };
      isError(await plugin.ask({ ...respond, answer: ['a.rs'] }), 'respond', /answer: must be a string/);
      includes(await plugin.ask({ ...respond, answer: 'a.rs' }), { type: 'done' });
      includes((await resolved(plugin)).data, { inquiry_id: inquiry, answer: 'a.rs' });
      includes((await logged(plugin, 'inquiry_response')).data, { id: inquiry, answer: 'a.rs' });
      const second = await interactive(plugin);
      includes(second.data, { several: true });
      const again = { ...respond, inquiry_id: String(second.data['id']) };
      isError(await plugin.ask({ ...again, answer: 'a' }), 'respond', /list/);
      includes(await plugin.ask({ ...again, answer: ['a', 'b'] }), { type: 'done' });
      await complete(plugin);
    },
  },
  {
    title: 'answers may come in any order and are matched by the id of the call',
    run: async (world) => {
      const { id, plugin } = await subscribed(world, answerer);
      world.script({ calls: [...(command('echo one', 'c1').calls ?? []), ...(command('echo two', 'c2').calls ?? [])] });
      await plugin.ask({ type: 'query', conversation: id, content: 'Go.' });
      await interactive(plugin);
      await interactive(plugin);
      for (const call of ['c2', 'c1']) {
        const respond = {
          type: 'respond',
          sub_id: 's',
          respond: 'tool_approval',
          tool_call_id: call,
          action: 'approve',
        };
        includes(await plugin.ask(respond), { type: 'done' });
      }
      includes((await complete(plugin)).data, { outcome: 'done' });
    },
  },
  {
    title: 'late, repeated and unknown answers are errors',
    run: async (world) => {
      const { id, plugin } = await subscribed(world, { ...answerer, name: 'first' });
      world.script(command('echo one'));
      await plugin.ask({ type: 'query', conversation: id, content: 'Go.' });
      await interactive(plugin);
      const respond = {
        type: 'respond',
        sub_id: 's',
        respond: 'tool_approval',
        tool_call_id: 'call-1',
        action: 'approve',
      };
      isError(await plugin.ask({ ...respond, tool_call_id: 'call-9' }), 'respond', /No approval/);
      isError(await plugin.ask({ ...respond, sub_id: 'x' }), 'respond', /no subscription/);
      includes(await plugin.ask(respond), { type: 'done' });
      isError(await plugin.ask(respond), 'respond', /already answered by plugin:first/);
      await complete(plugin);
      // Errors are sent even for requests without an id.
      plugin.send(respond);
      isError(await plugin.next('error'), 'respond', /already answered/);
    },
  },
  {
    title: 'a plugin without the right to approve gets only the events of the log, and its answer is an error',
    run: async (world) => {
      const { id, plugin: watcher } = await subscribed(world);
      const plugin = await world.plugin(answerer);
      await plugin.ask({ type: 'subscribe', sub_id: 's', conversation: id });
      world.script(command('echo one'));
      await plugin.ask({ type: 'query', conversation: id, content: 'Go.' });
      await interactive(plugin);
      await logged(watcher, 'tool_call_request');
      const respond = {
        type: 'respond',
        sub_id: 's',
        respond: 'tool_approval',
        tool_call_id: 'call-1',
        action: 'approve',
      };
      isError(await watcher.ask(respond), 'respond', /may not answer/);
      await plugin.ask(respond);
      await logged(watcher, 'turn_ended');
      const special = watcher.received.filter(
        (one) => one.type === 'event' && (one.respond !== undefined || (one.seq ?? one.partial) === undefined),
      );
      assert.deepEqual(
        special.map((one) => (one as HostMessageOf<'event'>).data.type),
        [],
      );
    },
  },
  {
    title: 'a later subscriber gets open approvals after subscribed and the replay',
    run: async (world) => {
      const { id, plugin } = await subscribed(world, answerer);
      world.script(command('echo one'));
      await plugin.ask({ type: 'query', conversation: id, content: 'Go.' });
      await interactive(plugin);
      for (const [sub, conversation] of [
        ['late', id],
        ['all', '*'],
      ] as const) {
        await plugin.ask({
          type: 'subscribe',
          sub_id: sub,
          conversation,
          since: conversation === '*' ? { [id]: 0 } : 0,
        });
        const asked = await plugin.event((one) => one.sub_id === sub && one.respond !== undefined);
        const before = plugin.received
          .slice(0, plugin.received.indexOf(asked))
          .filter((one) => one.type === 'event' && one.sub_id === sub);
        assert.ok(
          before.some((one) => one.type === 'event' && one.data.type === 'tool_call_request'),
          sub,
        );
      }
      await plugin.ask({
        type: 'respond',
        sub_id: 'all',
        respond: 'tool_approval',
        tool_call_id: 'call-1',
        action: 'approve',
      });
      for (const sub of ['s', 'late', 'all'])
        await plugin.event((one) => one.sub_id === sub && one.data.type === 'resolved');
      await complete(plugin);
    },
  },
  {
    title: 'a plugin that unsubscribes or dies leaves the approval open for others',
    run: async (world) => {
      const { id, plugin } = await subscribed(world, { ...answerer, name: 'mortal' });
      const other = await world.plugin({ ...answerer, name: 'other' });
      await other.ask({ type: 'subscribe', sub_id: 's', conversation: id });
      world.script(command('echo one'));
      await other.ask({ type: 'query', conversation: id, content: 'Go.' });
      await interactive(plugin);
      await interactive(other);
      plugin.destroy();
      await plugin.closed;
      const respond = {
        type: 'respond',
        sub_id: 's',
        respond: 'tool_approval',
        tool_call_id: 'call-1',
        action: 'approve',
      };
      includes(await other.ask(respond), { type: 'done' });
      includes((await complete(other)).data, { outcome: 'done' });
    },
  },
  {
    title: 'a question that is cancelled with its turn is resolved without an answer',
    run: async (world) => {
      const { id, plugin } = await subscribed(world, answerer);
      world.script(command('echo one'));
      await plugin.ask({ type: 'query', conversation: id, content: 'Go.' });
      await interactive(plugin);
      includes(await plugin.ask({ type: 'cancel_query', conversation: id }), { type: 'done' });
      const { data } = await resolved(plugin);
      includes(data, { tool_call_id: 'call-1', by: 'cancelled' });
      assert.ok(!('action' in data));
      includes((await complete(plugin)).data, { outcome: 'stopped' });
    },
  },
  {
    title: 'if calls of several conversations have the same id, an answer must name the conversation',
    run: async (world) => {
      const plugin = await world.plugin(answerer);
      await plugin.ask({ type: 'subscribe', sub_id: 'all', conversation: '*' });
      const ids: string[] = [];
      for (const text of ['echo one', 'echo two']) {
        const id = await world.conversation();
        ids.push(id);
        world.script(command(text));
        await plugin.ask({ type: 'query', conversation: id, content: 'Go.' });
        await plugin.event(({ respond, conversation }) => respond !== undefined && conversation === id);
      }
      const respond = { type: 'respond', sub_id: 'all', respond: 'tool_approval', tool_call_id: 'call-1' };
      isError(await plugin.ask({ ...respond, action: 'approve' }), 'respond', /^conversation: /);
      const [first, second] = ids;
      includes(await plugin.ask({ ...respond, action: 'reject', conversation: second }), { type: 'done' });
      includes(await resolved(plugin), { conversation: second, data: { action: 'reject' } });
      // Only one is open now.
      includes(await plugin.ask({ ...respond, action: 'approve' }), { type: 'done' });
      includes(await resolved(plugin), { conversation: first, data: { action: 'approve' } });
      for (const id of ids)
        await plugin.event(({ data, conversation }) => data.type === 'query_complete' && conversation === id);
    },
  },
];
