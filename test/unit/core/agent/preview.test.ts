// The preview of an approval: it equals the result of the call, which never changes bytes other than those previewed.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Emitter } from '../../../../src/base/emitter.ts';
import { succeeded } from '../../../../src/base/errors.ts';
import { type QuickFixes } from '../../../../src/core/ports/fixes.ts';
import { type Languages } from '../../../../src/core/ports/languages.ts';
import { type ApprovalAnswer } from '../../../../src/core/ports/ports.ts';
import { realFileSystem } from '../../../../src/node/files/fileSystem.ts';
import { type FileDiff } from '../../../../src/protocol/page/diffView.ts';
import { createSnapshots } from '../../../../src/storage/snapshots.ts';
import { createQuickFixTool } from '../../../../src/tools/language/quickFix.ts';
import { createSymbolsTool } from '../../../../src/tools/language/symbols.ts';
import { readDiffs } from '../../../../src/core/files/readDiffs.ts';
import { createToolBench, type ToolBench } from '../../../support/tools/toolBench.ts';
import {
  createFolderDisk,
  createFolderWorkspace,
  type FolderDisk,
  type FolderWorkspace,
} from '../../../support/workspace/folderWorkspace.ts';

let root: string;
let workspace: FolderWorkspace;
let below: FolderDisk;
let bench: ToolBench;
let changes: Emitter<void>;

const text = (lines: number, word = 'line') =>
  Array.from({ length: lines }, (_, index) => `${word} ${index + 1}\n`).join('');
const put = (name: string, content: string | Uint8Array) => writeFile(join(root, 'work', name), content);
const disk = (name: string) => readFile(join(root, 'work', name), 'utf8');
const snapshots = () => createSnapshots({ files: realFileSystem, folder: join(root, 'storage') });
const approve: ApprovalAnswer = { action: 'approve', by: 'user' };

/** Renames `bad` to `good` in two files. */
const languages: Pick<Languages, 'rename'> = {
  rename: async () => {
    const found = [];
    for (const path of ['one.ts', 'two.ts']) {
      const file = await workspace.resolve(path);
      const from = { line: 1, column: 5 };
      if (file.ok)
        found.push({ path, file: file.value, replacements: [{ from, to: { line: 1, column: 8 }, text: 'good' }] });
    }
    return succeeded(found);
  },
};

const fixes: QuickFixes = {
  of: async (file) => {
    const before = await disk('one.ts');
    const texts = async () => succeeded([{ absolute: file.absolute, before, after: `// fixed\n${before}` }]);
    return succeeded([
      { line: 1, severity: 'error', message: 'm', fixes: [{ title: 'Fix it', preferred: true, texts }] },
    ]);
  },
};

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'earshot-preview-'));
  await mkdir(join(root, 'work'));
  below = createFolderDisk(join(root, 'work'));
  workspace = createFolderWorkspace(join(root, 'work'), below);
  changes = new Emitter((error) => {
    throw error;
  });
  bench = await createToolBench(workspace, snapshots(), {
    tools: [createSymbolsTool(languages as Languages), createQuickFixTool(fixes)],
    onDidChangeFiles: changes.event,
  });
  await put('a.txt', text(20));
  await put('one.ts', 'let bad = 1;\nbad();\n');
  await put('two.ts', 'use bad;\n');
  for (const path of ['a.txt', 'one.ts', 'two.ts']) await bench.call('read_file', { path });
});

afterEach(async () => {
  bench.log.dispose();
  await rm(root, { recursive: true });
  expect(bench.errors).toEqual([]);
});

const shown = (index = 0) => bench.frontend.asked[index]?.preview?.files ?? [];
const counts = (files: readonly FileDiff[]) =>
  files.map(({ path, kind, added, removed }) => ({ path, kind, added, removed }));

describe('the preview equals the result of the call', () => {
  const patch = (...lines: string[]) => ({ input: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') });
  test.each([
    ['write_file', { path: 'a.txt', content: 'x\ny\n' }, [['a.txt', 'changed', 2, 20]]],
    ['write_file', { path: 'new.txt', content: text(3000) }, [['new.txt', 'created', 3000, 0]]],
    [
      'edit_file',
      { path: 'a.txt', edits: [{ old_text: 'line 7\n', new_text: 'seven\n7\n' }] },
      [['a.txt', 'changed', 2, 1]],
    ],
    [
      'edit_file',
      { path: 'a.txt', edits: [{ old_text: 'line', new_text: 'row', replace_all: true }] },
      [['a.txt', 'changed', 20, 20]],
    ],
    ['delete_file', { path: 'a.txt' }, [['a.txt', 'deleted', 0, 20]]],
    ['move_file', { path: 'a.txt', to: 'deep/b.txt' }, [['deep/b.txt', 'moved', 0, 0]]],
    [
      'apply_patch',
      patch(
        '*** Add File: n.txt',
        '+n',
        '*** Update File: a.txt',
        '@@',
        '-line 1',
        ' line 2',
        '*** Delete File: two.ts',
      ),
      [
        ['n.txt', 'created', 1, 0],
        ['a.txt', 'changed', 0, 1],
        ['two.ts', 'deleted', 0, 1],
      ],
    ],
    [
      'apply_patch',
      patch('*** Update File: a.txt', '*** Move to: b.txt', '@@', '-line 1', ' line 2'),
      [
        ['a.txt', 'deleted', 0, 20],
        ['b.txt', 'created', 19, 0],
      ],
    ],
    [
      'symbols',
      { action: 'rename', path: 'one.ts', symbol: 'bad', line: 1, new_name: 'good' },
      [
        ['one.ts', 'changed', 1, 1],
        ['two.ts', 'changed', 1, 1],
      ],
    ],
    ['quick_fix', { path: 'one.ts', title: 'Fix it' }, [['one.ts', 'changed', 1, 0]]],
  ] as const)('%s %#', async (name, args, expected) => {
    const response = await bench.call(name, args);
    expect(response).toMatchObject({ is_error: false });
    const after = await readDiffs(snapshots(), response.changes ?? []);
    expect(counts(shown())).toEqual(counts(after));
    expect(counts(shown())).toEqual(expected.map(([path, kind, added, removed]) => ({ path, kind, added, removed })));
  });

  test('it shows removed lines with their line numbers', async () => {
    await bench.call('write_file', { path: 'a.txt', content: text(19) });
    await bench.call('delete_file', { path: 'two.ts' });
    expect(shown(0)[0]?.hunks).toEqual([
      { oldStart: 17, newStart: 17, lines: [' line 17', ' line 18', ' line 19', '-line 20'] },
    ]);
    expect(shown(1)[0]?.hunks).toEqual([{ oldStart: 1, newStart: 1, lines: ['-use bad;'] }]);
  });

  test('it shows all 3,000 lines of a deleted file', async () => {
    await put('long.txt', text(3000, 'old'));
    await bench.call('delete_file', { path: 'long.txt' });
    expect(counts(shown())).toEqual([{ path: 'long.txt', kind: 'deleted', added: 0, removed: 3000 }]);
    expect(shown()[0]?.hunks.flatMap(({ lines }) => lines)).toHaveLength(3000);
    expect(shown()[0]).not.toHaveProperty('cut');
  });

  test('it shows only sizes for a binary file and for a file that is too long', async () => {
    await put('b.bin', Uint8Array.of(0, 1, 2));
    await put('huge.txt', text(400_000));
    await bench.call('delete_file', { path: 'b.bin' });
    await bench.call('delete_file', { path: 'huge.txt' });
    expect(shown(0)).toMatchObject([{ note: 'not_text', sizes: { before: 3 } }]);
    expect(shown(1)).toMatchObject([{ note: 'too_long', removed: 400_000, sizes: { before: text(400_000).length } }]);
  });
});

test('previewing rejected calls changes neither the file nor what counts as seen', async () => {
  bench.frontend.answer = async () => ({ action: 'reject', by: 'user' });
  const before = bench.log.state.seen.get('a.txt');
  for (const [name, args] of [
    ['write_file', { path: 'a.txt', content: 'x' }],
    ['delete_file', { path: 'a.txt' }],
    ['move_file', { path: 'a.txt', to: 'b.txt' }],
  ] as const) {
    expect(await bench.call(name, args)).toMatchObject({ is_error: true });
  }
  expect(shown(2)).toHaveLength(1);
  expect(await disk('a.txt')).toBe(text(20));
  expect(bench.log.state.seen.get('a.txt')).toEqual(before);
});

test('the preview of a call that cannot succeed states the reason', async () => {
  await bench.call('edit_file', { path: 'a.txt', edits: [{ old_text: 'nowhere', new_text: 'x' }] });
  expect(bench.frontend.asked[0]?.preview).toEqual({
    files: [],
    refusal: expect.stringContaining('old_text') as string,
    failure: 'The file has other content.',
  });
});

describe('a file that changes while the approval is open', () => {
  test('updates the open preview', async () => {
    const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<ApprovalAnswer>()];
    bench.frontend.answer = () => {
      asked.resolve();
      return answer.promise;
    };
    bench.frontend.onApprovalChanged = () => answer.resolve(approve);
    const called = bench.call('edit_file', { path: 'a.txt', edits: [{ old_text: 'line 7', new_text: 'seven' }] });
    await asked.promise;
    await put('a.txt', `new\n${text(20)}`);
    changes.fire();
    expect(await called).toMatchObject({ is_error: false });
    expect(bench.frontend.changed[0]?.preview?.files[0]?.hunks[0]?.oldStart).toBe(5);
    expect(bench.frontend.asked).toHaveLength(1);
  });

  test('without a change event: the approval is asked again with the new preview', async () => {
    bench.frontend.answer = async () => {
      if (bench.frontend.asked.length === 1) await put('a.txt', `new\n${text(20)}`);
      return approve;
    };
    const edit = { path: 'a.txt', edits: [{ old_text: 'line 7', new_text: 'seven' }] };
    expect(await bench.call('edit_file', edit)).toMatchObject({ is_error: false });
    expect(bench.frontend.asked.map(({ problem }) => problem)).toEqual([
      undefined,
      expect.stringContaining('has changed meanwhile') as string,
    ]);
    expect(shown(1)[0]?.hunks[0]?.oldStart).toBe(5);
    expect(await disk('a.txt')).toContain('seven');
  });

  test.each(['approve', 'reject'] as const)(
    'after the answer: the file stays as it is and the approval is asked again, answered with %s',
    async (action) => {
      const read = below.readJudged.bind(below);
      bench.frontend.answer = async () => (bench.frontend.asked.length === 1 ? approve : { action, by: 'user' });
      let reads = 0;
      // The first two reads are for the preview and the answer; another program writes before the third.
      below.readJudged = async (file, ...rest) => {
        if (file.path === 'a.txt' && (reads += 1) === 3) await put('a.txt', `new\n${text(20)}`);
        return read(file, ...rest);
      };
      const edit = { path: 'a.txt', edits: [{ old_text: 'line 7', new_text: 'seven' }] };
      const response = await bench.call('edit_file', edit);
      expect(bench.frontend.asked.map(({ problem }) => problem === undefined)).toEqual([true, false]);
      expect(shown(1)[0]?.hunks[0]?.oldStart).toBe(5);
      expect(response.is_error).toBe(action === 'reject');
      const after = action === 'reject' ? text(20) : text(20).replace('line 7', 'seven');
      expect(await disk('a.txt')).toBe(`new\n${after}`);
    },
  );

  test('through another call of the same answer: the approval of the second call is asked again', async () => {
    const edit = (from: string) => ({ path: 'a.txt', edits: [{ old_text: `${from}\n`, new_text: `${from}!\n` }] });
    const first = Promise.withResolvers<ApprovalAnswer>();
    bench.frontend.answer = async ({ call }) => {
      const { edits } = call.arguments as { edits: { old_text: string }[] };
      return edits[0]?.old_text === 'line 1\n' ? first.promise : approve;
    };
    const slow = bench.call('edit_file', edit('line 1'));
    expect(await bench.call('edit_file', edit('line 2'))).toMatchObject({ is_error: false });
    first.resolve(approve);
    expect(await slow).toMatchObject({ is_error: false });
    expect(bench.frontend.asked).toHaveLength(3);
    expect((await disk('a.txt')).startsWith('line 1!\nline 2!\n')).toBe(true);
  });
});
