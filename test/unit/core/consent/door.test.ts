// Which workspace files may be read without approval: by name, link target and file type.
import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { guardWorkspace } from '../../../../src/core/consent/door.ts';
import { parseIgnore, readHidden, viewFor } from '../../../../src/core/consent/ignoreFile.ts';
import { type FilePath, type Workspace } from '../../../../src/core/ports/workspace.ts';
import { readInstructions } from '../../../../src/core/prompt/instructions.ts';
import { expandPrompt } from '../../../../src/core/prompt/promptFiles.ts';
import { createFolderDisk, createFolderWorkspace } from '../../../support/workspace/folderWorkspace.ts';

const SECRET = 'BEGIN PRIVATE KEY';
let root: string;
let workspace: Workspace;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'earshot-door-'));
  workspace = createFolderWorkspace(join(root, 'work'));
  await put('outside/secret.txt', SECRET);
  await put('outside/prompts/leak.prompt.md', SECRET);
  await put('outside/copilot-instructions.md', SECRET);
  await put('work/.env', SECRET);
  await put('work/keys/server.pem', SECRET);
  await put('work/private/notes.md', SECRET);
  await put('work/.earshotignore', 'private/\n');
  await put('work/plain.md', 'Use tabs.');
});
afterEach(() => rm(root, { recursive: true }));

async function put(path: string, text: string | Uint8Array): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}

async function link(path: string, to: string): Promise<void> {
  await mkdir(dirname(join(root, 'work', path)), { recursive: true });
  await symlink(to, join(root, 'work', path));
}

const fileOf = (path: string): FilePath => ({ path, absolute: join(root, 'work', path) });

async function read(path: string, from = workspace): Promise<string> {
  const content = await from.read(fileOf(path));
  return content.ok ? new TextDecoder().decode(content.value.bytes) : content.failure.code;
}

describe('a link', () => {
  test.each([
    ['out of the workspace', () => join(root, 'outside/secret.txt'), 'outside'],
    ['to a protected file', () => '.env', 'protected'],
    ['to a file in a protected place', () => 'keys/server.pem', 'protected'],
    ['to a hidden file', () => 'private/notes.md', 'hidden'],
    ['to a device', () => '/dev/zero', 'outside'],
    ['to the environment of this process', () => '/proc/self/environ', 'outside'],
    ['to nothing', () => 'nowhere.md', 'not_found'],
    ['to itself', () => 'AGENTS.md', 'unreadable'],
    ['to a plain file of the workspace', () => 'plain.md', 'Use tabs.'],
  ])('%s', async (_, target, expected) => {
    await link('AGENTS.md', target());
    expect(await read('AGENTS.md')).toBe(expected);
    await link('chain.md', 'AGENTS.md');
    expect(await read('chain.md')).toBe(expected);
  });

  test('from a folder to outside the workspace: its files are neither read nor listed', async () => {
    await link('.github', join(root, 'outside'));
    expect(await read('.github/copilot-instructions.md')).toBe('outside');
    expect(await workspace.list(fileOf('.github/prompts'))).toMatchObject({ ok: false, failure: { code: 'outside' } });
  });

  test('from a folder to a hidden folder: its files are not read', async () => {
    await link('docs', 'private');
    expect(await read('docs/notes.md')).toBe('hidden');
    expect(await workspace.mayShow(fileOf('docs/notes.md'))).toBe(false);
  });

  test('a missing file is reported as not found, even under a protected name', async () => {
    expect(await read('deep/.env')).toBe('not_found');
  });
});

describe('irregular and large files', () => {
  test('a named pipe is refused without waiting for data', async () => {
    execFileSync('mkfifo', [join(root, 'work/AGENTS.md')]);
    expect(await read('AGENTS.md')).toBe('not_regular');
    const refused: string[] = [];
    expect(await readInstructions(workspace, [], undefined, (path) => refused.push(path))).toEqual([]);
    expect(refused).toEqual(['AGENTS.md']);
  });

  test('a folder and a file above the size limit are refused', async () => {
    await mkdir(join(root, 'work/AGENTS.md'));
    expect(await read('AGENTS.md')).toBe('is_folder');
    expect(await workspace.read(fileOf('plain.md'), { atMost: 8 })).toMatchObject({ failure: { code: 'too_big' } });
    expect(await workspace.read(fileOf('plain.md'), { atMost: 9 })).toMatchObject({ ok: true });
  });
});

describe('a path that becomes a link between the check and the read', () => {
  const swaps: [string, string, () => void][] = [
    [
      'the file itself',
      'plain.md',
      () => {
        rmSync(join(root, 'work/plain.md'));
        symlinkSync(join(root, 'outside/secret.txt'), join(root, 'work/plain.md'));
      },
    ],
    [
      'its folder',
      'docs/secret.txt',
      () => {
        renameSync(join(root, 'work/docs'), join(root, 'docs-before'));
        symlinkSync(join(root, 'outside'), join(root, 'work/docs'));
      },
    ],
    [
      'the folder above',
      'deep/outside/secret.txt',
      () => {
        renameSync(join(root, 'work/deep'), join(root, 'deep-before'));
        mkdirSync(join(root, 'other'));
        symlinkSync(root, join(root, 'work/deep'));
      },
    ],
  ];
  test.each(swaps)('%s', async (_, path, swap) => {
    await put('work/docs/secret.txt', 'harmless');
    await put('work/deep/outside/secret.txt', 'harmless');
    const disk = createFolderDisk(join(root, 'work'));
    let swapped = false;
    const judged = await disk.readJudged(fileOf(path), (place) => {
      if (!swapped) swap();
      swapped = true;
      return place.outside ? { code: 'outside', message: 'outside' } : undefined;
    });
    expect(judged).toMatchObject({ ok: false, failure: { code: 'outside' } });
  });

  test('a file that is replaced by another file is read again', async () => {
    const disk = createFolderDisk(join(root, 'work'));
    await put('work/next.md', 'Use spaces.');
    let swapped = false;
    const content = await disk.readJudged(fileOf('plain.md'), () => {
      if (!swapped) renameSync(join(root, 'work/next.md'), join(root, 'work/plain.md'));
      swapped = true;
      return undefined;
    });
    expect(content.ok && new TextDecoder().decode(content.value.bytes)).toBe('Use spaces.');
  });
});

describe('instruction and prompt files', () => {
  test('links that lead outside are not followed, and each is reported', async () => {
    await link('AGENTS.md', join(root, 'outside/secret.txt'));
    await link('CLAUDE.md', '.env');
    await link('.github', join(root, 'outside'));
    await link('src/AGENTS.md', '../private/notes.md');
    const refused: string[] = [];
    const found = await readInstructions(workspace, ['src/a.ts'], undefined, (path, { code }) =>
      refused.push(`${path} ${code}`),
    );
    expect(found).toEqual([]);
    expect(refused.sort()).toEqual([
      '.github/copilot-instructions.md outside',
      'AGENTS.md outside',
      'CLAUDE.md protected',
      'src/AGENTS.md hidden',
    ]);
  });

  test('CLAUDE.md as a link to AGENTS.md is included once', async () => {
    await put('work/AGENTS.md', 'Use tabs.');
    await link('CLAUDE.md', 'AGENTS.md');
    const found = await readInstructions({ ...workspace, trusted: false }, [], undefined);
    expect(found.map(({ name }) => name)).toEqual(['AGENTS.md']);
  });

  test('a prompt file that links outside the workspace is refused', async () => {
    await link('.github/prompts/leak.prompt.md', join(root, 'outside/secret.txt'));
    await put('work/.github/prompts/plan.prompt.md', 'Make a plan.');
    expect(await expandPrompt('/leak now', workspace, undefined)).toMatchObject({ failure: { code: 'outside' } });
    expect(await expandPrompt('/plan', workspace, undefined)).toEqual({ ok: true, value: 'Make a plan.' });
  });
});

describe('an unusable .earshotignore', () => {
  test.each([
    ['a link out of the workspace', () => symlink(join(root, 'outside/secret.txt'), ignoreFile())],
    ['a device', () => symlink('/dev/zero', ignoreFile())],
    ['too big', () => writeFile(ignoreFile(), '#'.repeat(1_100_000))],
    ['no text', () => writeFile(ignoreFile(), Uint8Array.of(0, 1, 2))],
  ])('%s hides everything', async (_, make) => {
    await rm(ignoreFile());
    await make();
    expect((await readHidden(workspace)).fault).toBeTypeOf('string');
    expect(await read('plain.md')).toBe('hidden');
    expect((await workspace.readLocally(fileOf('plain.md'))).ok).toBe(true);
  });

  const ignoreFile = () => join(root, 'work/.earshotignore');

  test('a missing .earshotignore, or a folder of that name, hides nothing', async () => {
    await rm(ignoreFile());
    expect(await read('private/notes.md')).toBe(SECRET);
    await mkdir(ignoreFile());
    expect(await read('private/notes.md')).toBe(SECRET);
  });
});

describe('the user’s approval', () => {
  const viewWith = (letIn: readonly string[], names: readonly string[] = []) =>
    viewFor(guardWorkspace(createFolderDisk(join(root, 'work'))), parseIgnore('private/'), new Set(letIn), names);

  test('opens the approved paths and everything below them, and nothing else', async () => {
    expect(await read('.env', viewWith([], ['.env']))).toBe(SECRET);
    expect(await read('private/notes.md', viewWith([], ['private']))).toBe(SECRET);
    expect(await read('keys/server.pem', viewWith([], ['.env']))).toBe('protected');
    expect(await read('.env', viewWith([]))).toBe('protected');
  });

  test('does not cover a later target of the same path', async () => {
    const view = viewWith([], ['.env']);
    await rm(join(root, 'work/.env'));
    await link('.env', 'keys/server.pem');
    expect(await read('.env', view)).toBe('protected');
    await rm(join(root, 'work/.env'));
    await link('.env', join(root, 'outside/secret.txt'));
    expect(await read('.env', view)).toBe('outside');
  });

  test('opens one path outside the workspace, exactly as it was written', async () => {
    const view = viewWith(['../outside/secret.txt']);
    const file = await view.resolve('../outside/secret.txt');
    const content = file.ok ? await view.read(file.value) : file;
    expect(content.ok).toBe(true);
    const other = { path: 'x', absolute: join(root, 'outside/copilot-instructions.md') };
    expect(await view.read(other)).toMatchObject({ failure: { code: 'outside' } });
    expect(await workspace.read(other)).toMatchObject({ failure: { code: 'outside' } });
  });
});

test('a file that may not be shown has a fingerprint; a link to outside the workspace has none', async () => {
  const by = { hash: (bytes: Uint8Array) => `${bytes.length}` };
  expect(await workspace.fingerprint(fileOf('.env'), by)).toEqual({ ok: true, value: `${SECRET.length}` });
  await link('leak.txt', join(root, 'outside/secret.txt'));
  expect(await workspace.fingerprint(fileOf('leak.txt'), by)).toMatchObject({ failure: { code: 'outside' } });
});
