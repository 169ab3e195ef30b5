// Measures the queue: publishing with many subscriptions, planning many pending notifications, and durable queueing.
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DisposableStore } from '../../src/base/disposable.ts';
import { formatBlock } from '../../src/core/agent/delivery.ts';
import { ConversationLog } from '../../src/core/conversation/log.ts';
import { estimateTokens } from '../../src/core/conversation/tokens.ts';
import { Dispatcher, SubscriptionIndex } from '../../src/core/notify/dispatcher.ts';
import { planNotifications } from '../../src/core/notify/plan.ts';
import { realFileSystem } from '../../src/node/files/fileSystem.ts';
import { realClock } from '../../src/node/realClock.ts';
import { realIds } from '../../src/node/realIds.ts';
import { type Notification, type NotificationDraft } from '../../src/protocol/notification.ts';
import { readSettings } from '../../src/protocol/settings.ts';
import { createStorage } from '../../src/storage/storage.ts';
import { recordingLogger } from '../support/recordingLogger.ts';
import { measure } from './measure.ts';

const { settings } = readSettings(() => undefined);

// Publishing. Ten subscriptions match; all others are for other files, folders and extensions.
const MATCHING = 10;
function subscribed(count: number): SubscriptionIndex {
  const subscriptions = new SubscriptionIndex();
  const held = new DisposableStore();
  for (let index = 0; index < MATCHING; index += 1) {
    held.add(
      subscriptions.subscribe(`match${index}`, { scope: index % 2 === 0 ? 'file:src/app.ts' : 'glob:src/**/*.ts' }),
    );
  }
  for (let index = 0; index < count - MATCHING; index += 1) {
    const scopes = [`file:src/f${index}.ts`, `glob:packages/p${index}/**/*.ts`, `glob:**/name${index}.ts`];
    held.add(subscriptions.subscribe(`other${index}`, { scope: scopes[index % 3] ?? '' }));
  }
  return subscriptions;
}

function publishAll(subscriptions: SubscriptionIndex): number {
  const published = 60_000;
  for (let index = 0; index < published; index += 1) {
    if (subscriptions.listeners({ scopes: ['file:src/app.ts'] }).size !== MATCHING)
      throw new Error('not ten listeners');
  }
  return published;
}

const [few, many] = [subscribed(100), subscribed(10_000)];
await measure({
  what: 'publish with 10,000 subscriptions',
  control: 'with 100, equal matches',
  goal: 1.3,
  clock: 'processor',
  runControl: () => publishAll(few),
  runEarshot: () => publishAll(many),
});

// Planning. The work for each notification must not grow with their number.
function pending(count: number): Notification[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `n${index}`,
    kind: { source: `source${index % 40}`, name: `name${index % 7}` },
    level: index % 100 === 0 ? 'error' : 'info',
    message: `something happened to file ${index}\n${'a line of text\n'.repeat(10)}`,
    subject: `file:src/folder${index % 50}/file${index % 3000}.ts`,
    origin: 'host',
    at: new Date(index * 1000).toISOString(),
  }));
}

function plan(queue: readonly Notification[]): number {
  const repeats = Math.max(1, 60_000 / queue.length);
  for (let repeat = 0; repeat < repeats; repeat += 1) {
    const measureBlock = (outline: Parameters<typeof formatBlock>[1]['plan']) =>
      estimateTokens(formatBlock('xml', { plan: outline, key: 'k7QdQ8vXw2Lm', now: Date.now() }));
    const made = planNotifications({ pending: queue, settings, contextWindow: 128_000, measure: measureBlock });
    if (made.total !== queue.length) throw new Error('the plan lost notifications');
  }
  return repeats * queue.length;
}

const [thousand, tenThousand] = [pending(1000), pending(10_000)];
await measure({
  what: 'plan with 10,000 pending, for each of them',
  control: 'with 1,000',
  goal: 1.3,
  clock: 'processor',
  runControl: () => plan(thousand),
  runEarshot: () => plan(tenThousand),
});

// Queueing. Twice the control's time is half its rate.
const PRODUCERS = 64;
const ROUNDS = 200;
const folder = await mkdtemp(join(tmpdir(), 'earshot-bench-'));
const log = recordingLogger([]);
const { store } = createStorage({
  files: realFileSystem,
  folder,
  clock: realClock,
  ids: realIds,
  logger: log,
  window: 'bench',
});
const opened = await store.open(realIds.ulid());
if (!opened.ok) throw new Error(opened.failure.message);
const conversation = new ConversationLog({
  id: realIds.ulid(),
  opened: opened.value,
  clock: realClock,
  ids: realIds,
  logger: log,
});
const subscriptions = new Dispatcher({ ids: realIds, repair: () => conversation.repair() });
const joined = subscriptions.join(conversation);
const draft: NotificationDraft = {
  kind: { source: 'task', name: 'ended' },
  level: 'info',
  message: 'the task build ended with exit code 0 after 12 s\n'.repeat(6),
  subject: 'task:build',
  origin: 'process',
  at: new Date().toISOString(),
};
const line = Buffer.from(
  `${JSON.stringify({ v: 1, seq: 1000, event_id: realIds.ulid(), timestamp: draft.at, type: 'notification_queued', notification: { ...draft, id: realIds.ulid() }, crc: 4_000_000_000 })}\n`,
);
const bare = await open(join(folder, 'bare'), 'a');
await measure({
  what: `queueing, durable, ${PRODUCERS} producers at once`,
  control: 'appending and syncing the same bytes in equal groups',
  goal: 2,
  runControl: async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await bare.appendFile(Buffer.concat(Array.from({ length: PRODUCERS }, () => line)));
      await bare.datasync();
    }
    return ROUNDS * PRODUCERS;
  },
  runEarshot: async () => {
    // Each producer waits only for its own notification to be on disk.
    const producer = async () => {
      for (let round = 0; round < ROUNDS; round += 1) await subscriptions.publish(draft);
    };
    await Promise.all(Array.from({ length: PRODUCERS }, producer));
    return ROUNDS * PRODUCERS;
  },
});
joined.dispose();
await conversation.close();
await bare.close();
await rm(folder, { recursive: true, force: true });
