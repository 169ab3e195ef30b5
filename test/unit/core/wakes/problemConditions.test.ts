// Conditions on problems: an empty list says nothing before servers have reported, after a reload, or for a closed file.
import { expect, test } from 'vitest';
import { anchorOf, followFact } from '../../../../src/core/wakes/facts.ts';
import { atTestEnd } from '../../../support/endings.ts';
import { createManualClock } from '../../../support/manualClock.ts';
import { EditorProblems } from '../../../support/notify/editorProblems.ts';

const NONE = { problems: 'src/**', is: 'none' as const };
const STARTED = 20_000;

function begin(editor = new EditorProblems(), anchor?: string) {
  const clock = createManualClock();
  const deps = { clock, problems: editor.facts(clock) };
  let changes = 0;
  const source = followFact(deps, NONE, { conversation: 'c', anchor, changed: () => (changes += 1) });
  atTestEnd(async () => source?.dispose());
  const read = async () => (await source?.read())?.truth;
  return { editor, clock, read, changes: () => changes, anchor: async () => anchorOf(deps, NONE, 'c') };
}

test('before a language server has reported it is not known that there are no problems', async () => {
  const { editor, clock, read, changes } = begin();
  expect(await read()).toBe('unknown');
  clock.advance(STARTED);
  // The end of the start is looked at by itself.
  expect(changes()).toBe(1);
  expect(await read()).toBe('unknown');
  editor.report('lib/other.ts');
  clock.advance(STARTED);
  expect(await read()).toBe('unknown');
  editor.report('src/a.ts');
  expect(await read()).toBe('unknown');
  clock.advance(STARTED);
  expect(await read()).toBe('yes');
});

test('problems are known at once', async () => {
  const { editor, clock, read } = begin();
  editor.report('src/a.ts', 'warning');
  clock.advance(STARTED);
  expect(await read()).toBe('no');
});

test('closing a file with errors resolves none of them', async () => {
  const { editor, clock, read } = begin();
  editor.open('src/a.ts');
  editor.report('src/a.ts', 'error');
  editor.open('src/b.ts');
  editor.report('src/b.ts');
  clock.advance(STARTED);
  expect(await read()).toBe('no');
  editor.close('src/a.ts');
  clock.advance(STARTED);
  expect(await read()).not.toBe('yes');
  // It was opened to be checked.
  expect(editor.looked).toContain('src/a.ts');
  editor.open('src/a.ts');
  editor.report('src/a.ts');
  clock.advance(STARTED);
  expect(await read()).toBe('yes');
});

test('after a restart, files that had problems must be checked again', async () => {
  const first = begin();
  for (const path of ['src/a.ts', 'src/b.ts', 'lib/c.ts']) first.editor.report(path, 'error');
  first.clock.advance(STARTED);
  const anchor = await first.anchor();
  expect(anchor).toBe('["src/a.ts","src/b.ts"]');
  const { editor, clock, read } = begin(new EditorProblems(), anchor);
  editor.open('src/other.ts');
  editor.report('src/other.ts');
  clock.advance(STARTED);
  expect(await read()).toBe('unknown');
  expect(editor.looked).toEqual(['src/a.ts', 'src/b.ts']);
  editor.report('src/a.ts');
  clock.advance(STARTED);
  expect(await read()).toBe('unknown');
  editor.report('src/b.ts');
  clock.advance(STARTED);
  expect(await read()).toBe('yes');
});
