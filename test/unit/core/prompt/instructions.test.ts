// Instruction files, slash commands from prompt files, and files hidden by .earshotignore.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseIgnore, viewFor } from '../../../../src/core/consent/ignoreFile.ts';
import { type UserFiles } from '../../../../src/core/ports/userFiles.ts';
import { type Workspace } from '../../../../src/core/ports/workspace.ts';
import { readInstructions } from '../../../../src/core/prompt/instructions.ts';
import { expandPrompt, listPrompts, readPrompt } from '../../../../src/core/prompt/promptFiles.ts';
import { realFileSystem } from '../../../../src/node/files/fileSystem.ts';
import { createUserFiles } from '../../../../src/storage/userFiles.ts';
import { createFolderWorkspace } from '../../../support/workspace/folderWorkspace.ts';

let root: string;
let workspace: Workspace;
let userFiles: UserFiles;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'earshot-instructions-'));
  workspace = createFolderWorkspace(join(root, 'workspace'));
  userFiles = createUserFiles({ files: realFileSystem, folder: join(root, 'home') });
});
afterEach(() => rm(root, { recursive: true }));

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}

describe('instructions', () => {
  test('are empty without instruction files', async () => {
    expect(await readInstructions(workspace, ['src/a.ts'], userFiles)).toEqual([]);
  });

  test('are ordered from general to specific, without repeated texts', async () => {
    await put('home/AGENTS.md', 'Be brief.');
    await put('workspace/AGENTS.md', 'Use tabs.\n');
    await put('workspace/CLAUDE.md', '  Use tabs.');
    await put('workspace/.github/copilot-instructions.md', 'Write tests.');
    await put('workspace/packages/AGENTS.md', 'Packages use pnpm.');
    await put('workspace/packages/a/AGENTS.md', 'Package a uses spaces.');
    await put('workspace/packages/b/AGENTS.md', 'Never seen.');
    const texts = (await readInstructions(workspace, ['packages/a/src/x.ts', 'README.md'], userFiles)).map(
      ({ text }) => text,
    );
    expect(texts).toEqual([
      '\nInstructions from the user’s own file:\nBe brief.',
      '\nInstructions from AGENTS.md:\nUse tabs.',
      '\nInstructions from .github/copilot-instructions.md:\nWrite tests.',
      '\nInstructions from packages/AGENTS.md, for files below packages and before those of folders above it:\nPackages use pnpm.',
      '\nInstructions from packages/a/AGENTS.md, for files below packages/a and before those of folders above it:\nPackage a uses spaces.',
    ]);
  });

  test('are cut if they are very long', async () => {
    await put('workspace/AGENTS.md', 'x'.repeat(50_000));
    const [text = ''] = (await readInstructions(workspace, [], undefined)).map((one) => one.text);
    expect(text.length).toBeLessThan(20_200);
    expect(text).toContain('left out');
  });
});

describe('slash commands', () => {
  beforeEach(async () => {
    await put(
      'workspace/.github/prompts/review.prompt.md',
      '---\ndescription: "Reviews"\nmode: agent\n---\nReview ${input:what}.\n',
    );
    await put('workspace/.github/prompts/notes.md', 'no prompt');
    await put('home/prompts/review.prompt.md', 'The user’s own.');
    await put('home/prompts/plan.prompt.md', 'Make a plan.');
  });

  test('come from the prompt files of the workspace and the user; those of the workspace take precedence', async () => {
    expect(await listPrompts(workspace, userFiles)).toEqual([
      { name: 'plan', description: '', body: 'Make a plan.' },
      { name: 'review', description: 'Reviews', body: 'Review ${input:what}.' },
    ]);
  });

  test.each([
    ['/review src/a.ts', 'Review src/a.ts.'],
    ['/review', 'Review .'],
    ['/plan', 'Make a plan.'],
    ['/plan for $& and $1\nsoon', 'Make a plan.\n\nfor $& and $1\nsoon'],
    ['/unknown thing', '/unknown thing'],
    ['/etc/hosts is odd', '/etc/hosts is odd'],
    ['/../plan', '/../plan'],
    ['say /plan', 'say /plan'],
  ])('%j becomes %j', async (typed, sent) => {
    expect(await expandPrompt(typed, workspace, userFiles)).toEqual({ ok: true, value: sent });
  });

  test('an unterminated front matter is text', () => {
    expect(readPrompt('---\nno end')).toEqual({ description: '', body: '---\nno end' });
  });
});

describe('.earshotignore', () => {
  const { hides } = parseIgnore(
    '# comment\n*.key\n!public.key\n/only-top.txt\nbuild/\nsecrets/**\ndocs/*.md\n\\#odd\n',
  );
  test.each([
    ['a.key', true],
    ['deep/down/a.key', true],
    ['public.key', false],
    ['only-top.txt', true],
    ['deep/only-top.txt', false],
    ['build/x/y', true],
    ['deep/build/x', true],
    ['secrets/a/b', true],
    ['docs/a.md', true],
    ['docs/deep/a.md', false],
    ['#odd', true],
    ['.hidden.key', true],
    ['plain.txt', false],
  ])('%s: %s', (path, hidden) => {
    expect(hides(path)).toBe(hidden);
  });
});

test('a tool sees no hidden files, and outside the workspace only approved paths', async () => {
  await put('workspace/a.key', '');
  await put('workspace/a.txt', '');
  await put('outside.txt', '');
  await put('other.txt', '');
  const view = viewFor(workspace, parseIgnore('*.key'), new Set(['../outside.txt']));
  const listed = await view.list({ path: '', absolute: join(root, 'workspace') });
  expect(listed.ok && listed.value.map(({ name }) => name)).toEqual(['a.txt']);
  expect(await view.resolve('../outside.txt')).toMatchObject({ ok: true });
  expect(await view.resolve('../other.txt')).toMatchObject({ ok: false, failure: { code: 'outside' } });
  expect(view.folders).toBe(workspace.folders);
});
