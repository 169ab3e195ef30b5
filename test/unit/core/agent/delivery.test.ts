// Delivery by carriers: every pending notification once, queued messages uncut, and only complete diffs count as seen.
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { collect, countDeliverable } from '../../../../src/core/agent/delivery.ts';
import { type ConversationLog } from '../../../../src/core/conversation/log.ts';
import { enqueue, withdraw } from '../../../../src/core/notify/queue.ts';
import { fileChanged } from '../../../../src/core/notify/wording/fileChange.ts';
import { realIds } from '../../../../src/node/realIds.ts';
import { FORMATS } from '../../../../src/protocol/event.ts';
import { type NotificationDraft } from '../../../../src/protocol/notification.ts';
import { type Settings } from '../../../../src/protocol/settings.ts';
import { createMemoryLog } from '../../../support/log/memoryLog.ts';
import { defaultSettings, pending, settings, text } from '../../../support/notify/arbitraryNotifications.ts';
import { runs } from '../../../support/runs.ts';

const openLogs: ConversationLog[] = [];

afterEach(() => {
  for (const log of openLogs.splice(0)) log.dispose();
});

async function open(): Promise<ConversationLog> {
  const { log } = await createMemoryLog();
  openLogs.push(log);
  return log;
}

const options = (more: Partial<Settings> = {}) => ({
  settings: { ...defaultSettings, ...more },
  contextWindow: 128_000,
  now: Date.UTC(2026, 0, 1),
});

async function carry(log: ConversationLog, chosen: Partial<Settings> = {}) {
  const { settings: given, contextWindow, now } = options(chosen);
  const ports = {
    settings: () => given,
    model: () => ({ contextWindow }),
    clock: { now: () => now },
    snapshots: { hash: () => '' },
  };
  const { notifications: carried, seen = [] } = collect(log, ports);
  if (carried === undefined) return undefined;
  await log.append({ type: 'chat_request', content: 'x', source: 'user', notifications: carried, seen });
  return { carried, seen };
}

test('for any queue, withdrawals and settings, each id is delivered or withdrawn exactly once and every queued message is delivered', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(pending(12), fc.array(text(300), { maxLength: 2 }), fc.boolean()), { maxLength: 3 }),
      settings,
      fc.constantFrom(...FORMATS),
      async (rounds, chosen, format) => {
        const log = await open();
        const [queued, ended]: [string[], string[]] = [[], []];
        for (const [queue, texts, withdraws] of rounds) {
          for (const notification of queue) {
            await enqueue(log, realIds, notification);
          }
          const before = log.state.pending.notifications.map(({ id }) => id);
          queued.push(...before);
          const [first] = queue;
          if (withdraws && first?.subject !== undefined) await withdraw(log, first.kind, first.subject, 'gone');
          const left = new Set(log.state.pending.notifications.map(({ id }) => id));
          ended.push(...before.filter((id) => !left.has(id)));
          for (const content of texts) await log.append({ type: 'user_text_queued', content });
          const collected = await carry(log, { ...chosen, 'notifications.format': format });
          expect(collected === undefined).toBe(left.size === 0 && texts.length === 0);
          if (collected === undefined) continue;
          const { shown, merged, counted, filtered, user_text, user } = collected.carried;
          expect(new Set([...shown, ...merged, ...counted, ...filtered])).toEqual(left);
          expect(user_text).toHaveLength(texts.length);
          expect(user).toEqual(texts);
          ended.push(...shown, ...merged, ...counted, ...filtered);
          expect(log.state.pending.isEmpty).toBe(true);
        }
        expect(ended.sort()).toEqual(queued.sort());
        expect(new Set(ended).size).toBe(ended.length);
      },
    ),
    { numRuns: runs(100, 300) },
  );
});

const changed = (before: string, after: string): NotificationDraft => ({
  ...fileChanged('a.ts', Buffer.from(before), { bytes: Buffer.from(after), hash: 'hash-of-after' }),
  at: '2026-01-01T00:00:00.000Z',
});

test('a diff shown in full updates the seen version; a cut, merged or filtered diff does not', async () => {
  const log = await open();
  await enqueue(log, realIds, changed('one\n', 'two\n'));
  expect((await carry(log))?.seen).toEqual([{ path: 'a.ts', hash: 'hash-of-after' }]);

  await enqueue(log, realIds, changed('one\n', `${'漢字'.repeat(400)}\n`));
  const cut = await carry(log, { 'notifications.tokenBudget': 300 });
  expect([cut?.carried.shown.length, cut?.seen]).toEqual([1, []]);

  for (let index = 0; index < 6; index += 1) {
    await enqueue(log, realIds, { ...changed('one\n', 'two\n'), subject: `file:${index}.ts` });
  }
  const joined = await carry(log);
  expect([joined?.carried.merged.length, joined?.seen]).toEqual([5, []]);

  await enqueue(log, realIds, changed('one\n', 'two\n'));
  const filtered = await carry(log, { 'notifications.enable': false });
  expect(filtered).toMatchObject({ carried: { text: '', shown: [], filtered: [expect.any(String)] }, seen: [] });
});

test('queued messages do not count against the token budget and are never cut', async () => {
  const log = await open();
  const content = '漢字'.repeat(20_000);
  await log.append({ type: 'user_text_queued', content });
  await enqueue(log, realIds, changed('one\n', 'two\n'));
  const { carried } = (await carry(log)) ?? {};
  expect(carried?.user).toEqual([content]);
  expect(carried?.text).not.toContain('漢字');
  expect(carried?.shown).toHaveLength(1);
});

test('the count of deliverable notifications leaves out filtered kinds', async () => {
  const log = await open();
  await enqueue(log, realIds, changed('one\n', 'two\n'));
  await enqueue(log, realIds, { ...changed('one\n', 'two\n'), kind: { source: 'mcp', name: 'x' } });
  expect(countDeliverable(log, options()).total).toBe(2);
  expect(countDeliverable(log, options({ 'notifications.kinds': { mcp: { enable: false } } })).total).toBe(1);
});
