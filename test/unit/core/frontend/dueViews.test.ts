// Timers and conditions as the page lists them.
import { expect, test } from 'vitest';
import { type SetWake } from '../../../../src/core/conversation/wakes.ts';
import { listLogged, viewDue } from '../../../../src/core/frontend/chatHead.ts';
import { type Condition } from '../../../../src/protocol/wakes.ts';

const set: SetWake = {
  ...{ name: 'w', seq: 1, since: 0, atoms: [], until: 60_000, note: '', grant: 'g', most: 5, fires: 0, last: 0 },
  anchors: {},
  latched: new Map(),
};
const when: Condition = {
  any: [
    { port: 3000, is: 'open' },
    { output: 'server', has: 'listening' },
  ],
};

test('the soonest is first; a timer has no condition, a repeated one says how often it is due at most', () => {
  const repeated: SetWake = { ...set, name: 'repeated', every: 10_000, last: 40_000, fires: 4 };
  const alarm: SetWake = { ...set, name: 'alarm', when: { at: '1970-01-01T00:00:20.000Z' }, until: 20_000 };
  const condition: SetWake = { ...set, name: 'condition', when };
  expect(viewDue(listLogged([condition, repeated, alarm]))).toEqual([
    { name: 'alarm', timer: true, next: '1970-01-01T00:00:20.000Z', note: '', facts: [] },
    { name: 'repeated', timer: true, next: '1970-01-01T00:00:50.000Z', note: '', facts: [], left: 1 },
    { name: 'condition', timer: false, next: '1970-01-01T00:01:00.000Z', note: '', when, facts: [] },
  ]);
});

test('of long evidence the page gets the beginning of the first line', () => {
  const facts = [
    { truth: 'no' as const, evidence: 'nothing listens' },
    { truth: 'yes' as const, evidence: `${'x'.repeat(400)}\nsecond line`, latches: true as const },
  ];
  const [view] = viewDue([{ wake: { ...set, when }, next: 1, facts }]);
  expect(view?.facts).toEqual([facts[0], { truth: 'yes', evidence: 'x'.repeat(300) }]);
});
