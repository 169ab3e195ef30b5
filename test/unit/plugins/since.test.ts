// `since` from any point, during a stream, after a reconnect, while another window writes: no gap and no repetition.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type HostMessageOf } from '../../../src/protocol/plugin.ts';
import { endAll } from '../../support/endings.ts';
import { createPluginWorld, type PluginWorld } from '../../support/plugins/pluginWorld.ts';
import { type RawPlugin } from '../../support/plugins/rawPlugin.ts';
import { runs } from '../../support/runs.ts';

const step = fc.oneof(
  { weight: 4, arbitrary: fc.constant('append' as const) },
  { weight: 3, arbitrary: fc.constant('burst' as const) },
  { weight: 3, arbitrary: fc.constant('subscribe' as const) },
  { weight: 2, arbitrary: fc.constant('reconnect' as const) },
  { weight: 1, arbitrary: fc.constant('turn' as const) },
  { weight: 2, arbitrary: fc.constant('other_window' as const) },
  { weight: 1, arbitrary: fc.constant('pause' as const) },
);

/** The sequence numbers of the events that a subscription got. */
function numbersOf(plugin: RawPlugin, sub: string, conversation: string): readonly number[] {
  return plugin.received
    .filter(
      (one): one is HostMessageOf<'event'> =>
        one.type === 'event' && one.sub_id === sub && one.conversation === conversation,
    )
    .flatMap(({ seq }) => seq ?? []);
}

interface Followed {
  readonly plugin: RawPlugin;
  readonly sub: string;
  readonly since: number;
}

async function play(
  world: PluginWorld,
  steps: readonly (typeof step extends fc.Arbitrary<infer T> ? T : never)[],
  pick: (most: number) => number,
) {
  const second = await world.second();
  const windows = [world, second];
  let owner = 0;
  const id = await world.conversation();
  const followed: Followed[] = [];
  let plugin = await world.attach();
  let subs = 0;
  const log = () => windows[owner]?.earshot.get(id)?.log;
  const append = async () => {
    await log()?.append({ type: 'title_set', title: `t${subs}` });
  };
  const pending: Promise<unknown>[] = [];
  for (const one of steps) {
    switch (one) {
      case 'append':
        await append();
        break;
      case 'burst':
        pending.push(...Array.from({ length: 20 }, append));
        break;
      case 'turn':
        world.model.script({ text: ['a', 'b'] });
        pending.push(
          (windows[owner]?.earshot.send(id, 'Hello.') ?? Promise.resolve()).then(() =>
            windows[owner]?.earshot.settled(id),
          ),
        );
        break;
      case 'subscribe':
      case 'reconnect': {
        if (one === 'reconnect') {
          // Earlier subscriptions may be incomplete, so they are not checked.
          for (const { plugin: gone } of followed.splice(0)) gone.destroy();
          plugin.destroy();
          plugin = await world.attach();
        }
        const sub = `s${subs++}`;
        const since = pick(log()?.state.turn.lastSeq ?? 1);
        const isAll = pick(3) === 0;
        const conversation = isAll ? '*' : id;
        const reply = await plugin.ask({
          type: 'subscribe',
          sub_id: sub,
          conversation,
          since: isAll ? { [id]: since } : since,
        });
        // `since` may be beyond the end, if the event is not on disk yet; then the subscription is refused.
        if (reply.type === 'subscribed') followed.push({ plugin, sub, since });
        break;
      }
      case 'other_window': {
        await Promise.allSettled(pending.splice(0));
        const next = 1 - owner;
        const opened = await windows[next]?.earshot.open(id);
        if (opened?.ok === true) await windows[next]?.earshot.continueHere(id);
        owner = next;
        break;
      }
      case 'pause':
        plugin.pause();
        await append();
        plugin.resume();
        break;
    }
  }
  await Promise.allSettled(pending);
  await append();
  const last = log()?.state.turn.lastSeq ?? 0;
  for (const { plugin: own, sub, since } of followed) {
    const expected = Array.from({ length: last - since }, (_, index) => since + 1 + index);
    await expect.poll(() => numbersOf(own, sub, id).at(-1) ?? since, { interval: 5, timeout: 20_000 }).toBe(last);
    expect(numbersOf(own, sub, id)).toEqual(expected);
  }
  plugin.destroy();
}

test('no gap and no repetition in any schedule of writes, subscriptions, reconnects and owners', {
  timeout: 3_600_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 3, maxLength: 14 }),
      fc.infiniteStream(fc.nat(1000)),
      async (steps, numbers) => {
        const world = await createPluginWorld();
        await play(world, steps, (most) => (numbers.next().value ?? 0) % (most + 1));
        expect(world.errors).toEqual([]);
        await endAll();
      },
    ),
    { numRuns: runs(12, 1000), endOnFailure: true },
  );
});
