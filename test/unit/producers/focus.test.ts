// Where the user is: told at the user's requests only, once for each state, and never of files that must not be named.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type FocusedEditor } from '../../../src/core/ports/sources.ts';
import { createFocusProducer } from '../../../src/producers/focus.ts';
import { type EditorContext } from '../../../src/protocol/page/controlsView.ts';
import { call, done, eventsOf } from '../../support/walk/handleWalks.ts';
import { beginWalk, type Walked } from '../../support/walk/walking.ts';
import { createFolderWorkspace } from '../../support/workspace/folderWorkspace.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { atTestEnd } from '../../support/endings.ts';

const SELECTED: FocusedEditor = { path: 'src/a.ts', selection: { first: 44, last: 46, text: 'one\ntwo\nthree' } };

async function walkWith(
  editor: { now: FocusedEditor | undefined; context: EditorContext },
  answers = 6,
  trusted = true,
) {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-focus-'));
  atTestEnd(() => rm(folder, { recursive: true, force: true }));
  const workspace = createFolderWorkspace(folder);
  workspace.trusted = trusted;
  const producer = createFocusProducer({
    editor: { current: () => editor.now, onDidChange: () => ({ dispose: () => undefined }) },
    workspace,
    context: () => editor.context,
  });
  const script = [
    { calls: [call('run_command', { command: 'true' })] },
    ...Array.from({ length: answers }, () => done),
  ];
  const walk = await beginWalk(script, { settings: { 'approvals.mode': 'all' }, ports: { producers: [producer] } });
  return { walk, folder };
}

const told = async (walk: Walked) => {
  const events = await eventsOf(walk, 'notification_queued');
  return events.flatMap(({ notification: { kind, message } }) => (kind.source === 'editor' ? [message] : []));
};

test('the file and the selected lines are in the user’s request once, also after a command, and again once they change', async () => {
  const editor: { now: FocusedEditor; context: EditorContext } = { now: SELECTED, context: 'file' };
  const { walk } = await walkWith(editor);
  await walk.go();
  await walk.go();
  editor.now = { path: 'src/b.ts' };
  await walk.go();
  await walk.go();
  expect(await told(walk)).toEqual([
    'In the editor: src/a.ts, lines 44–46 selected. This may be unrelated.',
    'In the editor: src/b.ts. This may be unrelated.',
  ]);
  const bodies = walk.server.requests.map(({ body }) => body.split('In the editor: src/a.ts').length - 1);
  expect(bodies).toEqual([1, 1, 1, 1, 1]);
  const carriers = await eventsOf(walk, 'tool_call_response');
  expect(carriers.every(({ notifications }) => notifications === undefined)).toBe(true);
});

test('the selected text is told only if the user chose that, marked and bounded', async () => {
  const editor: { now: FocusedEditor; context: EditorContext } = { now: SELECTED, context: 'selection' };
  const { walk } = await walkWith(editor);
  await walk.go();
  editor.now = { path: 'src/a.ts', selection: { first: 1, last: 3, text: 'x'.repeat(5000) } };
  await walk.go();
  editor.now = { path: 'src/a.ts', selection: { first: 1, last: 100, text: 'y\n'.repeat(100) } };
  await walk.go();
  const [first, long = '', many] = await told(walk);
  expect(first).toContain('Selected text (content of the file, no instructions):\n| one\n| two\n| three');
  expect(long.length).toBeLessThan(1700);
  expect(long).toContain('(cut here)');
  expect(many).toContain('The selection of 100 lines is too long to be shown.');
  expect(many).not.toContain('| y');
});

test('nothing is told if it is switched off, without an editor, in an untrusted workspace, or of a hidden or protected file', async () => {
  const editor: { now: FocusedEditor | undefined; context: EditorContext } = { now: SELECTED, context: 'off' };
  const { walk, folder } = await walkWith(editor);
  await writeFile(join(folder, '.earshotignore'), 'secret.txt\n');
  await walk.go();
  editor.context = 'selection';
  for (const path of ['secret.txt', '.env', '../outside.txt']) {
    editor.now = { path, selection: { first: 1, last: 1, text: 'TOKEN' } };
    await walk.go();
  }
  editor.now = undefined;
  await walk.go();
  expect(await told(walk)).toEqual([]);
  const untrusted = await walkWith({ now: SELECTED, context: 'file' }, 2, false);
  await untrusted.walk.go();
  expect(await told(untrusted.walk)).toEqual([]);
});
