// Logs that are read again and again: each time only what was added, however long they are, and all of it after a cut.
import { afterEach, expect, test } from 'vitest';
import { LogReads } from '../../../src/core/client/local/logReads.ts';
import { type ConversationLog } from '../../../src/core/conversation/log.ts';
import { OutsideTree } from '../../../src/core/conversation/outside/outsideTree.ts';
import { type EventDraft, type LogEvent } from '../../../src/protocol/event.ts';
import { FaultyFileSystem } from '../../support/log/faultyFileSystem.ts';
import { memoryWindow, openLog, pathOf, stillClock } from '../../support/log/memoryStorage.ts';

const ID = '01J00000000000000000000000';
const idOf = (number: number) => `01J000000000000000000001${String(number).padStart(2, '0')}`;
const opened: ConversationLog[] = [];

afterEach(async () => {
  for (const log of opened.splice(0)) await log.close();
});

/** Counts the bytes that are read. */
class CountingFiles extends FaultyFileSystem {
  count = 0;

  override async read(path: string) {
    return this.#add(await super.read(path));
  }

  override async readFrom(path: string, offset: number) {
    return this.#add(await super.readFrom(path, offset));
  }

  #add(bytes: Uint8Array | undefined) {
    this.count += bytes?.length ?? 0;
    return bytes;
  }
}

async function begin() {
  const files = new CountingFiles();
  const window = memoryWindow(files);
  const { store } = window.storage;
  const open = async (id: string, drafts: readonly EventDraft[]) => {
    const log = await openLog(window, id);
    opened.push(log);
    for (const draft of drafts) await log.append(draft);
    return log;
  };
  /** The bytes that the work reads. */
  const bytesOf = async (work: () => Promise<unknown>) => {
    const before = files.count;
    await work();
    return files.count - before;
  };
  return { files, store, open, bytesOf };
}

const titles = (count: number): EventDraft[] =>
  Array.from({ length: count }, (_, number) => ({ type: 'title_set', title: `Title ${number}` }));

test('a log is read as a whole once, then from its end, and again as a whole after a cut', async () => {
  const { files, store, open, bytesOf } = await begin();
  const log = await open(ID, titles(3));
  const reader = store.reader(ID);
  const read = async () => {
    const got = await reader.read();
    if (!got.ok) throw new Error(got.failure.message);
    return { whole: got.value.whole, seqs: [...got.value.events].map(({ seq }) => seq), nextSeq: got.value.nextSeq };
  };
  expect(await read()).toEqual({ whole: true, seqs: [1, 2, 3], nextSeq: 4 });
  expect(await read()).toEqual({ whole: false, seqs: [], nextSeq: 4 });
  const whole = await files.read(pathOf(ID));
  await log.append({ type: 'title_set', title: 'The last.' });
  expect(await read()).toEqual({ whole: false, seqs: [4], nextSeq: 5 });
  expect(await bytesOf(read)).toBeLessThanOrEqual(256);
  await files.writeWhole(pathOf(ID), whole ?? new Uint8Array());
  expect(await read()).toEqual({ whole: true, seqs: [1, 2, 3], nextSeq: 4 });
  await files.remove(pathOf(ID));
  expect(await read()).toEqual({ whole: true, seqs: [], nextSeq: 1 });
});

test.each([10, 100])(
  'what related conversations of %d events have is read again for each call without reading their logs again',
  async (length) => {
    const { store, open, bytesOf } = await begin();
    const agents = 20;
    for (let number = 0; number < agents; number += 1) await open(idOf(number), titles(length));
    const started = Array.from({ length: agents }, (_, number): EventDraft => {
      const handle = { name: `agent${number}`, pid: 1, start_time: '1', tool_call_id: 'c' };
      return { type: 'handle_started', ...handle, agent: { conversation: idOf(number) } };
    });
    const log = await open(ID, started);
    const tree = new OutsideTree(store);
    expect(await tree.of(log)).toHaveLength(agents + 1);
    expect(await bytesOf(() => tree.of(log))).toBeLessThanOrEqual(agents * 256);
    const [child] = opened;
    await child?.append({ type: 'title_set', title: 'Another one.' });
    expect(await bytesOf(() => tree.of(log))).toBeLessThanOrEqual((agents + 2) * 256);
  },
);

test.each([10, 100])('a projection of a log of %d events is continued from where it ended', async (length) => {
  const { store, open, bytesOf } = await begin();
  const log = await open(ID, titles(length));
  const reads = new LogReads({ store, clock: stillClock }, () => {
    const seqs: number[] = [];
    return { seqs, fold: ({ seq }: LogEvent) => void seqs.push(seq) };
  });
  const seqs = async () => {
    const read = await reads.read(ID);
    return read.ok ? read.value.seqs : [];
  };
  expect(await seqs()).toHaveLength(length);
  await log.append({ type: 'title_set', title: 'Another one.' });
  expect(await bytesOf(seqs)).toBeLessThanOrEqual(1024);
  expect(await seqs()).toEqual(Array.from({ length: length + 1 }, (_, index) => index + 1));
});
