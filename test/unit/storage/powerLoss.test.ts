// Power loss at every point of a scenario: nothing acknowledged is lost, and the log always opens.
import { beforeEach, expect, test } from 'vitest';
import { setDisposableTracker } from '../../../src/base/disposable.ts';
import { collect } from '../../../src/core/agent/delivery.ts';
import { compactionDraft, safeCompactionPoint } from '../../../src/core/conversation/compact.ts';
import { forkEvents, forkPoints } from '../../../src/core/conversation/fork.ts';
import { type ConversationLog } from '../../../src/core/conversation/log.ts';
import { enqueue, withdraw } from '../../../src/core/notify/queue.ts';
import { type EventDraft, type LogEvent } from '../../../src/protocol/event.ts';
import { readSettings } from '../../../src/protocol/settings.ts';
import { FaultyFileSystem } from '../../support/log/faultyFileSystem.ts';
import { parseLines, settle } from '../../support/log/logOracle.ts';
import {
  countingIds,
  draftOf,
  type MemoryWindow,
  memoryWindow,
  openLog,
  pathOf,
} from '../../support/log/memoryStorage.ts';

// A program that lost power cannot dispose of anything, so leaks are not tracked.
beforeEach(() => setDisposableTracker(undefined));

const ID = '01J00000000000000000000000';
const FORK = '01J00000000000000000000001';
const { settings } = readSettings(() => undefined);
const bytes = Buffer.from('what the model was shown');

/** What was acknowledged, each with a way to find it after the power is back. */
interface Acknowledged {
  readonly texts: string[];
  fork: boolean;
  snapshot: string | undefined;
}

async function scenario(window: MemoryWindow, acknowledged: Acknowledged): Promise<void> {
  const { ids, storage } = window;
  let log = await openLog(window, ID);
  const note = (text: string) => () => void acknowledged.texts.push(text);
  const append = (draft: EventDraft, text: string) => log.append(draft).then(note(text));
  const publish = (text: string) => enqueue(log, ids, draftOf(text)).then(note(`${text} changed`));
  await append({ type: 'conversation_started', key: 'key-of-a-conversation' }, 'key-of-a-conversation');
  await Promise.all([publish('one'), publish('two'), publish('one'), publish('three')]);
  await withdraw(log, { source: 'file', name: 'changed' }, 'file:three', 'reverted').then(note('reverted'));
  await Promise.all([
    append({ type: 'turn_started', source: 'user' }, '"turn_started"'),
    append({ type: 'chat_request', content: 'Go on.', source: 'user', ...carrying(log) }, 'Go on.'),
  ]);
  await append({ type: 'tool_call_request', id: 'c1', name: 'read_file', arguments: {} }, '"c1"');
  await publish('four');
  const hash = await storage.snapshots.put(bytes);
  acknowledged.snapshot = hash;
  const response = { type: 'tool_call_response', id: 'c1', content: 'the result', is_error: false } as const;
  await append({ ...response, ...carrying(log), seen: [{ path: 'a.ts', hash }] }, 'the result');
  const through = safeCompactionPoint(log.state) ?? 0;
  await append(compactionDraft(log.state, 'the summary', through), 'the summary');
  await log.close();
  log = await openLog(window, ID);
  await append({ type: 'title_set', title: 'a title' }, 'a title');
  await log.close();
  const read = await storage.store.read(ID);
  const events = read.ok ? read.value.events : [];
  const now = '2026-01-02T03:04:05.000Z';
  const forked = forkEvents({ id: ID, events, through: forkPoints(events)[0] ?? 0, now, ulid: ids.ulid });
  if (forked.ok && (await storage.store.create(FORK, forked.value)).ok) acknowledged.fork = true;
}

function carrying(log: ConversationLog) {
  return collect(log, {
    settings: () => settings,
    model: () => ({ contextWindow: 32_000 }),
    clock: { now: () => 0 },
    snapshots: { hash: () => '' },
  });
}

async function runUntil(point: number): Promise<{ files: FaultyFileSystem; acknowledged: Acknowledged }> {
  const files = new FaultyFileSystem();
  files.faults.at = ({ number }) => (number === point ? 'stop' : undefined);
  const acknowledged: Acknowledged = { texts: [], fork: false, snapshot: undefined };
  let ended = false;
  const run = scenario(memoryWindow(files, countingIds()), acknowledged).finally(() => {
    ended = true;
  });
  const stopped = async () => {
    while (!files.stopped && !ended) await new Promise((resolve) => setImmediate(resolve));
  };
  await Promise.race([run, stopped()]);
  return { files, acknowledged };
}

/** How much of the unsynced bytes survives: nothing, everything, or a part. */
const SURVIVALS: Readonly<Record<string, (most: number) => number>> = {
  nothing: () => 0,
  everything: (most) => most,
  half: (most) => Math.floor(most / 2),
  almost: (most) => Math.max(0, most - 1),
};

const { points } = (await runUntil(Number.POSITIVE_INFINITY)).files;

test('the scenario has points of every kind', () => {
  const kinds = new Set(points.map(({ name }) => name.split(' ')[0]));
  for (const kind of [
    'append:half',
    'sync:before',
    'sync:after',
    'write:before',
    'write:after',
    'open:after',
    'folder:after',
  ])
    expect(kinds).toContain(kind);
  expect(points.length).toBeGreaterThan(60);
});

test.each(Object.entries(SURVIVALS))(
  'nothing acknowledged is lost if power fails at any point and %s of the unsynced bytes survives',
  async (_, choose) => {
    for (const point of points) {
      const { files, acknowledged } = await runUntil(point.number);
      const window = memoryWindow(files.losePower(choose), countingIds());
      const log = await openLog(window, ID);
      const text = window.files.peek(pathOf(ID)).toString();
      const where = `${point.number} ${point.name}`;
      expect([where, acknowledged.texts.filter((one) => !text.includes(one))]).toEqual([where, []]);
      expect([where, log.damage]).toEqual([where, []]);
      const events: LogEvent[] = parseLines(text);
      for (const states of settle(events).states.values()) expect([where, states.length]).toEqual([where, 1]);
      for (const hash of events
        .flatMap((event) => ('seen' in event ? (event.seen ?? []) : []))
        .map((one) => one.hash)) {
        expect([where, await window.storage.snapshots.get(hash)]).toEqual([where, bytes]);
      }
      await log.append({ type: 'title_set', title: 'it goes on' });
      await log.close();
      if (acknowledged.fork) await (await openLog(window, FORK)).close();
    }
  },
);
