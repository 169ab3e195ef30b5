// The tool search on real files, with the real ripgrep and without: matches, limits, hidden and unsaved files, cancelling.
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { succeeded } from '../../../../src/base/errors.ts';
import { parseIgnore, viewFor } from '../../../../src/core/consent/ignoreFile.ts';
import { type ToolContext, type ToolOutcome } from '../../../../src/core/ports/ports.ts';
import { type Workspace } from '../../../../src/core/ports/workspace.ts';
import { createSearchTool } from '../../../../src/tools/searching/search.ts';
import { FoundLines } from '../../../../src/tools/searching/searchQuery.ts';
import { shippedRipgrep } from '../../../support/tools/ripgrep.ts';
import { createFolderWorkspace } from '../../../support/workspace/folderWorkspace.ts';

let folder: string;
let progress: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'earshot-search-'));
  progress = [];
});
afterEach(() => rm(folder, { recursive: true }));

const write = async (path: string, text: string | Uint8Array) => {
  await mkdir(join(folder, path, '..'), { recursive: true });
  await writeFile(join(folder, path), text);
};

const engines = {
  ripgrep: shippedRipgrep,
  'the scan': async () => undefined,
};

describe.each(Object.entries(engines))('%s', (name, ripgrep) => {
  const tool = createSearchTool({ ripgrep });
  const search = (args: unknown, more: Partial<ToolContext> = {}): Promise<ToolOutcome> => {
    const parsed = tool.parse(args);
    if (!parsed.ok) throw new Error(parsed.failure.message);
    const context = {
      signal: new AbortController().signal,
      workspace: createFolderWorkspace(folder),
      hides: () => false,
      progress: (text: string) => void progress.push(text),
      ...more,
    };
    return tool.run(parsed.value, context as ToolContext);
  };

  test('plain text is found by default, with line numbers, sorted by path, and shown while searching', async () => {
    await write('src/b.ts', 'one\nfoo(1) or foo(2)\n');
    await write('src/a.ts', 'const x = foo(1);\r\nlast');
    await write('c.txt', 'nothing');
    const { content, isError } = await search({ query: 'FOO('.toLowerCase() });
    expect(content).toBe(
      '2 matching lines in 2 files:\nsrc/a.ts\n  1: const x = foo(1);\nsrc/b.ts\n  2: foo(1) or foo(2)',
    );
    expect(isError).toBe(false);
    expect(progress.sort().join('')).toBe('src/a.ts\n  1: const x = foo(1);\nsrc/b.ts\n  2: foo(1) or foo(2)\n');
  });

  test('regular expressions, case, globs, a folder and context lines are respected', async () => {
    await write('src/a.ts', 'zero\nOne\ntwo\nthree\nfour\nfive\nONE');
    await write('src/a.css', 'one');
    await write('lib/a.ts', 'one');
    await write('lib/deep/a.ts', 'one');
    const found = async (args: object) =>
      (await search({ query: 'one', ...args })).content.split('\n').filter((line) => !line.startsWith(' '));
    expect((await found({})).slice(1)).toEqual(['lib/a.ts', 'lib/deep/a.ts', 'src/a.css', 'src/a.ts']);
    expect((await found({ include: ['*.ts'] })).slice(1)).toEqual(['lib/a.ts', 'lib/deep/a.ts', 'src/a.ts']);
    expect((await found({ include: ['lib/*.ts'] })).slice(1)).toEqual(['lib/a.ts']);
    expect((await found({ include: ['*.ts'], exclude: ['lib'] })).slice(1)).toEqual(['src/a.ts']);
    expect((await found({ path: 'lib/deep' })).slice(1)).toEqual(['lib/deep/a.ts']);
    expect((await found({ path: 'src/a.css' })).slice(1)).toEqual(['src/a.css']);
    expect((await search({ query: 'One' })).content).toBe('1 matching line in 1 file:\nsrc/a.ts\n  2: One');
    const around = await search({ query: '^(One|ONE)$', regex: true, context_lines: 1 });
    expect(around.content).toBe(
      '2 matching lines in 1 file:\nsrc/a.ts\n  1- zero\n  2: One\n  3- two\n  …\n  6- five\n  7: ONE',
    );
  });

  test('an unsaved buffer is searched instead of its file', async () => {
    await write('open.ts', 'saved word\n');
    await write('other.ts', 'saved word\n');
    const workspace = createFolderWorkspace(folder);
    const open = await workspace.resolve('open.ts');
    if (!open.ok) throw new Error(open.failure.message);
    const read = workspace.read;
    workspace.unsaved = () => [open.value];
    workspace.read = (file) =>
      file.path === 'open.ts'
        ? Promise.resolve(succeeded({ bytes: Buffer.from('new\nbuffer word\n'), unsaved: true }))
        : read(file);
    expect((await search({ query: 'word' }, { workspace })).content).toBe(
      '2 matching lines in 2 files:\nopen.ts\n  2: buffer word\nother.ts\n  1: saved word',
    );
    expect((await search({ query: 'saved', include: ['open.*'] }, { workspace })).content).toBe('Nothing was found.');
  });

  test('hidden files are neither shown nor counted unless the user allowed them by name', async () => {
    await write('.env', 'TOKEN=1');
    await write('private/a.txt', 'TOKEN=2');
    await write('a.txt', 'TOKEN=3');
    const hidden = parseIgnore('private/\n.env');
    const workspace: Workspace = viewFor(createFolderWorkspace(folder), hidden, new Set());
    const context = { workspace, hides: (path: string) => hidden.hides(path) };
    expect((await search({ query: 'TOKEN' }, context)).content).toBe('1 matching line in 1 file:\na.txt\n  1: TOKEN=3');
    expect((await search({ query: 'TOKEN', path: '.env' }, context)).content).not.toContain('TOKEN=1');
    const letIn = { ...context, workspace: viewFor(createFolderWorkspace(folder), hidden, new Set(), ['.env']) };
    expect((await search({ query: 'TOKEN', path: '.env' }, letIn)).content).toContain('TOKEN=1');
  });

  test('names with spaces, quotes, dashes, line ends and astral characters are found', async () => {
    const names = ['-x.ts', 'a b.ts', 'it\'s "so".ts', 'line\nend.ts', 'tea🫖.ts', '!not.ts', '[a].ts'];
    for (const one of names) await write(one, 'needle');
    const { content } = await search({ query: 'needle' });
    const shown = names.map((one) => (one.includes('\n') ? JSON.stringify(one) : one)).sort();
    expect(
      content
        .split('\n')
        .filter((line, index) => index > 0 && !line.startsWith(' '))
        .sort(),
    ).toEqual(shown);
    expect((await search({ query: 'needle', path: '-x.ts' })).content).toContain('1 matching line');
  });

  test('long lines are cut around the match, and the limit of matches is reported', async () => {
    await write('long.txt', `${'a'.repeat(5000)}needle${'b'.repeat(5000)}`);
    const line = (await search({ query: 'needle' })).content.split('\n')[2] ?? '';
    expect(line).toMatch(/^ {2}1: …a{80}needleb+…$/);
    expect(line.length).toBeLessThan(320);
    for (let file = 0; file < 5; file++) await write(`many/${file}.txt`, 'needle\n'.repeat(90));
    const many = await search({ query: 'needle', path: 'many' });
    expect(many.content.split('\n').filter((one) => one.includes(': needle'))).toHaveLength(200);
    expect(many.content).toMatch(/^200 or more matching lines in 3 files:/);
    expect(many.content).toMatch(/\(There is more: narrow it with path, include or a longer query\.\)$/);
  });

  test('a file with more matches than are shown of one file is marked with the next line', async () => {
    await write('a/few.txt', 'needle\n'.repeat(100));
    await write('a/many.txt', 'needle\nhay\n'.repeat(130));
    const { content } = await search({ query: 'needle', path: 'a/many.txt' });
    expect(content).toMatch(/^100 or more matching lines in 1 file:/);
    expect(content.split('\n').slice(-2)).toEqual([
      '  199: needle',
      '  (More from line 201 on: use a longer query, or read the file from there.)',
    ]);
    expect((await search({ query: 'needle', path: 'a/few.txt' })).content).toMatch(/^100 match[^(]*100: needle$/);
    expect((await search({ query: 'needle', path: 'a', context_lines: 1 })).content).toMatch(
      /^200 or more matching lines in 2 files:[^]*200- hay\n {2}\(More from line 201 on[^)]*\)$/,
    );
  });

  test('exactly as many matches as are shown are not reported as more', async () => {
    for (let file = 0; file < 4; file++) await write(`many/${file}.txt`, 'needle\n'.repeat(50));
    expect((await search({ query: 'needle' })).content).toMatch(/^200 matching lines in 4 files:[^(]*needle$/);
  });

  test('a file or line that is too large to be searched is named, unless it is binary or hidden', async () => {
    await write('big.txt', `needle${'a'.repeat(5_000_000)}\n`);
    await write('hidden.txt', `needle${'a'.repeat(5_000_000)}\n`);
    await write('picture.bin', new Uint8Array(5_000_000));
    const note = '(Too large to be searched whole: big.txt. Use read_file or a command.)';
    const hides = (path: string) => path === 'hidden.txt';
    expect((await search({ query: 'needle' }, { hides })).content).toBe(`Nothing was found.\n${note}`);
    await write('small.txt', 'needle');
    expect((await search({ query: 'needle' }, { hides })).content).toBe(
      `1 matching line in 1 file:\nsmall.txt\n  1: needle\n${note}`,
    );
  });

  test('text of several lines is found line by line, or refused without ripgrep', async () => {
    await write('a.txt', 'zero\none\r\ntwo\none\ntwo\nthree');
    const { content, isError } = await search({ query: 'one\\r?\\ntwo', regex: true });
    if (name === 'ripgrep')
      expect(content).toBe('4 matching lines in 1 file:\na.txt\n  2: one\n  3: two\n  4: one\n  5: two');
    else expect([content.includes('Search for one of the lines.'), isError]).toEqual([true, true]);
    await write('b.txt', 'one\ntwo\n'.repeat(100));
    const many = await search({ query: 'one\ntwo', path: 'b.txt' });
    if (name === 'ripgrep') expect(many.content).toMatch(/^100 or more[^]*100: two\n {2}\(More from line 101 on/);
  });

  test('no matches, an invalid pattern and a missing folder each give a next step', async () => {
    await write('a.txt', 'text');
    expect((await search({ query: 'a|b' })).content).toBe(
      'Nothing was found.\n(It was looked for as plain text; regex makes it a regular expression.)',
    );
    const broken = await search({ query: 'a(', regex: true });
    expect(broken.isError).toBe(true);
    expect(broken.content).toMatch(/^It could not be searched: [^]*(unclosed group|Unterminated group)/i);
    const outside = await search({ query: 'text', path: '..' });
    expect(outside).toEqual({ content: '.. is outside the workspace.', isError: true, failure: 'outside' });
  });

  test('cancelling ends the search at once and leaves no process', async () => {
    for (let file = 0; file < 400; file++) await write(`d${file % 20}/${file}.txt`, 'word\n'.repeat(3000));
    const stop = new AbortController();
    const first = Promise.withResolvers<void>();
    const running = search(
      { query: 'word', include: ['*.txt'] },
      {
        signal: stop.signal,
        progress: () => {
          first.resolve();
          stop.abort();
        },
      },
    );
    await first.promise;
    expect(await running).toEqual({ content: 'Cancelled by the user.', isError: true, failure: 'cancelled' });
    if (name === 'ripgrep') expect(await programsIn(folder)).toEqual([]);
  });
});

test('a pattern that takes too long is terminated without blocking the editor', async () => {
  await write('evil.txt', `${'a'.repeat(40)}!`);
  const tool = createSearchTool({ ripgrep: async () => undefined });
  const parsed = tool.parse({ query: '^(a+)+$', regex: true });
  if (!parsed.ok) throw new Error(parsed.failure.message);
  const outcome = await tool.run(parsed.value, {
    signal: new AbortController().signal,
    workspace: createFolderWorkspace(folder),
    hides: () => false,
    progress: () => undefined,
  } as unknown as ToolContext);
  expect(outcome.content).toContain('The pattern took longer than 2 s for one file. Simplify it.');
});

test('without ripgrep, ignored folders are searched only on request, and repositories never', async () => {
  await write('node_modules/a.js', 'needle');
  await write('.git/config', 'needle');
  expect(await searchWith(async () => undefined, {})).toBe('Nothing was found.');
  expect(await searchWith(async () => undefined, { include_ignored: true })).toBe(
    '1 matching line in 1 file:\nnode_modules/a.js\n  1: needle',
  );
});

test('files ignored by .gitignore are found only on request', async () => {
  await mkdir(join(folder, '.git'));
  await write('.gitignore', 'dist\n');
  await write('dist/out.js', 'needle');
  await write('.git/config', 'needle');
  expect(await searchWith(shippedRipgrep, {})).toBe('Nothing was found.');
  expect(await searchWith(shippedRipgrep, { include_ignored: true })).toBe(
    '1 matching line in 1 file:\ndist/out.js\n  1: needle',
  );
});

async function searchWith(ripgrep: () => Promise<string | undefined>, args: object): Promise<string> {
  const tool = createSearchTool({ ripgrep });
  const parsed = tool.parse({ query: 'needle', ...args });
  if (!parsed.ok) throw new Error(parsed.failure.message);
  const workspace = createFolderWorkspace(folder);
  const context = { signal: new AbortController().signal, workspace, hides: () => false, progress: () => undefined };
  return (await tool.run(parsed.value, context as unknown as ToolContext)).content;
}

/** Our processes whose working folder is this one. */
async function programsIn(place: string): Promise<string[]> {
  if (process.platform !== 'linux') return [];
  const { readlink } = await import('node:fs/promises');
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry));
  const folders = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => '')));
  return folders.filter((one) => one.startsWith(place));
}

test.each([
  ['before', ['many.txt', 'few.txt']],
  ['after', ['few.txt', 'many.txt']],
])('a file with more matches than are shown is marked, also if it is found %s the others', (_order, paths) => {
  const found = new FoundLines(() => undefined);
  const matches = { 'many.txt': 101, 'few.txt': 100 };
  for (const path of paths) {
    for (let number = 1; number <= matches[path as keyof typeof matches]; number += 1)
      expect(found.take(path, { number, text: 'needle', at: 0 })).toBe(true);
  }
  expect(found.print()).toContain('(More from line 101 on');
});
