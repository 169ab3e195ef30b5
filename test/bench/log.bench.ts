// Measures the log: a cycle late in a conversation, opening a long conversation, and the memory of many notifications.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { collect } from '../../src/core/agent/delivery.ts';
import { ConversationLog } from '../../src/core/conversation/log.ts';
import { enqueue } from '../../src/core/notify/queue.ts';
import { type EventFile, type ReadLog } from '../../src/core/ports/storage.ts';
import { realFileSystem } from '../../src/node/files/fileSystem.ts';
import { realClock } from '../../src/node/realClock.ts';
import { realIds } from '../../src/node/realIds.ts';
import { EVENT_VERSION, type EventDraft, type LogEvent } from '../../src/protocol/event.ts';
import { type NotificationDraft } from '../../src/protocol/notification.ts';
import { readSettings } from '../../src/protocol/settings.ts';
import { createStorage } from '../../src/storage/storage.ts';
import { recordingLogger } from '../support/recordingLogger.ts';
import { measure } from './measure.ts';

const { settings } = readSettings(() => undefined);
const log = recordingLogger([]);
const parts = { clock: realClock, ids: realIds, logger: log };
const folder = await mkdtemp(join(tmpdir(), 'earshot-bench-'));
const { store } = createStorage({ files: realFileSystem, folder, window: 'bench', ...parts });

function draftOf(number: number): NotificationDraft {
  const path = `src/folder/file${number % 200}.ts`;
  return {
    kind: { source: 'file', name: 'changed' },
    level: 'warning',
    message: `${path} changed since you read it (+1 −1):\n@@ -10,3 +10,3 @@\n a\n-b${number}\n+c${number}\n d`,
    subject: `file:${path}`,
    scopes: [`file:${path}`],
    data: { path, hash: String(number).padStart(64, '0'), complete: true },
    origin: 'filesystem',
    at: new Date(1_700_000_000_000 + number).toISOString(),
  };
}

/** How a request was printed, as every call of a model has it. */
const printed = {
  ...({ api: 'responses', base_url: 'https://api.openai.com/v1', model: 'gpt-6-sol', conversation: 'c' } as const),
  ...{ bytes: 480_000, crc: 0x1234_5678, temperature: 0.5, max_tokens: 32_000 },
};
const outsideFile = { type: 'file', name: '/home/me/notes.txt' } as const;

/** A typical log: cycles with calls and carriers, compacted before the context window is full. */
function history(length: number): LogEvent[] {
  const drafts: EventDraft[] = [{ type: 'conversation_started', key: realIds.key() }];
  const next = () => drafts.length + 1;
  for (let cycle = 0; drafts.length < length; cycle++) {
    if (cycle % 10 === 0) {
      drafts.push({ type: 'turn_started', source: 'user' });
      drafts.push({ type: 'chat_request', content: `Do the ${cycle}th thing, please.`, source: 'user' });
    }
    const ids = [0, 1, 2].map(() => {
      const id = realIds.ulid();
      drafts.push({ type: 'notification_queued', notification: { ...draftOf(next()), id } });
      return id;
    });
    drafts.push({ type: 'chat_response', message: `I shall look into it, now for the ${cycle}th time.` });
    const id = `call-${cycle}`;
    drafts.push({ type: 'tool_call_request', id, name: 'read_file', arguments: { path: `src/file${cycle % 50}.ts` } });
    drafts.push({ type: 'model_call', model: 'm', outcome: 'succeeded', sent: { ...printed, through: next() - 3 } });
    const notifications = {
      format: 'xml',
      text: `<notifications>${'x'.repeat(400)}</notifications>`,
      through: next() - 1,
      user_text: [],
      shown: ids,
      merged: [],
      counted: [],
      filtered: [],
    } as const;
    const carried = { ...notifications, user_text: [], shown: [...ids], merged: [], counted: [], filtered: [] };
    drafts.push({
      type: 'tool_call_response',
      id,
      content: 'line of code\n'.repeat(40),
      is_error: false,
      ...(cycle % 3 === 0 && { outside: outsideFile }),
      notifications: carried,
    });
    if (cycle % 10 === 9) drafts.push({ type: 'turn_ended', outcome: 'done' });
    if (cycle % 13 === 12) drafts.push({ type: 'compaction', summary: 'What happened so far.', through: next() - 1 });
  }
  return drafts.slice(0, length).map((draft, index) => {
    const envelope = {
      v: EVENT_VERSION,
      seq: index + 1,
      event_id: realIds.ulid(),
      timestamp: new Date().toISOString(),
    };
    return { ...envelope, ...draft } as LogEvent;
  });
}

/** Writes nothing, so that only Earshot itself is measured. */
const nowhere: EventFile = {
  append: () => Promise.resolve(),
  repair: () => Promise.resolve({ events: [], nextSeq: 1, damage: [] }),
  close: () => Promise.resolve(),
};

function inMemory(events: readonly LogEvent[]): ConversationLog {
  const read: ReadLog = { events, nextSeq: (events.at(-1)?.seq ?? 0) + 1, damage: [] };
  return new ConversationLog({ id: realIds.ulid(), opened: { ...read, file: nowhere }, ...parts });
}

/** Cycles as the loop makes them, and a compaction at the end, so that the next round starts from the same size. */
async function cycles(conversation: ConversationLog, count: number): Promise<number> {
  for (let number = 0; number < count; number++) {
    await enqueue(conversation, realIds, draftOf(number));
    const request = conversation.state.messages.all;
    const id = realIds.ulid();
    await Promise.all([
      conversation.append({ type: 'chat_response', message: `Cycle after ${request.length} messages.` }),
      conversation.append({ type: 'tool_call_request', id, name: 'read_file', arguments: { path: 'a.ts' } }),
      conversation.append({
        ...{ type: 'model_call', model: 'm', outcome: 'succeeded' },
        sent: { ...printed, through: conversation.state.turn.lastSeq },
      }),
    ]);
    const carrying = collect(conversation, {
      settings: () => settings,
      model: () => ({ contextWindow: 128_000 }),
      clock: { now: Date.now },
      snapshots: { hash: () => '' },
    });
    const response = { type: 'tool_call_response', id, content: 'text\n'.repeat(50), is_error: false } as const;
    const outside = number % 3 === 0 ? { outside: outsideFile } : {};
    const event = await conversation.append({ ...response, ...outside, ...carrying });
    if (number % 20 === 19) await conversation.append({ type: 'compaction', summary: 'So far.', through: event.seq });
  }
  return count;
}

const long = history(100_000);

const [early, late] = [inMemory(history(100)), inMemory(long)];
await measure({
  what: 'one cycle at event 100,000 (without the disk)',
  control: 'the same at event 100',
  goal: 1.2,
  runControl: () => cycles(early, 400),
  runEarshot: () => cycles(late, 400),
});

const onDisk = await Promise.all(
  [history(100), long].map(async (events) => {
    const id = realIds.ulid();
    await store.create(id, events);
    const opened = await store.open(id);
    if (!opened.ok) throw new Error(opened.failure.message);
    return new ConversationLog({ id, opened: opened.value, ...parts });
  }),
);
const [earlyOnDisk, lateOnDisk] = onDisk;
if (earlyOnDisk === undefined || lateOnDisk === undefined) throw new Error('a conversation is not open');
await measure({
  what: 'one cycle at event 100,000 (durable)',
  control: 'the same at event 100',
  goal: 1.2,
  runControl: () => cycles(earlyOnDisk, 200),
  runEarshot: () => cycles(lateOnDisk, 200),
});
for (const conversation of onDisk) await conversation.close();

const id = realIds.ulid();
await store.create(id, long);
const path = join(folder, 'conversations', id, 'events.jsonl');
let parsed: unknown[] = [];
await measure({
  what: 'opening a conversation of 100,000 events',
  control: 'reading the file and JSON.parse of each line',
  goal: 2,
  runControl: async () => {
    parsed = (await readFile(path, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    if (parsed.length !== long.length) throw new Error('not all events were read');
    parsed = [];
  },
  runEarshot: async () => {
    const opened = await store.open(id);
    if (!opened.ok) throw new Error(opened.failure.message);
    const conversation = new ConversationLog({ id, opened: opened.value, ...parts });
    if (conversation.damage.length > 0) throw new Error('the log is damaged');
    await conversation.close();
  },
});
await rm(folder, { recursive: true, force: true });

await memory();

/** Memory of notifications that all stay pending. */
async function memory(): Promise<void> {
  const used = () => {
    (globalThis as { gc?: () => void }).gc?.();
    const { heapUsed, external } = process.memoryUsage();
    return (heapUsed + external) / 1e6;
  };
  const conversations = Array.from({ length: 100 }, () => inMemory([]));
  const before = used();
  for (let number = 0; number < 10_000; number++) {
    await Promise.all(conversations.map((conversation) => enqueue(conversation, realIds, draftOf(number))));
  }
  const growth = used() - before;
  const pending = conversations.reduce((sum, conversation) => sum + conversation.state.pending.count, 0);
  const met = growth <= 200 && pending === 1_000_000;
  console.log('one million notifications to 100 conversations, all pending');
  console.log(`  memory grows by ${growth.toFixed(0)} MB (goal ≤ 200, ${met ? 'met' : 'MISSED'}); ${pending} pending`);
  if (!met) process.exitCode = 1;
}
