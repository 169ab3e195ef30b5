// The stream of one conversation to a plugin: a message that belongs to an event never arrives before it.
import { expect, test } from 'vitest';
import { EventStream } from '../../../src/plugins/streams/eventStream.ts';
import { createPluginWorld } from '../../support/plugins/pluginWorld.ts';

test('a question asked before its event has arrived waits for that event', async () => {
  const world = await createPluginWorld();
  const id = await world.conversation();
  const used = await world.shared.feeds.use(id);
  if (!used.ok) throw new Error(used.failure.message);
  world.hold(used.value);
  const { feed } = used.value;
  const sent: string[] = [];
  const stream = new EventStream(
    {
      subscription: 's',
      feed,
      pieces: world.shared.pieces,
      wants: () => true,
      wantsOutput: false,
      send: ({ data }) => sent.push(data.type) > 0,
      takesPartials: () => true,
      room: async () => undefined,
      failed: (reason) => void sent.push(reason),
    },
    feed.lastSeq,
  );
  world.hold(stream);
  await stream.start();
  const question = { type: 'event', sub_id: 's', conversation: id, data: { type: 'question' } } as const;
  stream.announce(question, feed.lastSeq + 1);
  expect(sent).toEqual([]);
  await world.earshot.get(id)?.log.append({ type: 'title_set', title: 'Tea' });
  await expect.poll(() => sent).toEqual(['title_set', 'question']);
});
