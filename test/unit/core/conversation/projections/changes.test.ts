// The changes projection: the changes of each turn, and which of them are to be reviewed, kept or undone.
import { expect, test } from 'vitest';
import { forkEvents } from '../../../../../src/core/conversation/fork.ts';
import { type Changes } from '../../../../../src/core/conversation/projections/changes.ts';
import { type EventDraft, type EventOf } from '../../../../../src/protocol/event.ts';
import { call, folded, numbered, request, started, turnStarted } from '../../../../support/log/events.ts';

type Change = NonNullable<EventOf<'tool_call_response'>['changes']>[number];

const changed = (id: string, ...changes: Change[]): EventDraft[] => [
  call(id),
  { type: 'tool_call_response', id, content: '', is_error: false, changes },
];
const turn = (message: string, ...inside: EventDraft[]): EventDraft[] => [
  turnStarted,
  request(message),
  ...inside,
  { type: 'turn_ended', outcome: 'done' },
];
const taken = (reason: 'turn' | 'command', checkpoint: string): EventDraft => ({
  type: 'checkpoint_taken',
  reason,
  checkpoint,
  unsaved: [{ path: 'a', hash: 'buffer' }],
});
const reviewed = (action: 'keep' | 'undo' | 'restore' | 'revert' | 'bring_back', more: object): EventDraft =>
  ({ type: 'changes_reviewed', action, ...more }) as EventDraft;

// Sequence numbers: 1 start; 2–8 the first turn, changes at 6 and 8 … see `numbered`.
const history = [
  started, // 1
  ...turn(
    'First.', // 2, 3
    taken('turn', 'c1'), // 4
    ...changed('x', { path: 'a', before: 'a0', after: 'a1' }, { path: 'new', after: 'n1' }), // 5, 6
    taken('command', 'c2'), // 7
    ...changed('y', { path: 'a', before: 'a1', after: 'a2' }, { path: 'same', before: 's', after: 's' }), // 8, 9
  ), // 10 ended
  ...turn(
    'Second,\n  with more.',
    ...changed('z', { path: 'a', before: 'a3', after: 'a4' }, { path: 'b', before: 'b0' }),
  ), // 11–15
];

const events = (...more: EventDraft[]) => numbered(...history, ...more);
const open = (changes: Changes) =>
  Object.fromEntries(
    [...changes.open].map(([path, steps]) => [
      path,
      steps.map(({ before = '–', after = '–' }) => `${before}→${after}`),
    ]),
  );
const openAfter = (...more: EventDraft[]) => open(folded(events(...more)).changes);

test('each turn has its request, the checkpoint before it and its changes in order', () => {
  const { changes } = folded(events());
  expect(changes.turns).toEqual([
    {
      seq: 2,
      request: 'event-3',
      title: 'First.',
      checkpoint: { name: 'c1', unsaved: new Map([['a', 'buffer']]) },
      steps: [
        { seq: 6, path: 'a', before: 'a0', after: 'a1' },
        { seq: 6, path: 'new', after: 'n1' },
        { seq: 9, path: 'a', before: 'a1', after: 'a2' },
      ],
    },
    {
      seq: 11,
      request: 'event-12',
      title: 'Second, with more.',
      steps: [
        { seq: 14, path: 'a', before: 'a3', after: 'a4' },
        { seq: 14, path: 'b', before: 'b0' },
      ],
    },
  ]);
  expect(changes.since('event-12')).toEqual(changes.turns.slice(1));
  expect(changes.since('nowhere')).toEqual([]);
});

test('changes stay to be reviewed over turns until they are kept', () => {
  expect(openAfter()).toEqual({ a: ['a0→a1', 'a1→a2', 'a3→a4'], new: ['–→n1'], b: ['b0→–'] });
  expect(
    openAfter(
      reviewed('keep', {
        files: [
          { path: 'a', through: 9 },
          { path: 'b', through: 14 },
        ],
      }),
    ),
  ).toEqual({
    a: ['a3→a4'],
    new: ['–→n1'],
  });
});

test('keeping part of a file leaves the rest to be reviewed', () => {
  const rest = { before: 'a0+', after: 'a4' };
  expect(openAfter(reviewed('keep', { files: [{ path: 'a', through: 14, rest }] }))).toMatchObject({ a: ['a0+→a4'] });
});

test('undo removes changes from their turn; reverting the undo restores them, to be reviewed', () => {
  const undo = reviewed('undo', { files: [{ path: 'a', through: 14, before: 'a4', after: 'a0' }] });
  const { changes } = folded(events(undo));
  expect(open(changes)).toEqual({ new: ['–→n1'], b: ['b0→–'] });
  expect(changes.turns.map(({ steps }) => steps.map(({ path }) => path))).toEqual([['new'], ['b']]);
  const decision = events(undo).at(-1);
  expect(changes.decision(decision?.event_id ?? '')).toEqual(decision);
  const back = reviewed('revert', { of: decision?.event_id, files: [{ path: 'a', through: 14 }] });
  const again = folded(events(undo, back)).changes;
  expect(open(again)).toEqual(openAfter());
  expect(again.turns).toEqual(folded(events()).changes.turns);
  expect(again.decision(decision?.event_id ?? '')).toBeUndefined();
});

test('restoring a turn also undoes its kept changes and leaves earlier turns to be reviewed', () => {
  const keep = reviewed('keep', { files: [{ path: 'b', through: 14 }] });
  const files = ['a', 'b'].map((path) => ({ path, through: 15 }));
  const restore = reviewed('restore', { of: 'event-12', files });
  const { changes } = folded(events(keep, restore));
  expect(open(changes)).toEqual({ a: ['a0→a1', 'a1→a2'], new: ['–→n1'] });
  expect(changes.turns[1]?.steps).toEqual([]);
  const of = events(keep, restore).at(-1)?.event_id;
  const back = folded(events(keep, restore, reviewed('revert', { of, files }))).changes;
  expect(open(back)).toEqual({ a: ['a0→a1', 'a1→a2', 'a3→a4'], new: ['–→n1'] });
});

test('undoing a hunk and reverting that gives the original changes', () => {
  const rest = { before: 'a0', after: 'a4-' };
  const undo = reviewed('undo', { files: [{ path: 'a', through: 14, before: 'a4', after: 'a4-', rest }] });
  expect(openAfter(undo)).toMatchObject({ a: ['a0→a4-'] });
  const of = events(undo).at(-1)?.event_id;
  // `bring_back` is the name of `revert` in logs of 0.2 and before.
  for (const action of ['revert', 'bring_back'] as const) {
    expect(openAfter(undo, reviewed(action, { of, files: [{ path: 'a', through: 14 }] }))).toEqual(openAfter());
  }
});

test('compaction and forks keep the changes to be reviewed', () => {
  const compacted = numbered(...history, { type: 'compaction', summary: 's', through: 10 });
  expect(open(folded(compacted).changes)).toEqual(openAfter());
  const forked = forkEvents({
    id: 'o',
    events: compacted,
    through: 15,
    now: '2026-02-02T02:02:02.000Z',
    ulid: () => 'u',
  });
  expect(forked.ok && open(folded(forked.value).changes)).toEqual(openAfter());
});
