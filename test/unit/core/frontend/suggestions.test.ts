// The suggestions of an empty chat in real folders: only what can succeed there, with the Guide and with a model.
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { folderFacts, NO_FOLDER } from '../../../../src/core/frontend/folderFacts.ts';
import { suggestionsFor } from '../../../../src/core/frontend/suggestions.ts';
import { parseRequest } from '../../../../src/models/guide/guideRequest.ts';
import { type FolderFacts } from '../../../../src/protocol/page/folderView.ts';

let parent: string;
beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'earshot-suggestions-'));
});
afterAll(() => rm(parent, { recursive: true, force: true }));

type Files = Readonly<Record<string, string>>;

async function factsOf(
  files: Files,
  { trusted = true, programs = ['npm', 'pnpm', 'cargo', 'go', 'pytest', 'make', '.venv/bin/pytest'] } = {},
): Promise<FolderFacts> {
  const folder = await mkdtemp(join(parent, 'folder-'));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  const entries = await readdir(folder, { withFileTypes: true });
  return folderFacts({
    entries: entries.map((entry) => ({ name: entry.name, kind: entry.isDirectory() ? 'folder' : 'file' })),
    trusted,
    read: (name) => readFile(join(folder, name), 'utf8'),
    hasProgram: async (name) => programs.includes(name),
  });
}

const offered = (folder: FolderFacts, mode: 'agent' | 'plan' = 'agent') => ({
  guide: suggestionsFor(folder, { label: 'Guide' }, { mode }),
  model: suggestionsFor(folder, { label: 'some-model' }, { mode }),
});

const script = (scripts: Files, more: object = {}) => JSON.stringify({ scripts, ...more });
const NODE = { 'package.json': script({ test: 'node --test', check: 'tsc' }), 'README.md': '# Tea', 'src/a.ts': '' };
const RUST = { 'Cargo.toml': '[package]', 'src/main.rs': 'fn main() {}' };
const PYTHON = { 'pyproject.toml': '', 'README.rst': 'Tea', 'shop/a.py': '', 'tests/test_a.py': '' };

describe('the Guide is offered', () => {
  test.each<[string, Files, readonly string[]]>([
    ['an empty folder', { '.git/HEAD': '' }, ['Take the tour', 'Create notes.md with "Ideas"', 'What can you do?']],
    [
      'a Node project',
      NODE,
      ['Take the tour', 'List the files', 'Read README.md', 'Run npm test', 'Fix the problems, then run task check'],
    ],
    [
      'a project of pnpm without a check',
      { 'package.json': script({ test: 'vitest' }), 'pnpm-lock.yaml': '' },
      ['Take the tour', 'List the files', 'Run pnpm test', 'Fix the problems'],
    ],
    [
      'a Python project',
      PYTHON,
      ['Take the tour', 'List the files', 'Read README.rst', 'Run pytest', 'Fix the problems'],
    ],
    ['a Rust project', RUST, ['Take the tour', 'List the files', 'Run cargo test', 'Fix the problems']],
    ['a folder with texts', { 'letter.txt': '' }, ['Take the tour', 'List the files', 'Show the problems']],
  ])('what can succeed in %s, and understands it', async (_, files, expected) => {
    const { guide } = offered(await factsOf(files));
    expect(guide).toEqual(expected);
    expect(guide.filter((text) => parseRequest(text) === undefined)).toEqual([]);
  });

  test.each<[string, Files]>([
    ['packages are not installed', { 'package.json': script({ test: 'x', check: 'y' }, { dependencies: { a: '1' } }) }],
    ['npm init wrote the script', { 'package.json': script({ test: 'echo "Error: no test specified" && exit 1' }) }],
    ['package.json is invalid', { 'package.json': '{' }],
    ['the Makefile has no such target', { Makefile: 'all:\n\ttrue\n' }],
  ])('no tests if %s', async (_, files) => {
    const { guide } = offered(await factsOf(files));
    expect(guide.filter((text) => /^Run |task/.test(text))).toEqual([]);
  });

  test.each([NODE, RUST, PYTHON])('no tests if their program is not installed', async (files) => {
    expect((await factsOf(files, { programs: [] })).tests).toBeUndefined();
  });
});

test('without a folder only questions are offered', () => {
  expect(offered(NO_FOLDER)).toEqual({
    guide: ['What can you do?'],
    model: ['What can you do?', 'Write a small program that I can copy'],
  });
});

test('before the folder is known nothing is offered', () => {
  expect(suggestionsFor(undefined, { label: 'Guide' }, { mode: 'agent' })).toEqual([]);
});

test.each(['untrusted', 'plan'])('%s: nothing is offered that runs a command or changes a file', async (why) => {
  const facts = await factsOf(NODE, { trusted: why !== 'untrusted' });
  const { guide, model } = offered(facts, why === 'plan' ? 'plan' : 'agent');
  expect(guide).toEqual(['List the files', 'Read README.md', 'Show the problems']);
  expect(model).toEqual(['Explain what this project does', 'Find the problems in this folder and explain them']);
});

test('a model is offered the tests only if they can run, and a start in an empty folder', async () => {
  expect(offered(await factsOf(NODE)).model).toContain('Run the tests and fix what fails');
  expect(offered(await factsOf(RUST, { programs: [] })).model).toContain('Write tests for this project');
  expect(offered(await factsOf({})).model).toEqual([
    'Start a new project in this folder',
    'Create a small web page',
    'Plan a new project with me',
  ]);
});
