// Checks the invariants of a conversation's log from its bytes alone, without the projections.
import { expect } from 'vitest';
import { Projections } from '../../../src/core/conversation/projections/project.ts';
import { type Store } from '../../../src/core/ports/storage.ts';
import { type Carried, type LogEvent } from '../../../src/protocol/event.ts';
import { type FaultyFileSystem } from './faultyFileSystem.ts';
import { type KeptConversation, markOf } from './logWorld.ts';
import { describeState, pathOf } from './memoryStorage.ts';

export async function checkConversation(
  store: Store,
  files: FaultyFileSystem,
  id: string,
  kept: KeptConversation,
): Promise<void> {
  const events = parseLines(files.peek(pathOf(id)).toString());
  expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));

  const found = settle(events);
  const marks = new Set(events.flatMap((event) => (event.type === 'notification_queued' ? [markOf(event)] : [])));
  expect([...kept.acknowledged].filter((mark) => !marks.has(mark))).toEqual([]);
  expect([...found.states].filter(([, states]) => states.length !== 1)).toEqual([]);
  const pending = [...found.states].filter(([, states]) => states[0] === 'pending').map(([queued]) => queued);
  expect(kept.log.state.pending.notifications.map((notification) => notification.id)).toEqual(pending);
  expect(kept.log.state.pending.count).toBe(pending.length);

  // The state must be the same whether it was folded step by step, read as a whole, or followed by another window.
  const read = await store.read(id);
  if (!read.ok) throw new Error(read.failure.message);
  const rebuilt = new Projections();
  for (const event of read.value.events) rebuilt.fold(event);
  expect(describeState(kept.log.state)).toEqual(describeState(rebuilt));
  const { follower } = kept;
  if (follower !== undefined) {
    const expected = JSON.stringify(describeState(rebuilt));
    // The follower reads in the background. If it never catches up, the expectation below fails.
    for (let turn = 0; turn < 2000 && JSON.stringify(describeState(follower.state)) !== expected; turn++)
      await new Promise((resolve) => setImmediate(resolve));
    expect(describeState(follower.state)).toEqual(describeState(rebuilt));
  }
}

export function parseLines(text: string): LogEvent[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LogEvent);
}

type State = 'pending' | 'shown' | 'merged' | 'counted' | 'filtered' | 'withdrawn';

/** The states of every queued id. Also checks that the counts of each carrier add up. */
export function settle(events: readonly LogEvent[]): { states: ReadonlyMap<string, readonly State[]> } {
  const states = new Map<string, State[]>();
  const pending = new Set<string>();
  let through = 0;
  const note = (id: string, state: State) => {
    states.get(id)?.push(state);
    pending.delete(id);
  };
  const carry = (carried: Carried | undefined, seq: number) => {
    if (carried === undefined) return;
    const lists = {
      shown: carried.shown,
      merged: carried.merged,
      counted: carried.counted,
      filtered: carried.filtered,
    };
    expect(Object.values(lists).flat().sort()).toEqual([...pending].sort());
    expect(carried.through).toBe(seq - 1);
    for (const [state, ids] of Object.entries(lists)) for (const id of ids) note(id, state as State);
    const total = /<notifications shown="(\d+)" total="(\d+)"/.exec(carried.text);
    if (total !== null) {
      const delivered = carried.shown.length + carried.merged.length + carried.counted.length;
      expect([Number(total[1]), Number(total[2])]).toEqual([carried.shown.length, delivered]);
    }
    ({ through } = carried);
  };
  for (const event of events) {
    if (event.type === 'notification_queued') {
      expect(event.seq).toBeGreaterThan(through);
      states.set(event.notification.id, []);
      pending.add(event.notification.id);
    }
    if (event.type === 'notification_withdrawn') for (const id of event.ids) note(id, 'withdrawn');
    if (event.type === 'chat_request' || event.type === 'tool_call_response') carry(event.notifications, event.seq);
  }
  for (const id of [...pending]) note(id, 'pending');
  return { states };
}
