// Patches in the format that models were trained on: parsing, placing hunks, and exact error messages.
import { expect, test } from 'vitest';
import { parsePatch } from '../../../../src/core/files/patch.ts';
import { fitHunks } from '../../../../src/core/files/patchFit.ts';
import { pathsInPatch } from '../../../../src/core/files/patchPaths.ts';

const wrap = (...lines: string[]) => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');

function patched(text: string, ...lines: string[]): string {
  const parsed = parsePatch(wrap('*** Update File: f', ...lines));
  if (!parsed.ok) return parsed.failure.message;
  const [patch] = parsed.value;
  if (patch?.type !== 'update') return 'no update';
  const fit = fitHunks(text, patch.hunks);
  return fit.ok ? fit.text : `misfit: ${fit.misfit}`;
}

test('a patch adds, updates, moves and deletes files', () => {
  const text = wrap(
    '*** Add File: new.txt',
    '+one',
    '+',
    '+two',
    '*** Update File: old name.txt',
    '*** Move to: dir/new name.txt',
    '@@ class A',
    '@@ def f',
    ' keep',
    '-go',
    '+come',
    '*** End of File',
    '*** Delete File: gone.txt',
  );
  expect(parsePatch(text)).toMatchObject({
    ok: true,
    value: [
      { type: 'add', path: 'new.txt', content: 'one\n\ntwo\n' },
      {
        type: 'update',
        path: 'old name.txt',
        to: 'dir/new name.txt',
        hunks: [{ at: 10, anchors: ['class A', 'def f'], atEnd: true }],
      },
      { type: 'delete', path: 'gone.txt' },
    ],
  });
  expect(pathsInPatch(text)).toEqual(['new.txt', 'old name.txt', 'dir/new name.txt', 'gone.txt']);
});

test('a patch is found inside fences and shell wrappers that models add', () => {
  expect(parsePatch(`apply_patch <<'EOF'\n${wrap('*** Delete File: a')}\nEOF\n`)).toMatchObject({ ok: true });
  expect(parsePatch(`\`\`\`\n${wrap('*** Delete File: a').replaceAll('\n', '\r\n')}\r\n\`\`\``)).toMatchObject({
    ok: true,
  });
});

test.each([
  ['nothing', 'line 1 of the patch: it does not begin with “*** Begin Patch”'],
  ['*** Begin Patch\n*** Delete File: a', 'line 2 of the patch: it does not end with “*** End Patch”'],
  [wrap(), 'line 1 of the patch: it changes no file'],
  [wrap('diff --git'), 'line 2 of the patch: “diff --git” is no “*** Add File: ”'],
  [wrap('*** Add File: a', 'one'), 'line 3 of the patch: a line of a file to add begins with +, not “one”'],
  [
    wrap('*** Update File: a', '@@', ' one', 'two'),
    'line 5 of the patch: a line of a hunk begins with a space, - or +, not “two”',
  ],
  [wrap('*** Update File: a', ' one'), 'line 3 of the patch: a hunk changes nothing'],
  [wrap('*** Update File: a'), 'there is no hunk for a'],
  [wrap('*** Delete File: a', '-one'), 'line 3 of the patch: nothing follows “*** Delete File: ”'],
])('%j is refused with its line number', (text, complaint) => {
  const parsed = parsePatch(text);
  expect(!parsed.ok && parsed.failure.message).toContain(complaint);
});

const CODE = 'class A:\n  def f(self):\n    return 1\n\nclass B:\n  def f(self):\n    return 1\n';

test('context lines determine where a hunk applies', () => {
  expect(patched('a\nb\nc\n', ' a', '-b', '+B', ' c')).toBe('a\nB\nc\n');
  expect(patched(CODE, '@@ class B:', '   def f(self):', '-    return 1', '+    return 2')).toBe(
    `${CODE.slice(0, -2)}2\n`,
  );
  expect(patched('a\nb\n', '+c')).toBe('a\nb\nc\n');
  expect(patched('a\nb\n', '@@ a', '+c')).toBe('a\nc\nb\n');
  expect(patched('a\nx\nb\nx\n', ' x', '+y', '*** End of File')).toBe('a\nx\nb\nx\ny\n');
  expect(patched('one\ntwo\nthree\nfour\n', '-one', '+1', '@@', '-four', '+4')).toBe('1\ntwo\nthree\n4\n');
});

test('unchanged lines keep the bytes of the file', () => {
  expect(patched('a \n\tb\nc\n', ' a', '-b', '+B')).toBe('a \nB\nc\n');
  expect(patched('say “hi”\nend\n', ' say "hi"', '-end', '+END')).toBe('say “hi”\nEND\n');
  expect(patched('a\r\nb\r\n', ' a', '-b', '+B', '+C')).toBe('a\r\nB\r\nC\r\n');
  expect(patched('a\nb', '-b', '+B')).toBe('a\nB');
  expect(patched('a\nb', ' b', '+c')).toBe('a\nb\nc');
  expect(patched('', '+first')).toBe('first\n');
});

test('a hunk that does not fit is refused with the reason', () => {
  expect(patched(CODE, '   def f(self):', '-    return 1', '+    return 2')).toBe(
    'misfit: The hunk at line 3 of the patch fits 2 times, at lines 2, 6: give more lines around it, or an @@ line before it.',
  );
  expect(patched('alpha\nbeta\ngamma\n', ' alpha', '-betta', '+B', ' gamma')).toBe(
    'misfit: The hunk at line 3 of the patch does not fit: there is no line “betta”. The nearest text is lines 1–3:\nalpha\nbeta\ngamma',
  );
  expect(patched('a\nb\n', '@@ class Q', '-b', '+B')).toBe(
    'misfit: The hunk at line 4 of the patch is to follow the line “class Q”, which is not there.',
  );
  expect(patched('one\ntwo\n', '-two', '+2', '@@', '-one', '+1')).toBe(
    'misfit: The hunk at line 6 of the patch fits only at line 1, before the one above it or its @@ line: give the hunks in the order of the file.',
  );
});
