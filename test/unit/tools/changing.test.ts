// Tools that change files, on a real folder with a real log: refusals, results, and what counts as seen afterwards.
import { mkdir, mkdtemp, readFile, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { realFileSystem } from '../../../src/node/files/fileSystem.ts';
import { createSnapshots } from '../../../src/storage/snapshots.ts';
import { createToolBench, type ToolBench } from '../../support/tools/toolBench.ts';
import { createFolderWorkspace, type FolderWorkspace } from '../../support/workspace/folderWorkspace.ts';

let root: string;
let workspace: FolderWorkspace;
let bench: ToolBench;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'earshot-changing-'));
  await mkdir(join(root, 'work'));
  workspace = createFolderWorkspace(join(root, 'work'));
  bench = await createToolBench(workspace, createSnapshots({ files: realFileSystem, folder: join(root, 'storage') }));
});

afterEach(async () => {
  bench.log.dispose();
  await rm(root, { recursive: true });
  expect(bench.errors).toEqual([]);
});

const put = (name: string, text: string | Uint8Array) => writeFile(join(root, 'work', name), text);
const disk = (name: string) => readFile(join(root, 'work', name), 'utf8');
const edit = (path: string, old_text: string, new_text: string, more = {}) =>
  bench.call('edit_file', { path, edits: [{ old_text, new_text, ...more }] });

test('edit_file replaces the text, names its lines, and keeps the bytes before and after', async () => {
  await put('a.txt', 'one\ntwo\nthree\n');
  await bench.call('read_file', { path: 'a.txt' });
  const response = await edit('a.txt', 'two', '2');
  expect(response).toMatchObject({ is_error: false, content: 'Replaced one text in a.txt, line 2.' });
  expect(response.changes).toMatchObject([
    { path: 'a.txt', before: expect.any(String) as string, after: expect.any(String) as string },
  ]);
  expect(await disk('a.txt')).toBe('one\n2\nthree\n');
  expect(await bench.seen('a.txt')).toBe('one\n2\nthree\n');
  expect(bench.log.state.seen.get('a.txt')?.part).toBeUndefined();
});

test('a changed file is edited where the text still matches, and other changes are shown', async () => {
  await put('a.txt', 'one\ntwo\nthree\n');
  await bench.call('read_file', { path: 'a.txt' });
  await put('a.txt', 'ONE\ntwo\nthree\n');
  const response = await edit('a.txt', 'three', '3');
  expect(response.content).toBe(
    'Replaced one text in a.txt, line 3.\na.txt had also changed since you read it (+1 −1):\n@@ -1,3 +1,3 @@\n-one\n+ONE\n two\n three',
  );
  expect(await disk('a.txt')).toBe('ONE\ntwo\n3\n');
  expect(await bench.seen('a.txt')).toBe('ONE\ntwo\n3\n');
});

test('an edit that no longer matches is refused with the difference, which counts as seen', async () => {
  await put('a.txt', 'one\ntwo\nthree\n');
  await bench.call('read_file', { path: 'a.txt' });
  await put('a.txt', 'one\nzwei\nthree\n');
  const response = await edit('a.txt', 'two', '2');
  expect(response.is_error).toBe(true);
  expect(response.content).toBe(
    'Nothing was changed. old_text is not there, nor anything much like it.\na.txt has changed since you read it (+1 −1):\n@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\nIf your change is still right, make it again on this.',
  );
  expect(await disk('a.txt')).toBe('one\nzwei\nthree\n');
  expect(await bench.seen('a.txt')).toBe('one\nzwei\nthree\n');
  expect(await edit('a.txt', 'zwei', '2')).toMatchObject({ is_error: false });
});

test('replace_all is refused until the current content was read', async () => {
  await put('a.txt', 'x x\n');
  expect(await edit('a.txt', 'x', 'y', { replace_all: true })).toMatchObject({ is_error: true });
  await bench.call('read_file', { path: 'a.txt' });
  expect(await edit('a.txt', 'x', 'y', { replace_all: true })).toMatchObject({ is_error: false });
  expect(await disk('a.txt')).toBe('y y\n');
});

test('write_file creates files, and replaces only files whose whole current content was read', async () => {
  expect(await bench.call('write_file', { path: 'dir/new.txt', content: 'a\nb\n' })).toMatchObject({
    is_error: false,
    content: 'Made dir/new.txt (2 lines).',
  });
  expect(await bench.call('write_file', { path: 'dir/new.txt', content: 'c\n' })).toMatchObject({ is_error: false });
  await put('a.txt', 'one\n');
  expect(await bench.call('write_file', { path: 'a.txt', content: 'x' })).toMatchObject({
    is_error: true,
    content: 'a.txt exists and you have not read it. Nothing was written. Read it first, or use edit_file.',
  });
  await bench.call('read_file', { path: 'a.txt' });
  await put('a.txt', 'one\nmine\n');
  const refused = await bench.call('write_file', { path: 'a.txt', content: 'x' });
  expect(refused.content).toContain('Nothing was written. a.txt has changed since you read it (+1 −0):');
  expect(await disk('a.txt')).toBe('one\nmine\n');
  expect(await bench.call('write_file', { path: 'a.txt', content: 'x' })).toMatchObject({ is_error: false });
});

test('a partly read file is not replaced until all of it was read', async () => {
  const lines = Array.from({ length: 1500 }, (_, index) => `line ${index + 1}`).join('\n');
  await put('long.txt', lines);
  await bench.call('read_file', { path: 'long.txt' });
  expect(await bench.call('write_file', { path: 'long.txt', content: 'x' })).toMatchObject({
    content:
      'You have seen only lines 1–1000 of 1500 of long.txt. Nothing was written. Read the rest first, or use edit_file.',
  });
  expect(await edit('long.txt', 'line 1200\n', 'LINE 1200\n')).toMatchObject({ is_error: false });
  expect(await bench.call('write_file', { path: 'long.txt', content: 'x' })).toMatchObject({ is_error: true });
  await bench.call('read_file', { path: 'long.txt', first_line: 900 });
  await bench.call('read_file', { path: 'long.txt', last_line: 899 });
  expect(await bench.call('write_file', { path: 'long.txt', content: 'x' })).toMatchObject({ is_error: false });
});

test('a file read before a compaction must be read again before it is replaced', async () => {
  await put('a.txt', 'one\n');
  await bench.call('read_file', { path: 'a.txt' });
  await bench.log.append({ type: 'compaction', summary: 's', through: bench.log.state.pending.through });
  expect(await bench.call('write_file', { path: 'a.txt', content: 'x' })).toMatchObject({
    content: 'What you read of a.txt is no longer in this conversation. Nothing was written. Read it again first.',
  });
  expect(await edit('a.txt', 'one', 'two')).toMatchObject({ is_error: false });
  expect(await bench.call('write_file', { path: 'a.txt', content: 'x' })).toMatchObject({ is_error: true });
});

test('a file deleted since it was read is created again only on a second call', async () => {
  await put('a.txt', 'one\n');
  await bench.call('read_file', { path: 'a.txt' });
  await unlink(join(root, 'work', 'a.txt'));
  expect(await edit('a.txt', 'one', 'two')).toMatchObject({
    content: 'a.txt was deleted or renamed since you read it. list_files shows what is there.',
  });
  expect(await bench.call('write_file', { path: 'a.txt', content: 'x' })).toMatchObject({ is_error: true });
  expect(await bench.call('write_file', { path: 'a.txt', content: 'x' })).toMatchObject({ is_error: false });
});

test('move_file and delete_file refuse files that changed since they were read', async () => {
  await put('a.txt', 'one\n');
  await bench.call('read_file', { path: 'a.txt' });
  await put('a.txt', 'two\n');
  const refused = await bench.call('move_file', { path: 'a.txt', to: 'b.txt' });
  expect(refused.content).toContain('Nothing was done. a.txt has changed since you read it (+1 −1):');
  expect(await bench.call('move_file', { path: 'a.txt', to: 'dir/b.txt' })).toMatchObject({
    is_error: false,
    content: 'Moved a.txt to dir/b.txt.',
  });
  expect(await bench.seen('dir/b.txt')).toBe('two\n');
  await put('dir/b.txt', 'three\n');
  expect(await bench.call('delete_file', { path: 'dir/b.txt' })).toMatchObject({ is_error: true });
  const deleted = await bench.call('delete_file', { path: 'dir/b.txt' });
  expect(deleted).toMatchObject({ is_error: false, content: 'Deleted dir/b.txt.' });
  expect(deleted.changes?.[0]).toEqual({ path: 'dir/b.txt', before: expect.any(String) as string });
  await expect(disk('dir/b.txt')).rejects.toThrow();
});

test('apply_patch changes several files or none', async () => {
  await put('a.txt', 'one\ntwo\n');
  await put('b.txt', 'bee\n');
  const patch = (...lines: string[]) =>
    bench.call('apply_patch', { input: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') });
  const refused = await patch('*** Update File: a.txt', '-one', '+1', '*** Update File: b.txt', '-bea', '+B');
  expect(refused.is_error).toBe(true);
  expect(refused.content).toBe(
    'b.txt: Nothing was changed. The hunk at line 6 of the patch does not fit: there is no line “bea”. The nearest text is line 1:\nbee',
  );
  expect(await disk('a.txt')).toBe('one\ntwo\n');
  const done = await patch(
    '*** Update File: a.txt',
    '*** Move to: c.txt',
    '-one',
    '+1',
    '*** Add File: new.txt',
    '+new',
    '*** Delete File: b.txt',
  );
  expect(done).toMatchObject({
    is_error: false,
    content: 'Updated a.txt and moved it to c.txt.\nMade new.txt.\nDeleted b.txt.',
  });
  expect(done.changes?.map(({ path, before, after }) => [path, before !== undefined, after !== undefined])).toEqual([
    ['a.txt', true, false],
    ['c.txt', false, true],
    ['new.txt', false, true],
    ['b.txt', true, false],
  ]);
  expect([await disk('c.txt'), await disk('new.txt')]).toEqual(['1\ntwo\n', 'new\n']);
  expect(await patch('*** Add File: new.txt', '+x')).toMatchObject({
    content: 'new.txt: it exists already. Nothing was changed. Use “*** Update File: ”.',
  });
});

test('changes by a formatter are shown and count as seen', async () => {
  await put('a.txt', 'one\n');
  await bench.call('read_file', { path: 'a.txt' });
  workspace.onSave = (text) => `${text.trimEnd()}\n// formatted\n`;
  const response = await edit('a.txt', 'one', 'two');
  expect(response.content).toBe(
    'Replaced one text in a.txt, line 1.\nWhen a.txt was saved, the editor also changed this (+1 −0):\n@@ -1,1 +1,2 @@\n two\n+// formatted',
  );
  expect(await bench.seen('a.txt')).toBe('two\n// formatted\n');
});

test('parallel edits of one file all succeed, and none is reported as a change by somebody else', async () => {
  await put('a.txt', 'one\ntwo\nthree\n');
  await bench.call('read_file', { path: 'a.txt' });
  const responses = await Promise.all([
    edit('a.txt', 'one', '1'),
    edit('a.txt', 'two', '2'),
    edit('a.txt', 'three', '3'),
  ]);
  expect(responses.map(({ content }) => content)).toEqual(
    [1, 2, 3].map((line) => `Replaced one text in a.txt, line ${line}.`),
  );
  expect(await disk('a.txt')).toBe('1\n2\n3\n');
  expect(await bench.seen('a.txt')).toBe('1\n2\n3\n');
});

test('encodings and line endings are kept', async () => {
  const utf16 = Buffer.concat([Buffer.of(0xff, 0xfe), Buffer.from('eins\r\nzwei\r\n', 'utf16le')]);
  await put('utf16.txt', utf16);
  expect(await bench.call('read_file', { path: 'utf16.txt' })).toMatchObject({ content: 'eins\r\nzwei\r\n' });
  await edit('utf16.txt', 'eins\nzwei', 'eins\n2');
  const after = await readFile(join(root, 'work', 'utf16.txt'));
  expect([after[0], after[1], after.subarray(2).toString('utf16le')]).toEqual([0xff, 0xfe, 'eins\r\n2\r\n']);
  await put('latin1.txt', Buffer.from('Grüße\n', 'latin1'));
  await edit('latin1.txt', 'Grüße', 'Größe');
  expect(await readFile(join(root, 'work', 'latin1.txt'), 'latin1')).toBe('Größe\n');
  expect(await edit('latin1.txt', 'Größe', 'размер')).toMatchObject({
    is_error: true,
    content: 'latin1.txt cannot hold new_text in its encoding. Use plain characters.',
  });
  await put('crlf.txt', 'a\r\nb\r\n');
  await bench.call('read_file', { path: 'crlf.txt' });
  await bench.call('write_file', { path: 'crlf.txt', content: 'x\ny\n' });
  expect(await disk('crlf.txt')).toBe('x\r\ny\r\n');
});

test('a change of line endings only is reported as such', async () => {
  await put('a.txt', 'a\nb\n');
  await bench.call('read_file', { path: 'a.txt' });
  await put('a.txt', 'a\r\nb\r\n');
  expect(await bench.call('write_file', { path: 'a.txt', content: 'x\n' })).toMatchObject({
    content:
      'Nothing was written. a.txt has changed since you read it (+0 −0):\n(Line endings: LF before, CRLF now.)\nIf your change is still right, make it again on this.',
  });
});

test('an untrusted workspace is not changed', async () => {
  workspace.trusted = false;
  expect(await bench.call('write_file', { path: 'a.txt', content: 'x' })).toMatchObject({ is_error: true });
  await expect(disk('a.txt')).rejects.toThrow();
});

test('a line too long to show is reported, and the rest can be read', async () => {
  await put('long.txt', `${'x'.repeat(50_000)}\nshort\n`);
  const response = await bench.call('read_file', { path: 'long.txt' });
  expect(response.content).toContain(
    '(Line 1 is too long to show whole: search can look into it.)\n(It goes on: first_line 2.)',
  );
  await bench.call('read_file', { path: 'long.txt', first_line: 2 });
  expect(bench.log.state.seen.get('long.txt')?.part).toEqual({ ranges: [[2, 3]], of: 3 });
});
