// Acknowledged events stay on disk, failed ones are removed, damage is reported.
import { expect, test } from 'vitest';
import { FailureError } from '../../../src/base/errors.ts';
import { enqueue } from '../../../src/core/notify/queue.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { LineBuffer } from '../../../src/storage/eventFile.ts';
import { describeState, draftOf, memoryWindow, openLog, pathOf } from '../../support/log/memoryStorage.ts';

const ID = '01J00000000000000000000000';

function eventOf(seq: number, more: object = { type: 'title_set', title: `title ${seq}` }): LogEvent {
  return { v: 1, seq, event_id: `event-${seq}`, timestamp: '2026-01-02T03:04:05.000Z', ...more } as LogEvent;
}
function line(seq: number, more?: object): string {
  const lines = new LineBuffer();
  lines.add(eventOf(seq, more));
  return Buffer.from(lines.bytes).toString();
}

/** Opens a log with these bytes. */
async function openWith(bytes: string | Uint8Array) {
  const window = memoryWindow();
  await window.files.makeFolder(pathOf(ID, '..').replace('/..', ''));
  window.files.poke(pathOf(ID), Buffer.from(bytes));
  const opened = await window.storage.store.open(ID);
  if (!opened.ok) throw new Error(opened.failure.message);
  const { file, events, nextSeq, damage } = opened.value;
  await file.append(eventOf(nextSeq, { type: 'title_set', title: 'after' }));
  await file.close();
  const rest = window.files.peek(pathOf(ID)).toString();
  return {
    window,
    seqs: [...events].map((event) => event.seq),
    nextSeq,
    damage: damage.map(({ message }) => message),
    rest,
  };
}

const torn = (window: ReturnType<typeof memoryWindow>) =>
  window.files.paths.filter((path) => path.includes('.torn-')).map((path) => window.files.peek(path).toString());

test('appends that arrive during a sync share the next one', async () => {
  const window = memoryWindow();
  const log = await openLog(window, ID);
  window.files.points.length = 0;
  await Promise.all(Array.from({ length: 100 }, (_, index) => enqueue(log, window.ids, draftOf(`a${index}`))));
  const syncs = window.files.points.filter(({ name }) => name === 'sync:before events.jsonl');
  expect(syncs.length).toBeLessThanOrEqual(2);
  await log.close();
});

test('an empty file and a missing one are an empty log', async () => {
  expect(await openWith('')).toMatchObject({ seqs: [], nextSeq: 1, damage: [] });
});

test('a partial last line is cut off and kept next to the log under an unused name', async () => {
  const half = line(3).slice(0, 30);
  const { window, seqs, damage, rest } = await openWith(line(1) + line(2) + half);
  expect({ seqs, damage, torn: torn(window) }).toEqual({ seqs: [1, 2], damage: [], torn: [half] });
  expect(rest).toBe(line(1) + line(2) + line(3, { type: 'title_set', title: 'after' }));
  // The same case again, with the same length.
  window.files.poke(pathOf(ID), Buffer.from(line(1) + line(2) + 'other'));
  const again = await window.storage.store.open(ID);
  if (again.ok) await again.value.file.close();
  expect(torn(window).sort()).toEqual([half, 'other'].sort());
});

test('zeros at the end, as a power loss leaves them, are cut off', async () => {
  const bytes = Buffer.concat([Buffer.from(line(1)), Buffer.alloc(4096)]);
  expect(await openWith(bytes)).toMatchObject({ seqs: [1], nextSeq: 2, damage: [] });
});

test('a damaged line in the middle stays, is reported, and the rest opens', async () => {
  const spoilt = line(2).replace('title 2', 'title X');
  const { seqs, nextSeq, damage, rest } = await openWith(line(1) + spoilt + line(3));
  expect({ seqs, nextSeq }).toEqual({ seqs: [1, 3], nextSeq: 4 });
  expect(damage).toEqual([
    'Line 2 of this conversation’s log is damaged (its checksum does not fit) and was left out; the rest is intact.',
  ]);
  expect(rest.startsWith(line(1) + spoilt + line(3))).toBe(true);
});

test('complete damaged lines at the end are cut off, kept and reported', async () => {
  const spoilt = line(2).replace('title 2', 'title X');
  const { window, seqs, damage } = await openWith(line(1) + spoilt);
  expect({ seqs, torn: torn(window) }).toEqual({ seqs: [1], torn: [spoilt] });
  expect(damage).toEqual(['The end of this conversation’s log is damaged and was removed; the rest is intact.']);
});

test('a log with only damaged lines starts empty, and its bytes are kept', async () => {
  const bytes = 'one\ntwo\n{"v":1}\n';
  const { window, seqs, nextSeq, damage } = await openWith(bytes);
  expect({ seqs, nextSeq, torn: torn(window) }).toEqual({ seqs: [], nextSeq: 1, torn: [bytes] });
  expect(damage).toEqual(['This conversation’s log cannot be read at all, so the conversation starts empty.']);
});

test('events of unknown types and newer versions are preserved and ignored, and their numbers are not reused', async () => {
  const newer = line(2, { type: 'of_tomorrow', what: 1 }) + line(3, { v: 7, type: 'title_set', title: 1 });
  const { seqs, nextSeq, damage, rest } = await openWith(line(1) + newer);
  expect({ seqs, nextSeq, damage }).toEqual({ seqs: [1], nextSeq: 4, damage: [] });
  expect(rest.startsWith(line(1) + newer)).toBe(true);
});

test('an event whose number does not rise is skipped and reported; a gap is reported', async () => {
  const { seqs, nextSeq, damage } = await openWith(line(1) + line(2) + line(2) + line(1) + line(5));
  expect({ seqs, nextSeq }).toEqual({ seqs: [1, 2, 5], nextSeq: 6 });
  expect(damage).toEqual([
    'Line 3 of this conversation’s log is damaged (it has the number 2, which was used before: another program wrote here) and was left out; the rest is intact.',
    'Line 4 of this conversation’s log is damaged (it has the number 1, which was used before: another program wrote here) and was left out; the rest is intact.',
    'Line 5 of this conversation’s log does not follow the one before: before it, events 3 to 4 are missing.',
  ]);
});

test('a thousand damaged lines are reported in a few sentences', async () => {
  const { damage } = await openWith(line(1) + 'x\n'.repeat(1000) + line(2));
  expect(damage).toHaveLength(6);
  expect(damage.at(-1)).toBe('995 more lines of this conversation’s log are damaged and were left out.');
  const { damage: six } = await openWith(line(1) + 'x\n'.repeat(6) + line(2));
  expect(six.at(-1)).toBe('One more line of this conversation’s log is damaged and was left out.');
});

test('an invalid event is not written and changes nothing', async () => {
  const window = memoryWindow();
  const log = await openLog(window, ID);
  await expect(log.append({ type: 'title_set', title: 5 as unknown as string })).rejects.toThrow(/title_set: title/);
  await log.append({ type: 'title_set', title: 'fine' });
  await log.close();
  expect(window.files.peek(pathOf(ID)).toString()).toContain('"seq":1');
});

test.each(['append:before', 'append:half', 'append:after', 'sync:before', 'sync:after'])(
  'after a write that failed at %s the log equals the file, and works again once the disk does',
  async (name) => {
    const window = memoryWindow();
    const { files } = window;
    const log = await openLog(window, ID);
    await log.append({ type: 'conversation_started', key: 'key-of-a-conversation' });
    await enqueue(log, window.ids, draftOf('kept'));
    const before = describeState(log.state);
    // The disk is full for a while: nothing can be written or removed.
    files.faults.at = (point) =>
      /^(append|sync|truncate|open)/.test(point.name) && point.name.endsWith(' events.jsonl') ? 'ENOSPC' : undefined;
    let left = true;
    const all = files.faults.at;
    files.faults.at = (point) =>
      left && point.name !== `${name} events.jsonl` ? undefined : ((left = false), all(point));

    const lost = [
      enqueue(log, window.ids, draftOf('lost')),
      log.append({ type: 'chat_request', content: 'lost too', source: 'user' }),
    ];
    for (const result of await Promise.allSettled(lost)) {
      expect(result).toMatchObject({ status: 'rejected', reason: expect.any(FailureError) as unknown });
    }
    expect(log.isBroken).toBe(true);
    await expect(log.repair()).rejects.toMatchObject({
      failure: { code: 'storage', nextStep: expect.stringContaining('disk space') as unknown },
    });
    await expect(enqueue(log, window.ids, draftOf('refused'))).rejects.toBeInstanceOf(FailureError);

    files.faults = {};
    await log.repair();
    expect(describeState(log.state)).toEqual(before);
    await enqueue(log, window.ids, draftOf('after'));
    const state = describeState(log.state);
    await log.close();
    const reopened = await openLog(window, ID);
    expect(describeState(reopened.state)).toEqual(state);
    expect(reopened.state.pending.notifications.map(({ subject }) => subject)).toEqual(['file:kept', 'file:after']);
    expect(reopened.damage).toEqual([]);
    await reopened.close();
  },
);
