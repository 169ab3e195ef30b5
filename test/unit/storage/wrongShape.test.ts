// Lines with a correct checksum that are not valid events are skipped like damaged ones; the log and the list still
// open.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openOrFollow } from '../../../src/core/conversation/opening.ts';
import { type EventDraft, type LogEvent } from '../../../src/protocol/event.ts';
import { endOfLine } from '../../../src/storage/line.ts';
import { readEvents } from '../../../src/storage/readEvents.ts';
import {
  call,
  numbered,
  queued,
  request,
  result,
  started,
  succeededCall,
  turnStarted,
} from '../../support/log/events.ts';
import { memoryWindow, notificationOf, openLog, pathOf } from '../../support/log/memoryStorage.ts';
import { runs } from '../../support/runs.ts';
import { freeLock } from '../../support/walk/bareServices.ts';

const A = '01J0000000000000000000000A';
const B = '01J0000000000000000000000B';

function lineOf(value: unknown): string {
  const json = JSON.stringify(value);
  return json.slice(0, -1) + endOfLine(json);
}

function logOf(values: readonly unknown[]): Buffer {
  return Buffer.from(values.map(lineOf).join(''));
}

/** One event of each type that projections read. */
const drafts: readonly EventDraft[] = [
  started,
  turnStarted,
  { ...request('Go.'), attachments: [{ type: 'file_content', path: 'a', content: 'b' }] } as EventDraft,
  { type: 'chat_response', message: 'Yes.' },
  call('a'),
  succeededCall,
  { type: 'approval', tool_call_id: 'a', action: 'approve', by: 'user' },
  { type: 'checkpoint_taken', reason: 'command', checkpoint: 'c', tool_call_id: 'a' },
  queued(notificationOf('n', 's')),
  { type: 'user_text_queued', content: 'Wait.' },
  { type: 'handle_started', name: 'h', pid: 1, start_time: 't', tool_call_id: 'a' },
  result('a', 11, ['n'], { user_text: ['event-10'] }),
  { type: 'inquiry_request', id: 'q', question: '?', tool_call_id: 'a' },
  { type: 'inquiry_response', id: 'q', answer: ['x'], by: 'user' },
  { type: 'notification_withdrawn', ids: ['n'], reason: 'r' },
  { type: 'user_text_withdrawn', ids: ['event-10'], reason: 'r' },
  { type: 'changes_reviewed', action: 'undo', files: [{ path: 'a', through: 3 }] },
  { type: 'config_used', model: 'm', mode: 'agent', tools: ['t'], instructions: [{ name: 'n', hash: 'h' }] },
  { type: 'compaction', summary: 'So far.', through: 12 },
  { type: 'turn_ended', outcome: 'error', failure: { code: 'bug', message: 'm' } },
  { type: 'title_set', title: 'T' },
  { type: 'forked', from: 'x', through: 3 },
  request('And now?'),
];

const events: readonly LogEvent[] = numbered(...drafts);

/** Every place in a value, as a path of keys. */
function placesIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, inner]) => placesIn(inner, [...path, key]))];
}

function replaced(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by;
  // Undefined values are not printed.
  const inner = (value as Record<string, unknown>)[key];
  const copy = { ...(value as Record<string, unknown>), [key]: replaced(inner, rest, by) };
  return Array.isArray(value) ? Object.values(copy) : copy;
}

const odd = fc.constantFrom<unknown>(undefined, null, 7, -1.5, 'text', true, [], [null], {}, { length: 3 }, [['x']]);

test('with any wrong value anywhere in any event, the log opens and invalid lines are reported', async () => {
  const places = events.flatMap((event, index) =>
    placesIn(event)
      .filter((path) => path.length > 0 && path[0] !== 'v' && path[0] !== 'seq')
      .map((path) => ({ index, path })),
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...places), odd, async ({ index, path }, by) => {
      const window = memoryWindow();
      await window.storage.store.create(A, events);
      window.files.poke(
        pathOf(A),
        logOf(events.map((event, at) => (at === index ? replaced(event, path, by) : event))),
      );
      const log = await openLog(window, A);
      expect(log.damage.length).toBeLessThanOrEqual(1);
      expect(log.state.messages.all.length).toBeGreaterThanOrEqual(0);
      await log.append({ type: 'title_set', title: 'It goes on' });
      await log.close();
    }),
    { numRuns: runs(400, 1500) },
  );
});

test('a line with a right checksum and a wrong shape is skipped and reported, and opening continues', async () => {
  const window = memoryWindow();
  const bad = [
    { v: 1, seq: 3, event_id: 'x', timestamp: '2026-01-02T03:04:05.000Z', type: 'notification_queued' },
    { v: 1, seq: 4, event_id: 'x', timestamp: '2026-01-02T03:04:05.000Z', type: 'chat_request', content: 5 },
  ];
  await window.storage.store.create(A, []);
  window.files.poke(pathOf(A), logOf([...events.slice(0, 2), ...bad, { ...events[2], seq: 5 }]));
  const opened = await openOrFollow({ store: window.storage.store, lock: freeLock }, A);
  expect(opened.ok).toBe(true);
  const log = await openLog(window, A);
  expect(log.damage.map(({ message }) => message)).toEqual([
    expect.stringMatching(
      /^Line 3 of .* is damaged \(it is no notification_queued: notification: .*\) and was left out/,
    ),
    expect.stringMatching(/^Line 4 of .* is damaged \(it is no chat_request: content: .*\) and was left out/),
  ]);
  expect(log.state.messages.all).toHaveLength(1);
  await log.close();
});

test('a line with two numbers, or with data too deep for the stack, is skipped', () => {
  const [first, second] = events;
  const twice = JSON.stringify({ ...second, end: 1 }).replace('"end":1', '"seq":1');
  const deep = JSON.stringify({ ...numbered(started, turnStarted, call('a'))[2] }).replace(
    '{"path":"a.ts"}',
    `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`,
  );
  const lines = [lineOf(first), twice.slice(0, -1) + endOfLine(twice), deep.slice(0, -1) + endOfLine(deep)];
  const read = readEvents(Buffer.from(lines.join('')));
  expect([...read.events].map(({ seq }) => seq)).toEqual([1]);
  // When read again, the line is not reported again.
  expect([...read.events]).toHaveLength(1);
  expect(read.damage).toHaveLength(2);
});

test('a failure code of another version is accepted', () => {
  const failure = { code: 'of_a_later_version', message: 'm' };
  const read = readEvents(logOf([{ ...numbered(started)[0], type: 'turn_ended', outcome: 'error', failure }]));
  expect([...read.events]).toMatchObject([{ failure }]);
  expect(read.damage).toEqual([]);
});

test('fields of a later version are accepted', () => {
  const read = readEvents(logOf([{ ...events[0], later: { any: 'thing' } }]));
  expect([...read.events]).toHaveLength(1);
  expect(read.damage).toEqual([]);
});

test('an unreadable conversation is listed as such, with the others', async () => {
  const window = memoryWindow();
  await window.storage.store.create(A, numbered(started, request('Hello')));
  await window.storage.store.create(B, numbered(started, request('Bad')));
  window.files.poke(
    pathOf(B),
    logOf([
      { v: 1, seq: 1, type: 'chat_request' },
      { v: 1, seq: 2, type: 'title_set' },
    ]),
  );
  const list = await window.storage.store.list();
  expect(list.ok && list.value.map(({ id, title }) => [id, title]).sort()).toEqual([
    [A, 'Hello'],
    [B, ''],
  ]);
  let reads = 0;
  window.files.faults.at = ({ name }) => {
    if (name !== 'read events.jsonl') return undefined;
    reads += 1;
    return reads === 2 ? 'EIO' : undefined;
  };
  const faulty = await window.storage.store.list();
  expect(faulty.ok && faulty.value.map(({ title, problem }) => [title, problem]).sort()).toEqual([
    ['', expect.stringContaining('EIO') as unknown],
    ['Hello', undefined],
  ]);
});
