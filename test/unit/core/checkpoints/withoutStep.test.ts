// Whose lines are whose in a file that the agent and then others changed: undo removes exactly the agent's lines.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { differenceOf } from '../../../../src/core/checkpoints/hunks.ts';
import { undoSteps } from '../../../../src/core/checkpoints/undoSteps.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');

function undo(before: string | undefined, after: string, present: string): string | undefined {
  const step = { before: before === undefined ? undefined : bytes(before), after: bytes(after) };
  const undone = undoSteps({ bytes: bytes(present), isLink: false }, [step]);
  if (undone.type === 'clash') return 'clash';
  return undone.bytes && Buffer.from(undone.bytes).toString('latin1');
}

test('lines directly above, below and between the agent’s lines stay', () => {
  expect(undo('a\n', 'a\nagent\n', 'a\nagent\nmine\n')).toBe('a\nmine\n');
  expect(undo('a\n', 'a\nagent\n', 'a\nmine\nagent\n')).toBe('a\nmine\n');
  expect(undo('a\n', 'a\n1\n2\n', 'a\n1\nmine\n2\n')).toBe('a\nmine\n');
  expect(undo('a\nb\n', 'a\nB\n', 'a\nmine\nB\n')).toBe('a\nmine\nb\n');
  expect(undo('a\nb\n', 'A\nb\n', 'A\nmine\n')).toBe('a\nmine\n');
  expect(undo('a\nb\nc\n', 'a\nc\n', 'a\nmine\nc\n')).toBe('a\nb\nmine\nc\n');
  expect(undo('a\nb\nc\n', 'a\nc\n', 'a\nmine\n')).toBe('a\nb\nmine\n');
});

test('lines that others added to a file that the agent created stay; without such lines it is deleted', () => {
  expect(undo(undefined, '1\n2\n', '1\n2\nmine\n')).toBe('mine\n');
  expect(undo(undefined, '1\n2\n', '2\n')).toBe(undefined);
});

test('a changed line of the agent, and a line that was inserted again by hand, are a clash', () => {
  expect(undo('a\n', 'a\nagent\n', 'a\nagent, mine\n')).toBe('clash');
  expect(undo('a\nb\n', 'A\nb\n', 'b\n')).toBe('clash');
  expect(undo('a\nb\nc\nd\n', 'a\nd\n', 'a\nc\nd\n')).toBe('clash');
  expect(undo('a\nb\nc\n', 'a\nc\n', 'mine\n')).toBe('clash');
  // Undoing one of two changes by hand is no clash with the other.
  expect(undo('a\nb\nc\n', 'A\nb\nC\n', 'a\nb\nC\n')).toBe('a\nb\nc\n');
});

test('a last line without a line end is the same line when somebody adds one below', () => {
  expect(undo('a', 'a\nagent', 'a\nagent\nmine')).toBe('a\nmine');
  expect(undo('a', 'a\nagent\n', 'a\nagent\nmine\n')).toBe('a\nmine\n');
  expect(undo('a\r\nb', 'a\r\nb\r\nagent', 'a\r\nb\r\nagent\r\nmine\r\n')).toBe('a\r\nb\r\nmine\r\n');
  expect(undo('x\na', 'x\na\nagent\n', 'mine\na\nagent\n')).toBe('mine\na');
});

/** Few different lines, so that many differences are ambiguous. */
const lines = fc.array(fc.constantFrom('a', 'b', 'c', '', '}'), { maxLength: 10 });
const edits = fc.array(lines, { minLength: 2, maxLength: 4 });
const insertions = fc.array(fc.tuple(fc.nat(), fc.boolean()), { maxLength: 6 });
const isMine = (line: string) => line.startsWith('mine');

/** The user inserts lines anywhere, some of them again next to an inserted one. */
function withInserted(content: readonly string[], places: readonly (readonly [number, boolean])[], name: string) {
  let all = [...content];
  for (const [index, [place, isTwice]] of places.entries()) {
    const added = isTwice ? [`${name} ${index}`, `${name} ${index} b`] : [`${name} ${index}`];
    all = all.toSpliced(place % (all.length + 1), 0, ...added);
  }
  return all;
}

test('for any edits of the agent and any insertions of the user, also between edits, undo leaves the user’s lines over the original', () => {
  fc.assert(
    fc.property(edits, fc.array(insertions, { minLength: 3, maxLength: 3 }), fc.boolean(), (states, places, isOpen) => {
      const text = (content: readonly string[]) => bytes(content.map((line) => `${line}\n`).join(''));
      const [original = [], ...later] = states;
      let present: readonly string[] = original;
      const steps = later.map((next, index) => {
        const before = present;
        // The agent rewrites its lines around those of the user, which stay.
        const mine = before.filter(isMine);
        const after = [...next.slice(0, 2), ...mine, ...next.slice(2)];
        present = withInserted(after, places[index] ?? [], `mine ${index}`);
        return { before: text(before), after: text(after) };
      });
      const open = isOpen && (present.at(-1) ?? '') !== '' ? text(present).subarray(0, -1) : text(present);
      const undone = undoSteps({ bytes: open, isLink: false }, steps);
      expect(undone.type).toBe('clean');
      const left = Buffer.from(undone.bytes ?? [])
        .toString('latin1')
        .replace(/\n$/, '');
      const result = left === '' && original.length === 0 ? [] : left.split('\n');
      const mine = result.filter(isMine);
      // The agent may have moved lines of the user, between which others were inserted.
      expect(mine.toSorted()).toEqual(present.filter(isMine).toSorted());
      expect(result.filter((line) => !isMine(line)).join('\n')).toBe(original.join('\n'));
      // What is shown as the agent's has no line of the user, unless the agent moved that line.
      const shown = differenceOf(undone.bytes, open).hunks?.flatMap(({ added, removed }) => [...added, ...removed]);
      if (steps.length === 1 && !isOpen) expect(shown?.filter(isMine)).toEqual([]);
    }),
    { numRuns: 1000 },
  );
});
