// Undo of the agent's changes to one file: later changes of others stay byte for byte, in any encoding; ambiguous cases
// are a clash.
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

test('undo of an untouched file restores its bytes, deletes it or creates it again', () => {
  expect(undo('new', step('old', 'new'))).toBe('"old"');
  expect(undo('new', step(undefined, 'new'))).toBe('nothing');
  expect(undo(undefined, step('old', undefined))).toBe('"old"');
  expect(undo('c', step('a', 'b'), step('b', 'c'))).toBe('"a"');
  expect(undo('\0\xff', step('\0\xfe', '\0\xff'))).toBe('"\\u0000þ"');
});

test('undo of a change that somebody already reverted leaves the file as it is', () => {
  expect(undo('old', step('old', 'new'))).toBe('"old"');
  expect(undo(undefined, step(undefined, 'new'))).toBe('nothing');
  expect(undo('a\nmine\n', step('a\n', 'a\nagent\n'))).toBe('clash');
});

test('changes of others stay, whether made after the agent’s change or between two of them', () => {
  expect(undo('a\nB\nc\nd\nE', step('a\nb\nc\nd\ne', 'a\nB\nc\nd\ne'))).toBe('"a\\nb\\nc\\nd\\nE", merged');
  expect(undo('1\n2 mine\n3\n4 agent\n', step('1\n2\n3\n4\n', '1\n2\n3\n4 agent\n'))).toBe(
    '"1\\n2 mine\\n3\\n4\\n", merged',
  );
  const between = [step('a\nb\nc\nd\n', 'A\nb\nc\nd\n'), step('A\nb\nc\nmine\n', 'A\nb\nC\nmine\n')];
  expect(undo('A\nb\nC\nmine\n', ...between)).toBe('"a\\nb\\nc\\nmine\\n", merged');
  expect(undo('\xe9\r\nx\r\nneu\r\n', step('\xe9\r\ny\r\n', '\xe9\r\nx\r\n'))).toBe(
    '"é\\r\\ny\\r\\nneu\\r\\n", merged',
  );
});

test('changes to the same lines, a deleted or created file, and binary content are a clash', () => {
  expect(undo('mine\n', step('old\n', 'agent\n'))).toBe('clash');
  expect(undo(undefined, step('old', 'agent'))).toBe('clash');
  expect(undo('mine', step(undefined, 'agent'))).toBe('clash');
  expect(undo('mine', step('old', undefined))).toBe('clash');
  expect(undo('\0mine', step('\0old', '\0agent'))).toBe('clash');
});

test('UTF-16 files are merged by characters, not bytes', () => {
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

test('joined lines equal the original bytes, and removing or adding each hunk turns one file into the other', () => {
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

test('for any change of the agent, undo keeps lines that others added', () => {
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

test('a file of 100,000 equal lines is compared', () => {
  const many = new TextEncoder().encode('\n'.repeat(100_000));
  const more = new TextEncoder().encode(`agent\n${'\n'.repeat(100_000)}`);
  const mine = new TextEncoder().encode(`agent\n${'\n'.repeat(100_000)}mine\n`);
  const undone = undoSteps(plain(mine), [{ before: many, after: more }]);
  expect([undone.type, undone.bytes?.length]).toEqual(['clean', 100_005]);
});

test('a link never equals a file with the same bytes, and the executable bit is undone separately', () => {
  const [file, target] = [Buffer.from('text\n'), Buffer.from('there')];
  const link = { bytes: target, isLink: true };
  const replaced = { before: file, after: target, afterKind: 'link' as const };
  expect(undoSteps(link, [replaced])).toEqual({ type: 'clean', merged: false, bytes: file, isLink: false });
  // The agent left a link; a plain file with the same bytes is a different state.
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
