// The process that the crash test kills. Queues, withdraws and delivers as fast as it can, and prints acknowledgements.
import { writeSync } from 'node:fs';
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
const say = (line: string) => writeSync(1, `${line}\n`);
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

async function produce(producer: number): Promise<never> {
  for (let number = 0; ; number++) {
    const mark = `${run}-${producer}-${number}`;
    const subject = `file:${producer % 8}`;
    await enqueue(conversation, realIds, {
      kind,
      level: 'warning',
      message: `mark ${mark}; ${'x'.repeat(number % 200)}`,
      subject,
      origin: 'filesystem',
      at: at(),
    });
    say(`queued ${mark}`);
    if (number % 7 === 6) await withdraw(conversation, kind, subject, 'as it was');
  }
}

async function deliver(): Promise<never> {
  for (let number = 0; ; number++) {
    const carrying = collect(conversation, {
      settings: () => settings,
      model: () => ({ contextWindow: 32_000 }),
      clock: { now: Date.now },
      snapshots: { hash: () => '' },
    });
    const content = `request ${run}-${number};`;
    await conversation.append({ type: 'chat_request', content, source: 'user', ...carrying });
    say(`sent ${run}-${number}`);
    await conversation.append({ type: 'model_call', model: 'm', outcome: number % 3 === 0 ? 'aborted' : 'succeeded' });
  }
}

await Promise.all([deliver(), ...Array.from({ length: PRODUCERS }, (_, producer) => produce(producer))]);
