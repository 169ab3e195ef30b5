// read_file, list_files and argument errors on a real folder.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Tool, type ToolContext, type ToolOutcome } from '../../../src/core/ports/ports.ts';
import { listFilesTool } from '../../../src/tools/files/listFiles.ts';
import { readFileTool } from '../../../src/tools/files/readFile.ts';
import { createFolderWorkspace } from '../../support/workspace/folderWorkspace.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'earshot-tools-'));
});
afterEach(() => rm(folder, { recursive: true }));

function run(tool: Tool, args: unknown, more: Partial<ToolContext> = {}): Promise<ToolOutcome> {
  const parsed = tool.parse(args);
  if (!parsed.ok) throw new Error(parsed.failure.message);
  const context = {
    signal: new AbortController().signal,
    workspace: createFolderWorkspace(folder),
    ...more,
  };
  // These two tools do not use the rest of the context.
  return tool.run(parsed.value, context as ToolContext);
}

test('read_file shows the text and records which bytes were seen', async () => {
  await writeFile(join(folder, 'a.txt'), 'one\ntwo\n');
  const outcome = await run(readFileTool, { path: 'a.txt' });
  expect(outcome.content).toBe('one\ntwo\n');
  expect(outcome.seen?.map(({ file, bytes }) => [file.path, Buffer.from(bytes ?? []).toString()])).toEqual([
    ['a.txt', 'one\ntwo\n'],
  ]);
});

test('read_file returns a long file in contiguous parts', async () => {
  const lines = Array.from({ length: 2500 }, (_, index) => `line ${index + 1}`);
  await writeFile(join(folder, 'long.txt'), lines.join('\n'));
  const parts: string[] = [];
  for (let first: number | undefined = 1; first !== undefined; ) {
    const { content } = await run(readFileTool, { path: 'long.txt', first_line: first });
    const next: string | undefined = content.match(/\(It goes on: first_line (\d+)\.\)$/)?.[1];
    parts.push(content.replace(/\n\(It goes on.*$/, ''));
    first = next === undefined ? undefined : Number(next);
  }
  expect(parts.length).toBeGreaterThan(1);
  expect(parts.join('\n').split('\n')).toEqual(lines);
});

test('read_file refuses binary, missing and outside files with the reason', async () => {
  await writeFile(join(folder, 'binary'), Uint8Array.of(1, 0, 2));
  expect(await run(readFileTool, { path: 'binary' })).toMatchObject({
    isError: true,
    content: 'binary is not a text file (3 bytes).',
  });
  expect(await run(readFileTool, { path: 'nowhere' })).toMatchObject({ isError: true });
  expect(await run(readFileTool, { path: '../x' })).toMatchObject({
    isError: true,
    content: '../x is outside the workspace.',
  });
});

test('invalid arguments are reported by their field', () => {
  expect(readFileTool.parse({ path: 7 })).toMatchObject({
    ok: false,
    failure: { message: expect.stringMatching(/^path: /) as string },
  });
  expect(readFileTool.parse({ path: 'a', more: 1 })).toMatchObject({ ok: false });
  expect(readFileTool.description.parameters).toMatchObject({ type: 'object', required: ['path'] });
});

test('list_files lists level by level and skips node_modules', async () => {
  await mkdir(join(folder, 'src', 'deep'), { recursive: true });
  await mkdir(join(folder, 'node_modules', 'x'), { recursive: true });
  await writeFile(join(folder, 'src', 'deep', 'a.ts'), '');
  await writeFile(join(folder, 'b.ts'), '');
  const { content } = await run(listFilesTool, {});
  expect(content.split('\n')).toEqual([
    'b.ts',
    'node_modules/',
    'src/',
    'src/deep/',
    'src/deep/a.ts',
    '(Not looked into: node_modules/)',
  ]);
});
