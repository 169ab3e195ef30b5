// The index with records of several machines that arrive in any order.
import * as sqlite from 'node:sqlite';
import { expect, test } from 'vitest';
import { type StoredRecord } from '../../../src/hub/hubWriter.ts';
import { MessageIndex } from '../../../src/hub/index/messageIndex.ts';
import { type MessageRecord, type ThreadHead } from '../../../src/protocol/hub.ts';
import { recordOf } from '../../support/nats/rawRecords.ts';

function indexOf(...records: readonly object[]): MessageIndex {
  const index = MessageIndex.create(sqlite, ':memory:');
  const stored = records.map((record, at) => ({ ...record, n: at + 1 }) as MessageRecord);
  index.apply(stored.map((record): StoredRecord => ({ file: 'received/x.jsonl', end: record.n, record })));
  return index;
}

function threadFrom(root: string, id: string): ThreadHead {
  return { thread_id: id, title: id, created_by: 'x', created_at: '2026', scopes: [], root };
}

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, at) => permutations(items.toSpliced(at, 1)).map((rest) => [item, ...rest]));
}

test('if two machines reply to one message at the same time, it is in the same thread everywhere, in any order of arrival', () => {
  const root = recordOf('asker', 'question');
  const reply = (machine: string, thread: string) =>
    recordOf(machine, 'answer', { machine, reply_to: root.message_id, thread: threadFrom(root.message_id, thread) });
  const { root: _, ...later } = threadFrom(root.message_id, 'thr_1');
  const records = [
    root,
    reply('alpha', 'thr_2'),
    reply('beta', 'thr_1'),
    recordOf('asker', 'thanks', { thread: later }),
  ];
  for (const order of permutations(records)) {
    const index = indexOf(...order);
    expect(index.get(root.message_id, '')?.thread_id).toBe('thr_1');
    index.close();
  }
});

test('the thread that a message was sent in is not changed by a reply that names it as its root', () => {
  const own = recordOf('asker', 'in its own thread', { thread: { ...threadFrom('', 'thr_9'), root: undefined } });
  const reply = recordOf('forger', 'x', { machine: 'beta', thread: threadFrom(own.message_id, 'thr_0') });
  const index = indexOf(own, reply);
  expect(index.get(own.message_id, '')?.thread_id).toBe('thr_9');
  index.close();
});

test('another machine’s edit, a second copy of an edit, and a client_id of another machine change nothing', () => {
  const message = recordOf('amber', 'one', { machine: 'alpha', client_id: 'c' });
  const head = { v: 1, timestamp: '2026', message_id: message.message_id };
  const edit = { ...head, event_id: 'e1', type: 'message.edit', author: 'amber', content: 'two', machine: 'alpha' };
  const foreign = { ...edit, event_id: 'e2', content: 'foreign', machine: 'beta' };
  const local = { ...edit, event_id: 'e3', content: 'local', machine: undefined };
  const same = recordOf('amber', 'another', { machine: 'beta', client_id: 'c' });
  const index = indexOf(message, foreign, edit, edit, local, same);
  expect(index.get(message.message_id, '')).toMatchObject({ body: { content: 'two' }, version: 2 });
  expect(index.count).toBe(2);
  expect([index.has('e1'), index.has('e4'), index.byClientId('amber', 'c')]).toEqual([true, false, undefined]);
  expect(index.lastMachineOf('amber')).toBe('beta');
  index.close();
});

test('a page ends before it gets too long, but has at least one message', () => {
  const scopes = Array.from({ length: 100 }, () => ({ type: 'x', value: 'y'.repeat(4000) }));
  const index = indexOf(...[1, 2, 3].map(() => recordOf('amber', 'z'.repeat(900_000), { scopes })));
  const bodies = (after: number | undefined, limit = 100) => index.list({}, 'reader', limit, after);
  expect([bodies(0).messages.length, bodies(0).more]).toEqual([1, true]);
  expect([bodies(2).messages.length, bodies(2).more]).toEqual([1, false]);
  expect(bodies(undefined).messages.map(({ cursor }) => cursor)).toEqual(['c3']);
  index.close();
});
