// A file without the agent's changes: what others did since stays, byte for byte, in any encoding; in doubt it is a clash.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { byteLines, joinLines } from '../../../../src/core/checkpoints/byteLines.ts';
import { differenceOf, withHunk, withoutHunk } from '../../../../src/core/checkpoints/hunks.ts';
import { undoSteps } from '../../../../src/core/checkpoints/undoSteps.ts';

const bytes = (text: string | undefined) => (text === undefined ? undefined : Buffer.from(text, 'latin1'));
const plain = (content: Uint8Array | undefined) => content && { bytes: content, isLink: false };
const step = (before: string | undefined, after: string | undefined) => ({
  before: bytes(before),
  after: bytes(after),
});

function undo(present: string | undefined, ...steps: ReturnType<typeof step>[]): string {
  const undone = undoSteps(plain(bytes(present)), steps);
  if (undone.type === 'clash') return 'clash';
  const text = undone.bytes === undefined ? 'nothing' : JSON.stringify(Buffer.from(undone.bytes).toString('latin1'));
  return undone.merged ? `${text}, merged` : text;
}

test('untouched since, it gets the bytes it had, or goes, or comes again', () => {
  expect(undo('new', step('old', 'new'))).toBe('"old"');
  expect(undo('new', step(undefined, 'new'))).toBe('nothing');
  expect(undo(undefined, step('old', undefined))).toBe('"old"');
  expect(undo('c', step('a', 'b'), step('b', 'c'))).toBe('"a"');
  expect(undo('\0\xff', step('\0\xfe', '\0\xff'))).toBe('"\\u0000þ"');
});

test('taken back by somebody already, nothing is done', () => {
  expect(undo('old', step('old', 'new'))).toBe('"old"');
  expect(undo(undefined, step(undefined, 'new'))).toBe('nothing');
  expect(undo('a\nmine\n', step('a\n', 'a\nagent\n'))).toBe('clash');
});

test('changes of others stay: after the agent’s, between two of them, with their line endings and last line', () => {
  expect(undo('a\nB\nc\nd\nE', step('a\nb\nc\nd\ne', 'a\nB\nc\nd\ne'))).toBe('"a\\nb\\nc\\nd\\nE", merged');
  expect(undo('1\n2 mine\n3\n4 agent\n', step('1\n2\n3\n4\n', '1\n2\n3\n4 agent\n'))).toBe(
    '"1\\n2 mine\\n3\\n4\\n", merged',
  );
  const between = [step('a\nb\nc\nd\n', 'A\nb\nc\nd\n'), step('A\nb\nc\nmine\n', 'A\nb\nC\nmine\n')];
  expect(undo('A\nb\nC\nmine\n', ...between)).toBe('"a\\nb\\nc\\nmine\\n", merged');
  expect(undo('\xe9\r\nx\r\nneu\r\n', step('\xe9\r\ny\r\n', '\xe9\r\nx\r\n'))).toBe('clash');
});

test('the same lines, a file that went or came, bytes that are no text: a clash, and nothing else', () => {
  expect(undo('mine\n', step('old\n', 'agent\n'))).toBe('clash');
  expect(undo(undefined, step('old', 'agent'))).toBe('clash');
  expect(undo('mine', step(undefined, 'agent'))).toBe('clash');
  expect(undo('mine', step('old', undefined))).toBe('clash');
  expect(undo('\0mine', step('\0old', '\0agent'))).toBe('clash');
});

test('UTF-16 is merged by its characters', () => {
  const wide = (text: string) => Buffer.concat([Buffer.of(0xff, 0xfe), Buffer.from(text, 'utf16le')]);
  const [before, after] = [wide('eins\nਊzwei\nvier\nfünf\n'), wide('eins\nਊ2\nvier\nfünf\n')];
  const undone = undoSteps(plain(wide('eins\nਊ2\nvier\nmine\n')), [{ before, after }]);
  expect(undone).toMatchObject({
    type: 'clean',
    merged: true,
    bytes: new Uint8Array(wide('eins\nਊzwei\nvier\nmine\n')),
  });
});

const line = fc.constantFrom('a\n', 'b\n', 'c\r\n', 'd\n', '\n', '😀\n');
const text = fc
  .tuple(fc.array(line, { maxLength: 12 }), fc.constantFrom('', 'end'))
  .map(([lines, end]) => lines.join('') + end);

test('lines joined are the bytes again; parts taken out or put in one by one lead from one file to the other', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (any) => {
      const lines = byteLines(any);
      if (lines !== undefined) expect(joinLines(lines)).toEqual(any);
    }),
  );
  fc.assert(
    fc.property(text, text, (oldText, nowText) => {
      const [old, now] = [new TextEncoder().encode(oldText), new TextEncoder().encode(nowText)];
      const hunks = (differenceOf(old, now).hunks ?? []).toReversed();
      expect(hunks.reduce(withoutHunk, now)).toEqual(old);
      expect(hunks.reduce(withHunk, old)).toEqual(now);
    }),
  );
});

test('lines that others added are in what comes out, whatever the agent did', () => {
  fc.assert(
    fc.property(text, text, fc.nat(), (before, after, at) => {
      const lines = byteLines(new TextEncoder().encode(after)) ?? [];
      const present = joinLines(lines.toSpliced(at % (lines.length + 1), 0, 'the user’s own line\n'));
      const undone = undoSteps(plain(present), [
        { before: new TextEncoder().encode(before), after: new TextEncoder().encode(after) },
      ]);
      if (undone.type === 'clash') return;
      expect(Buffer.from(undone.bytes ?? []).toString('latin1')).toContain('own line\n');
    }),
  );
});

test('a file of a hundred thousand equal lines does not hold anybody up', () => {
  const many = new TextEncoder().encode('\n'.repeat(100_000));
  const more = new TextEncoder().encode(`agent\n${'\n'.repeat(100_000)}`);
  const mine = new TextEncoder().encode(`${'\n'.repeat(100_000)}mine\n`);
  expect(undoSteps(plain(mine), [{ before: many, after: more }]).type).toBe('clash');
});

test('a link and a file are never the same, and what can be executed goes its own way', () => {
  const [file, target] = [Buffer.from('text\n'), Buffer.from('there')];
  const link = { bytes: target, isLink: true };
  const replaced = { before: file, after: target, afterKind: 'link' as const };
  expect(undoSteps(link, [replaced])).toEqual({ type: 'clean', merged: false, bytes: file, isLink: false });
  // The same bytes in a plain file are something else than the link that the agent left.
  expect(undoSteps(plain(target), [replaced]).type).toBe('clash');
  expect(undoSteps(undefined, [{ before: target, beforeKind: 'link' }])).toMatchObject({ bytes: target, isLink: true });
  const mode = { before: file, after: file, beforeKind: 'executable' as const };
  expect(undoSteps(plain(file), [mode])).toMatchObject({ bytes: file, executable: true });
  const mine = new TextEncoder().encode('text\nmine\n');
  expect(undoSteps(plain(mine), [mode])).toMatchObject({ bytes: mine, executable: true });
  const set = { before: file, after: file, afterKind: 'executable' as const };
  expect(undoSteps(plain(file), [set])).toMatchObject({ executable: false });
  expect(undoSteps(plain(file), [set, { before: file, after: undefined }]).type).toBe('clean');
});
