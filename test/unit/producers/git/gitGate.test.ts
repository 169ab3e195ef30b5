// Late events of watchers are recognized as those of a git operation, also after later operations.
import { expect, test } from 'vitest';
import { GitGate } from '../../../../src/producers/git/gitGate.ts';

const NONE: ReadonlySet<string> = new Set();

test('a late event of a known file belongs to its operation after later operations, for a minute', () => {
  const gate = new GitGate();
  gate.addOperation(0, 1000, new Set(['src/a.ts']));
  gate.addOperation(5000, 6000, new Set(['src/b.ts']));
  gate.addOperation(8000, 9000, NONE);
  for (const path of ['src/a.ts', 'src/b.ts', 'src']) {
    expect(gate.isLate(path, 50_000)).toBe(true);
    expect(gate.made(path, 50_000, 50_000)).toBe(true);
  }
  expect([gate.isLate('src/a.ts', 61_001), gate.isLate('src/b.ts', 61_001)]).toEqual([false, true]);
  expect(gate.made('c.ts', 50_000, 50_000)).toBe(false);
});

test('a file of an operation with unknown files is recognized by time after a later operation with known files', () => {
  const gate = new GitGate();
  gate.addOperation(0, 1000, NONE);
  gate.addOperation(20_000, 21_000, new Set(['b.ts']));
  expect(gate.made('a.ts', 500, 22_000)).toBe(true);
  // During the second operation, whose files are known.
  expect(gate.made('a.ts', 20_500, 22_000)).toBe(false);
});

test('continuous late events of an operation with unknown files stay its echo after a later operation', () => {
  const gate = new GitGate();
  gate.addOperation(0, 1000, NONE);
  for (let now = 2000; now <= 10_000; now += 1000) expect(gate.isEcho(now)).toBe(true);
  gate.addOperation(10_000, 10_500, new Set(['b.ts']));
  for (let now = 11_000; now <= 60_000; now += 1000) expect([now, gate.isEcho(now)]).toEqual([now, true]);
  expect(gate.isEcho(61_001)).toBe(false);
});

test('an event during the first of a hundred operations is recognized', () => {
  const gate = new GitGate();
  for (let at = 0; at < 100 * 10_000; at += 10_000) gate.addOperation(at, at + 100, NONE);
  expect([gate.isDuringOperation(50), gate.isDuringOperation(5000)]).toEqual([true, false]);
});

test('paths are bounded: the oldest operations are forgotten first, and the newest is kept whole', () => {
  const gate = new GitGate();
  const many = (name: string) => new Set(Array.from({ length: 60_000 }, (_, index) => `${name}${index}.ts`));
  for (const name of ['a', 'b', 'c']) gate.addOperation(0, 1000, many(name));
  expect(['a0.ts', 'b0.ts', 'c0.ts'].map((path) => gate.isLate(path, 2000))).toEqual([false, true, true]);
});
