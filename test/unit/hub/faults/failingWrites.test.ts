// Writes, syncs and truncations of the hub's files fail at any point, followed by power losses, with a sender that
// repeats what was not answered.
import { beforeEach, expect, test } from 'vitest';
import { setDisposableTracker } from '../../../../src/base/disposable.ts';
import { openInMemory } from '../../../support/hub/inMemoryHub.ts';
import { FaultyFileSystem } from '../../../support/log/faultyFileSystem.ts';
import { runs } from '../../../support/runs.ts';

// A program that loses power cannot dispose of anything, so leaks are not tracked.
beforeEach(() => setDisposableTracker(undefined));

const MESSAGES = 6;

async function join(files: FaultyFileSystem): Promise<(method: string, params?: object) => Promise<unknown>> {
  const { call } = await openInMemory(files);
  await call('agent.register', { name: 'author' });
  await call('session.start', { agent_id: 'author' });
  return call;
}

async function listed(call: (method: string, params?: object) => Promise<unknown>): Promise<Map<string, string[]>> {
  const { messages } = (await call('message.list', { after: 'c0' })) as {
    messages: { message_id: string; body: { content: string } }[];
  };
  const byContent = new Map<string, string[]>();
  for (const { message_id: id, body } of messages)
    byContent.set(body.content, [...(byContent.get(body.content) ?? []), id]);
  return byContent;
}

test.each(Array.from({ length: runs(60, 600) }, (_, seed) => seed))(
  'a disk that fails at random loses, doubles and reorders nothing (%i)',
  async (seed) => {
    const random = numbers(seed + 1);
    let files = new FaultyFileSystem();
    let call = await join(files);
    const failing = () => {
      files.faults.at = ({ name }) =>
        /author.jsonl/.test(name) && !/read|list|stat/.test(name) && random(10) < 3 ? 'EIO' : undefined;
    };
    const answers: string[] = [];
    for (let number = 0; number < MESSAGES; number++) {
      failing();
      for (let attempt = 0; ; attempt++) {
        if (attempt === 8) files.faults = {};
        try {
          const sent = (await call('message.send', { content: String(number), client_id: String(number) })) as {
            message_id: string;
          };
          answers.push(sent.message_id);
          break;
        } catch (error) {
          // What was not stored for certain must not be there after a power loss that kept every byte.
          const nothing = String(error).includes('nothing was stored');
          if (nothing)
            expect(files.peek('/hub/messages/author.jsonl').toString()).not.toContain(`"client_id":"${number}"`);
        }
        if (random(4) === 0) {
          files = files.losePower((most) => random(most + 1));
          call = await join(files);
          failing();
        }
      }
    }
    files = files.losePower((most) => random(most + 1));
    const found = await listed(await join(files));
    expect([...found]).toEqual(answers.map((id, number) => [String(number), [id]]));
  },
);

/** A sequence of numbers below a limit that is the same for the same seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed * 2654435761;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 374761393) >>> 0;
    return Math.floor(((state >>> 8) / 2 ** 24) * below);
  };
}
