// Every JSON example of the seed of program plugins: requests are accepted unchanged, and answers have every field of
// the example.
import { expect, test } from 'vitest';
import { type HostMessage } from '../../../src/protocol/plugin.ts';
import { answer, defineTool } from '../../../src/tools/defineTool.ts';
import { createPluginWorld } from '../../support/plugins/pluginWorld.ts';
import { seedExamples } from '../../support/plugins/seedExamples.ts';

type Name = keyof typeof seedExamples;

const CONVERSATION = '17127583920';

const cargoCheck = defineTool({
  name: 'cargo_check',
  description: 'Checks.',
  effect: 'execute',
  arguments: {},
  run: async () => answer('No errors.'),
});

test('the requests of the seed are accepted unchanged, and the answers have every field of the examples', async () => {
  const question = { question: 'Which file?', options: ['a.rs', 'b.rs'] };
  const world = await createPluginWorld({
    answers: [
      { text: ["Here's what I found..."], calls: [{ id: 'tc_1', name: 'cargo_check', arguments: {} }] },
      { calls: [{ id: 'tc_2', name: 'ask_user', arguments: question }] },
      { text: ['Done.'] },
      { text: ['{"summary":"It does nothing."}'] },
    ],
  });
  world.hold(world.earshot.tools.register([cargoCheck]));
  const conversation = await world.conversation();
  const plugin = await world.attach('tea', { approve: true });
  const shown = new Set<Name>();
  /** The example with the ids of this test. */
  const example = (name: Name, ids: Readonly<Record<string, string>> = {}): object => {
    shown.add(name);
    const text = Object.entries({ [CONVERSATION]: conversation, ...ids }).reduce<string>(
      (all, [printed, own]) => all.replaceAll(`"${printed}"`, JSON.stringify(own)),
      seedExamples[name],
    );
    return JSON.parse(text) as object;
  };
  const expectExample = (message: HostMessage, name: Name, ids?: Readonly<Record<string, string>>) =>
    expect(message).toMatchObject(example(name, ids));

  plugin.send(example('subscribe'));
  expectExample(await plugin.next('subscribed'), 'subscribed');
  plugin.send(example('query'));
  expectExample(await plugin.next('query_started'), 'queryStarted');
  const answered = await plugin.event(({ seq }) => seq !== undefined);
  expectExample(answered, 'chatResponse', { '...': String(answered.data['timestamp']) });
  expectExample(await plugin.event(({ respond }) => respond === 'tool_approval'), 'toolApproval');
  plugin.send(example('approve'));
  const inquiry = await plugin.event(({ respond }) => respond === 'inquiry');
  const ids = { inq_1: String(inquiry.data['id']) };
  expectExample(inquiry, 'inquiry', ids);
  plugin.send(example('answer', ids));
  expectExample(await plugin.event(({ data }) => data.type === 'query_complete'), 'queryComplete');

  plugin.send(example('structuredQuery'));
  expectExample(await plugin.next('query_started'), 'queryStarted');
  const complete = await plugin.event(({ data }) => data.type === 'query_complete');
  expectExample(complete, 'queryComplete');
  expect(complete.data['data']).toEqual({ summary: 'It does nothing.' });
  plugin.send(example('unsubscribe'));
  expectExample(await plugin.next('unsubscribed'), 'unsubscribed');
  expect(plugin.received.filter(({ type }) => type === 'error')).toEqual([]);
  const log = await world.headless.events(conversation);
  expect([log.includes('"content":"No errors."'), log.includes('"answer":"a.rs"')]).toEqual([true, true]);
  expect([...shown].sort()).toEqual(Object.keys(seedExamples).sort());
});
