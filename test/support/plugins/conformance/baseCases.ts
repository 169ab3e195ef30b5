// WIRE A: framing, ids, init, base requests, malformed lines.
import * as assert from 'node:assert/strict';
import { type HostMessageOf } from '../../../../src/protocol/plugin.ts';
import { type ConformanceCase, includes, isError, lastSeq, subscribed } from './conformance.ts';

export const baseCases: readonly ConformanceCase[] = [
  {
    title: 'init has version, workspace, paths, config, options, args, log_level and output_format',
    run: async (world) => {
      const plugin = await world.plugin({ options: { cups: 2 } });
      const init = plugin.received[0];
      includes(init, { type: 'init', version: 1, options: { cups: 2 }, paths: {}, args: [] });
      assert.ok(init?.type === 'init' && init.workspace.storage !== '' && init.config['notifications.cap'] === 10);
      assert.ok(!('plugins.programs' in init.config), 'the options of other plugins are not sent to this one');
    },
  },
  {
    title: 'a plugin that never sends ready is served; ready without a protocol means protocol 1',
    run: async (world) => {
      const plugin = await world.plugin();
      includes(await plugin.ask({ type: 'list_conversations' }), { type: 'conversations' });
      plugin.send({ type: 'ready' });
      plugin.send({ type: 'ready', protocol: 1 });
      includes(await plugin.ask({ type: 'list_conversations' }), { type: 'conversations' });
    },
  },
  {
    title: 'create makes an empty conversation that can be listed and subscribed to',
    run: async (world) => {
      const plugin = await world.plugin();
      plugin.send({ type: 'create', id: 'c', title: 'Tea' });
      const { conversation, id } = await plugin.next('created');
      assert.equal(id, 'c');
      const listed = (await plugin.ask({ type: 'list_conversations' })) as HostMessageOf<'conversations'>;
      includes(listed.data.find((one) => one.id === conversation) ?? {}, { title: 'Tea' });
      includes(await plugin.ask({ type: 'subscribe', sub_id: 's', conversation }), { type: 'subscribed' });
    },
  },
  {
    title: 'a reply repeats the id; without an id it has none',
    run: async (world) => {
      const plugin = await world.plugin();
      plugin.send({ type: 'list_conversations', id: '' });
      assert.equal((await plugin.next('conversations')).id, '');
      plugin.send({ type: 'list_conversations' });
      assert.ok(!('id' in (await plugin.next('conversations'))));
    },
  },
  {
    title: 'replies to requests without ids come in the order of the requests',
    run: async (world) => {
      const id = await world.conversation();
      const plugin = await world.plugin();
      const requests = [
        { type: 'read_events', conversation: id },
        { type: 'read_config', path: 'notifications.cap' },
        { type: 'subscribe', sub_id: 'a', conversation: '*' },
        { type: 'list_conversations' },
        { type: 'unsubscribe', sub_id: 'a' },
        { type: 'read_config', path: 'nothing' },
        { type: 'read_config', path: 'notifications.cap' },
      ];
      plugin.send(requests.map((request) => `${JSON.stringify(request)}\n`).join(''));
      await plugin.next('unsubscribed');
      await plugin.next('error');
      await plugin.next('config');
      await plugin.next('config');
      const replies = plugin.received.slice(1).map(({ type }) => type);
      const expected = ['events', 'config', 'subscribed', 'conversations', 'unsubscribed', 'error', 'config'];
      assert.deepEqual(
        replies.filter((type) => type !== 'event'),
        expected,
      );
    },
  },
  {
    title: 'an id that is not a string is an error',
    run: async (world) => {
      const plugin = await world.plugin();
      for (const id of [1, null, {}, []]) {
        plugin.send({ type: 'list_conversations', id });
        const error = await plugin.next('error');
        isError(error, 'list_conversations', /id/);
        assert.ok(!('id' in error));
      }
    },
  },
  {
    title: 'blank lines are ignored, lines end in \\n only, and U+2028 is legal inside JSON',
    run: async (world) => {
      const plugin = await world.plugin();
      plugin.send('\n\r\n   \n');
      plugin.send('{"type":"read_config","id":"a\u2028b","path":"notifications.cap"}\r\n');
      includes(await plugin.next('config'), { id: 'a\u2028b', data: 10 });
      assert.equal(plugin.received.length, 2);
    },
  },
  {
    title: 'a line may arrive in any pieces, even inside a character',
    run: async (world) => {
      const plugin = await world.plugin();
      const bytes = Buffer.from('{"type":"read_config","id":"茶🍵","path":"notifications.cap"}\n');
      for (const byte of bytes) plugin.send(Uint8Array.of(byte));
      includes(await plugin.next('config'), { id: '茶🍵' });
    },
  },
  {
    title: 'unknown or malformed lines get an error with the reason, and the plugin stays connected',
    run: async (world) => {
      const plugin = await world.plugin();
      const lines: readonly [string | Uint8Array, string, RegExp][] = [
        ['nonsense\n', '', /not JSON/],
        ['[1]\n', '', /not a JSON object/],
        ['null\n', '', /not a JSON object/],
        ['{}\n', '', /type/],
        ['{"type":"steep"}\n', 'steep', /there is no request/],
        ['{"type":"__proto__"}\n', '__proto__', /there is no request/],
        ['{"type":"read_events"}\n', 'read_events', /conversation/],
        [Uint8Array.of(0x22, 0xff, 0x22, 0x0a), '', /UTF-8/],
        [
          `{"type":"log","level":"info","message":"m","fields":{"a":${'['.repeat(200)}${']'.repeat(200)}}}\n`,
          'log',
          /deeper/,
        ],
      ];
      for (const [line, request, reason] of lines) {
        plugin.send(line);
        isError(await plugin.next('error'), request, reason);
      }
      plugin.send('{"type":"steep","id":"x"}\n');
      includes(await plugin.next('error'), { id: 'x' });
      includes(await plugin.ask({ type: 'read_config', path: 'notifications.cap' }), { data: 10 });
    },
  },
  {
    title: 'the plugin is ended after 20 malformed lines in a row, but not after 19',
    run: async (world) => {
      const plugin = await world.plugin();
      plugin.send('x\n'.repeat(19));
      includes(await plugin.ask({ type: 'read_config', path: 'notifications.cap' }), { data: 10 });
      plugin.send('x\n'.repeat(20));
      await plugin.next((message) => message.type === 'error' && /20 malformed lines/.test(message.message));
    },
  },
  {
    title: 'list_conversations has id, title or null, last_activated_at, events_count and the model that is used',
    run: async (world) => {
      const id = await world.conversation();
      const plugin = await world.plugin();
      const listed = (await plugin.ask({ type: 'list_conversations' })) as HostMessageOf<'conversations'>;
      const found = listed.data.find((one) => one.id === id);
      includes(found, { id, title: null, events_count: lastSeq(world, id) });
      assert.equal(typeof found?.choice?.model, 'string');
      assert.match(found?.last_activated_at ?? '', /^\d{4}-\d\d-\d\dT.*Z$/);
    },
  },
  {
    title: 'read_events has the log’s events without v and crc, the lock and the title',
    run: async (world) => {
      const { id, plugin } = await subscribed(world);
      world.script({ text: ['Green.'] });
      await plugin.ask({ type: 'query', conversation: id, content: 'Which tea?' });
      await plugin.event(({ data }) => data.type === 'query_complete');
      const read = (await plugin.ask({ type: 'read_events', conversation: id })) as HostMessageOf<'events'>;
      includes(read, { conversation: id, lock: 'free', title: 'Which tea?' });
      assert.deepEqual(
        read.data.map(({ seq }) => seq),
        read.data.map((_, index) => index + 1),
      );
      const answer = read.data.find(({ type }) => type === 'chat_response');
      includes(answer, { message: 'Green.' });
      for (const event of read.data)
        assert.ok(!('v' in event) && !('crc' in event) && 'event_id' in event && 'timestamp' in event);
      isError(
        await plugin.ask({ type: 'read_events', conversation: 'nowhere' }),
        'read_events',
        /not the id of a conversation/,
      );
      isError(
        await plugin.ask({ type: 'read_events', conversation: '01ARZ3NDEKTSV4RRFFQ69G5FAV' }),
        'read_events',
        /no such/,
      );
    },
  },
  {
    title: 'lock is here while a turn runs in this window',
    run: async (world) => {
      const { id, plugin } = await subscribed(world);
      world.script({ text: ['One.'], hang: true });
      await plugin.ask({ type: 'query', conversation: id, content: 'Hello.' });
      includes(await plugin.ask({ type: 'read_events', conversation: id }), { lock: 'here' });
      await plugin.event(({ partial }) => partial !== undefined);
      world.release();
      await plugin.event(({ data }) => data.type === 'query_complete');
      includes(await plugin.ask({ type: 'read_events', conversation: id }), { lock: 'free' });
    },
  },
  {
    title: 'read_config gives everything, one setting, or all below a name; an unknown path is an error',
    run: async (world) => {
      const plugin = await world.plugin();
      const whole = (await plugin.ask({ type: 'read_config' })) as HostMessageOf<'config'>;
      includes(whole.data, { 'notifications.cap': 10 });
      assert.ok(!('path' in whole));
      includes(await plugin.ask({ type: 'read_config', path: 'notifications.cap' }), {
        path: 'notifications.cap',
        data: 10,
      });
      includes(await plugin.ask({ type: 'read_config', path: 'notifications' }), { data: { cap: 10 } });
      isError(await plugin.ask({ type: 'read_config', path: 'no.such' }), 'read_config', /no setting/);
      isError(await plugin.ask({ type: 'read_config', path: 'toString' }), 'read_config', /no setting/);
    },
  },
  {
    title: 'print and log have no reply, whatever their channel, format and level',
    run: async (world) => {
      const plugin = await world.plugin();
      for (const channel of ['content', 'chrome', 'tool_call', 'tool_result', 'reasoning', 'error', 'tea']) {
        plugin.send({ type: 'print', text: `text-${channel}`, channel, format: 'tea', language: 'x' });
      }
      for (const level of ['error', 'warn', 'info', 'debug', 'trace', 0, 4]) {
        plugin.send({ type: 'log', level, message: `log-${level}`, fields: { a: 1 } });
      }
      await plugin.ask({ type: 'read_config', path: 'mode' });
      assert.equal(plugin.received.length, 2);
      for (const text of [
        'text-content',
        '[chrome] text-chrome',
        '[error] text-error',
        'text-tea',
        'log-info',
        'log-4',
      ]) {
        assert.ok(world.output?.some((line) => line.includes(text)) ?? true, text);
      }
    },
  },
  {
    title: 'exit ends the plugin with its code and reason',
    run: async (world) => {
      const plugin = await world.plugin();
      plugin.send({ type: 'exit', code: 3, reason: 'out of tea' });
      await plugin.closed;
      const isNoted = (line: string) => line.includes('code 3') && line.includes('out of tea');
      // The host notes the end once the process has ended.
      while (world.output?.some(isNoted) === false) await new Promise((resolve) => setTimeout(resolve, 5));
    },
  },
  {
    title: 'a plugin of a newer protocol gets an error that names both versions',
    run: async (world) => {
      const plugin = await world.plugin();
      plugin.send({ type: 'ready', protocol: 7 });
      isError(await plugin.next('error'), 'ready', /protocol 7.*speaks 1/);
    },
  },
];
