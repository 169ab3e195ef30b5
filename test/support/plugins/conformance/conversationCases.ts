// What the view can do with whole conversations beyond WIRE A: rename, fork, delete, list background commands, attach
// images.
import * as assert from 'node:assert/strict';
import { type HostMessageOf } from '../../../../src/protocol/plugin.ts';
import { complete, type ConformanceCase, includes, interactive, isError, logged, subscribed } from './conformance.ts';

/** The smallest PNG. */
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export const conversationCases: readonly ConformanceCase[] = [
  {
    title: 'rename_conversation also renames a closed conversation; an unknown one or an empty title is an error',
    run: async (world) => {
      const { id, plugin } = await subscribed(world);
      const rename = { type: 'rename_conversation', conversation: id };
      includes(await plugin.ask({ ...rename, title: 'Green tea' }), { type: 'done' });
      includes((await logged(plugin, 'title_set')).data, { title: 'Green tea' });
      const { data } = (await plugin.ask({ type: 'list_conversations' })) as HostMessageOf<'conversations'>;
      assert.equal(data.find((one) => one.id === id)?.title, 'Green tea');
      isError(await plugin.ask({ ...rename, title: ' ' }), 'rename_conversation', /title is empty/);
      isError(await plugin.ask({ ...rename, conversation: 'none', title: 'x' }), 'rename_conversation', /conversation/);
    },
  },
  {
    title: 'fork_conversation copies the history; before the first answer there is nothing to fork',
    run: async (world) => {
      const { id, plugin } = await subscribed(world);
      isError(await plugin.ask({ type: 'fork_conversation', conversation: id }), 'fork_conversation', /no complete/);
      world.script({ text: ['Green.'] });
      await plugin.ask({ type: 'query', conversation: id, content: 'Which tea?' });
      await complete(plugin);
      const { conversation: fork } = (await plugin.ask({
        type: 'fork_conversation',
        conversation: id,
      })) as HostMessageOf<'forked'>;
      assert.notEqual(fork, id);
      const { data } = (await plugin.ask({ type: 'read_events', conversation: fork })) as HostMessageOf<'events'>;
      assert.ok(data.some(({ type, message }) => type === 'chat_response' && message === 'Green.'));
    },
  },
  {
    title: 'delete_conversation needs approve: true, ends what runs in the conversation, and leaves others alone',
    run: async (world) => {
      const { id, plugin } = await subscribed(world);
      const remove = { type: 'delete_conversation', conversation: id };
      isError(await plugin.ask(remove), 'delete_conversation', /"approve": true/);
      const trusted = await world.plugin({ approve: true });
      const other = await world.conversation();
      includes(await trusted.ask(remove), { type: 'done' });
      isError(await trusted.ask(remove), 'delete_conversation', /./);
      const { data } = (await trusted.ask({ type: 'list_conversations' })) as HostMessageOf<'conversations'>;
      assert.deepEqual(
        [id, other].map((one) => data.some((listed) => listed.id === one)),
        [false, true],
      );
    },
  },
  {
    title: 'list_commands lists background commands with their state and last output',
    run: async (world) => {
      const { id, plugin } = await subscribed(world, { approve: true });
      const list = async () =>
        ((await plugin.ask({ type: 'list_commands', conversation: id })) as HostMessageOf<'commands'>).data;
      assert.deepEqual(await list(), []);
      const background = { command: 'echo boiling; sleep 600', background: true, handle: 'kettle' };
      world.script({ calls: [{ id: 'call-1', name: 'run_command', arguments: background }] }, { text: ['It runs.'] });
      await plugin.ask({ type: 'query', conversation: id, content: 'Go.' });
      await interactive(plugin);
      const approve = { type: 'respond', sub_id: 's', respond: 'tool_approval', tool_call_id: 'call-1' };
      await plugin.ask({ ...approve, action: 'approve' });
      await complete(plugin);
      includes(await list(), [{ tool_call_id: 'call-1', command: background.command, state: 'running' }]);
      for (let last = ''; !last.includes('boiling'); ) last = (await list())[0]?.output ?? '';
      await plugin.ask({ type: 'stop_command', conversation: id, tool_call_id: 'call-1' });
      assert.notEqual((await list())[0]?.state, 'running');
    },
  },
  {
    title: 'an image stored with store_image goes with a message; other hashes and other types are refused',
    run: async (world) => {
      const { id, plugin } = await subscribed(world);
      const store = { type: 'store_image', media_type: 'image/png', data: PIXEL };
      isError(await plugin.ask({ ...store, media_type: 'image/svg+xml' }), 'store_image', /PNG/);
      isError(await plugin.ask({ ...store, data: '' }), 'store_image', /nothing/);
      const { hash } = (await plugin.ask(store)) as HostMessageOf<'image'>;
      const image = { type: 'image', media_type: 'image/png', hash, name: 'tea.png' };
      world.script({ text: ['A pixel.'] });
      const query = { type: 'query', conversation: id, content: 'What is this?' };
      const foreign = { ...query, attachments: [{ ...image, hash: `${hash}0` }] };
      isError(await plugin.ask(foreign), 'query', /not stored/);
      // Each plugin can attach only the images that it stored itself.
      const other = await world.plugin();
      await other.ask({ type: 'subscribe', sub_id: 'o', conversation: id });
      isError(await other.ask({ ...query, attachments: [image] }), 'query', /not stored/);
      const read = { type: 'read_media', conversation: id, hash };
      isError(await plugin.ask(read), 'read_media', /nothing in this conversation/);
      includes(await plugin.ask({ ...query, attachments: [image] }), { type: 'query_started' });
      includes((await logged(plugin, 'chat_request')).data, { attachments: [image] });
      includes((await complete(plugin)).data, { outcome: 'done' });
      // Whoever can read the message can read its image, but nothing else that is stored.
      includes(await plugin.ask(read), { type: 'media', hash, data: PIXEL });
      isError(await plugin.ask({ ...read, hash: `${hash}0` }), 'read_media', /nothing in this conversation/);
    },
  },
];

/** Cases that need the models and files of `testControls.ts`. */
export const windowCases: readonly ConformanceCase[] = [
  {
    title: 'list_models lists the current model and those to choose from; choose needs approve: true',
    run: async (world) => {
      const plugin = await world.plugin();
      includes(await plugin.ask({ type: 'list_models' }), { current: { label: 'one' }, data: [] });
      const all = (await plugin.ask({ type: 'list_models', all: true })) as HostMessageOf<'models'>;
      assert.deepEqual(
        all.data.map(({ id, current }) => [id, current]),
        [
          ['one', true],
          ['two', false],
        ],
      );
      isError(await plugin.ask({ type: 'choose', mode: 'plan' }), 'choose', /"approve": true/);
      const trusted = await world.plugin({ approve: true });
      isError(await trusted.ask({ type: 'choose', model: 'three' }), 'choose', /no such model/);
      includes(await trusted.ask({ type: 'choose', model: 'two', mode: 'plan', approvals: 'ask' }), { type: 'done' });
      includes(await trusted.ask({ type: 'list_models' }), { current: { label: 'two' } });
      includes(await trusted.ask({ type: 'read_config', path: 'mode' }), { data: 'plan' });
      includes(await trusted.ask({ type: 'read_config', path: 'approvals.mode' }), { data: 'ask' });
      isError(await trusted.ask({ type: 'choose', approvals: 'never' }), 'choose', /approvals/);
    },
  },
  {
    title: 'complete offers files to attach after @ and texts to insert after /',
    run: async (world) => {
      const plugin = await world.plugin();
      includes(await plugin.ask({ type: 'complete', trigger: '@', query: 'menu' }), {
        type: 'completions',
        data: [{ name: 'src/menu.ts' }],
      });
      includes(await plugin.ask({ type: 'complete', trigger: '/', query: '' }), { data: [{ insert: '/review ' }] });
      isError(await plugin.ask({ type: 'complete', trigger: '#', query: '' }), 'complete', /trigger/);
    },
  },
];
