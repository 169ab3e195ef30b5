// The process that the crash test kills. Queues, withdraws and delivers as fast as it can, and prints acknowledgements.
// Whatever the disk refuses is tried again.
import { writeSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { describeError } from '../../src/base/errors.ts';
import { collect } from '../../src/core/agent/delivery.ts';
import { ConversationLog } from '../../src/core/conversation/log.ts';
import { openOrFollow } from '../../src/core/conversation/opening.ts';
import { enqueue, withdraw } from '../../src/core/notify/queue.ts';
import { type Logger } from '../../src/core/ports/ports.ts';
import { realFileSystem } from '../../src/node/files/fileSystem.ts';
import { realClock } from '../../src/node/realClock.ts';
import { realIds } from '../../src/node/realIds.ts';
import { readSettings } from '../../src/protocol/settings.ts';
import { createStorage } from '../../src/storage/storage.ts';

const [folder = '', id = '', run = ''] = process.argv.slice(2);
const PRODUCERS = 16;
const { settings } = readSettings(() => undefined);
/** Tried again, since with faults every write fails now and then. */
const say = (line: string) => {
  for (let rest = Buffer.from(`${line}\n`); rest.length > 0; ) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      // Nobody reads it any more.
      if ((error as NodeJS.ErrnoException).code === 'EPIPE') throw error;
    }
  }
};
const log: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: (message) => say(`error ${message}`),
};

const storage = createStorage({
  files: realFileSystem,
  folder,
  clock: realClock,
  ids: realIds,
  logger: log,
  window: 'child',
});
const opening = await openOrFollow(storage, id);
if (!opening.ok) throw new Error(opening.failure.message);
const conversation = new ConversationLog({
  id,
  opened: opening.value.opened,
  clock: realClock,
  ids: realIds,
  logger: log,
});
say(conversation.owned ? 'owned' : 'followed');
if (conversation.state.turn.key === '') {
  await conversation.append({ type: 'conversation_started', key: realIds.key() });
}

const kind = { source: 'file', name: 'changed' };
const at = () => new Date().toISOString();

/** Repeats what failed once the log is repaired, as the agent does. */
async function persist(act: () => Promise<unknown>): Promise<void> {
  for (let done = false; !done; ) {
    try {
      await conversation.repair();
      await act();
      done = true;
    } catch (error) {
      say(`failed ${describeError(error)}`);
      await setImmediate();
    }
  }
}

async function produce(producer: number): Promise<never> {
  for (let number = 0; ; number++) {
    const mark = `${run}-${producer}-${number}`;
    const subject = `file:${producer % 8}`;
    const message = `mark ${mark}; ${'x'.repeat(number % 200)}`;
    const draft = { kind, level: 'warning', message, subject, origin: 'filesystem', at: at() } as const;
    await persist(async () => enqueue(conversation, realIds, draft));
    say(`queued ${mark}`);
    if (number % 7 === 6) await persist(async () => withdraw(conversation, kind, subject, 'as it was'));
  }
}

async function deliver(): Promise<never> {
  for (let number = 0; ; number++) {
    await persist(async () => {
      const carrying = collect(conversation, {
        settings: () => settings,
        model: () => ({ contextWindow: 32_000 }),
        clock: { now: Date.now },
        snapshots: { hash: () => '' },
      });
      const content = `request ${run}-${number};`;
      await conversation.append({ type: 'chat_request', content, source: 'user', ...carrying });
    });
    say(`sent ${run}-${number}`);
    const outcome = number % 3 === 0 ? 'aborted' : 'succeeded';
    await persist(async () => conversation.append({ type: 'model_call', model: 'm', outcome }));
  }
}

await Promise.all([deliver(), ...Array.from({ length: PRODUCERS }, (_, producer) => produce(producer))]);
