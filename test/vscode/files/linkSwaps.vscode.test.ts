// Links that appear while Earshot works, in the real editor: nothing is read or written through them.
import * as assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { type FileEdit } from '../../../src/core/ports/workspace.ts';
import { createBuffers } from '../../../src/vscode/review/reviewBuffers.ts';
import { createWorkspace } from '../../../src/vscode/workspace/editorWorkspace.ts';
import { recordingLogger } from '../../support/recordingLogger.ts';
import { bytes, cleanUpAfterEach, folder, onDisk, put, resolved, typeInto } from '../../support/vscode/editing.ts';
import { checkLeaks } from '../../support/vscode/startedExtension.ts';
import { startSwapping } from '../../support/workspace/swapping.ts';

describe('links that appear during an operation', () => {
  checkLeaks('once');
  cleanUpAfterEach();
  const workspace = createWorkspace();
  let outside: string;

  beforeEach(async () => {
    outside = await mkdtemp(join(tmpdir(), 'earshot-outside-'));
    await writeFile(join(outside, 'a.txt'), 'one\n');
    await put('src/a.txt', 'one\n');
    await put('b.txt', 'one\n');
  });
  afterEach(() => rm(outside, { recursive: true }));

  async function swap(): Promise<void> {
    await rename(onDisk('src'), onDisk('src-before'));
    await symlink(outside, onDisk('src'));
  }

  async function assertUntouched(): Promise<void> {
    assert.deepEqual(await readdir(outside), ['a.txt']);
    assert.equal(await readFile(join(outside, 'a.txt'), 'utf8'), 'one\n');
  }

  const from = bytes('one\n');
  const to = bytes('two\n');
  const kinds: [string, () => Promise<FileEdit>][] = [
    ['a write', async () => ({ type: 'write', file: await resolved(workspace, `${folder}/src/a.txt`), from, to })],
    ['a new file', async () => ({ type: 'write', file: await resolved(workspace, `${folder}/src/new.txt`), to })],
    [
      'a new file in a new folder',
      async () => ({ type: 'write', file: await resolved(workspace, `${folder}/src/deep/new.txt`), to }),
    ],
    ['a deletion', async () => ({ type: 'delete', file: await resolved(workspace, `${folder}/src/a.txt`), from })],
    [
      'a move out of it',
      async () => ({
        type: 'move',
        file: await resolved(workspace, `${folder}/src/a.txt`),
        to: await resolved(workspace, `${folder}/c.txt`),
        from,
      }),
    ],
    [
      'a move into it',
      async () => ({
        type: 'move',
        file: await resolved(workspace, `${folder}/b.txt`),
        to: await resolved(workspace, `${folder}/src/b.txt`),
        from,
      }),
    ],
  ];
  for (const exact of [false, true]) {
    for (const [name, make] of kinds) {
      it(`${name}${exact ? ', as undo makes it,' : ''} in a folder that became a link is refused`, async () => {
        const edit = await make();
        await swap();
        const applied = await workspace.apply([edit], { exact });
        assert.equal(!applied.ok && applied.failure.code, 'moved');
        await assertUntouched();
      });
    }
  }

  it('a file that became a link, even a broken one, is not written through', async () => {
    const file = await resolved(workspace, `${folder}/b.txt`);
    await rm(onDisk('b.txt'));
    await symlink(join(outside, 'a.txt'), onDisk('b.txt'));
    const applied = await workspace.apply([{ type: 'write', file, from, to }]);
    assert.equal(!applied.ok && applied.failure.code, 'moved');
    await symlink(join(outside, 'new.txt'), onDisk('dangling.txt'));
    const dangling = { path: `${folder}/dangling.txt`, absolute: onDisk('dangling.txt') };
    const made = await workspace.apply([{ type: 'write', file: dangling, to }]);
    assert.equal(!made.ok && made.failure.code, 'dangling');
    await assertUntouched();
  });

  it('the file on disk of an open buffer is restored only in its original place', async () => {
    const buffers = createBuffers(workspace, recordingLogger([]));
    const file = await resolved(workspace, `${folder}/src/a.txt`);
    await swap();
    for (const target of [to, undefined]) {
      const written = await buffers.writeBeneath(file, from, target);
      assert.equal(!written.ok && written.failure.code, 'moved');
    }
    assert.equal(await buffers.readBeneath(file), undefined);
    buffers.dispose();
    await assertUntouched();
  });

  it('a folder that becomes a link during a save is reported', async () => {
    const file = await resolved(workspace, `${folder}/src/a.txt`);
    const saving = vscode.workspace.onWillSaveTextDocument((event) => event.waitUntil(swap()));
    const applied = await workspace.apply([{ type: 'write', file, from, to }]);
    saving.dispose();
    assert.ok(!applied.ok);
    assert.match(applied.failure.message, /replaced by a link while|could not be saved/);
  });

  it('while a process swaps a folder for a link all the time, no reported change is outside', async () => {
    const files = 40;
    const names = Array.from({ length: files }, (_, index) => `${index}.txt`);
    for (const name of names) {
      await writeFile(join(outside, name), 'one\n');
      await put(`src/${name}`, 'one\n');
    }
    const stop = join(outside, 'stop');
    const swapping = await startSwapping(onDisk('src'), outside, stop);
    const reported = new Map<string, string | undefined>();
    try {
      for (const [index, name] of names.entries()) {
        const file = { path: `${folder}/src/${name}`, absolute: onDisk(`src/${name}`) };
        const added = { path: `${folder}/src/new-${name}`, absolute: onDisk(`src/new-${name}`) };
        const edits: FileEdit[] = [
          { type: 'write', file, from, to },
          { type: 'write', file: added, to },
          { type: 'delete', file, from },
          { type: 'move', file, to: added, from },
        ];
        const edit = edits[index % 4];
        const exact = index % 8 > 3;
        for (let tries = 0; edit !== undefined && tries < 5; tries += 1) {
          const applied = await workspace.apply([edit], { exact });
          if (!applied.ok) continue;
          // A buffer that an earlier attempt could not save is edited and stays unsaved, which the result says.
          for (const { file: changed, after, unsaved } of applied.value)
            if (!unsaved) reported.set(changed.absolute, after && Buffer.from(after).toString());
          break;
        }
      }
    } finally {
      await writeFile(stop, '');
      await swapping.ended();
    }
    assert.ok(reported.size > 0);
    for (const [path, expected] of reported) {
      const present = await readFile(path, 'utf8').catch(() => undefined);
      assert.equal(present, expected, path);
    }
  });

  it('the buffer of a link out of the workspace is not read', async () => {
    await symlink(join(outside, 'a.txt'), onDisk('AGENTS.md'));
    await typeInto('AGENTS.md', (text) => `${text}typed\n`);
    const read = await workspace.read({ path: `${folder}/AGENTS.md`, absolute: onDisk('AGENTS.md') });
    assert.equal(!read.ok && read.failure.code, 'outside');
    const names = workspace.unsaved().map(({ path }) => path);
    assert.ok(names.includes(`${folder}/AGENTS.md`));
  });

  it('protected files are refused by name, through a link, and in a buffer', async () => {
    await put('.env', 'TOKEN=1\n');
    await symlink('.env', onDisk('notes.md'));
    await mkdir(onDisk('deep'));
    await symlink('..', onDisk('deep/up'));
    for (const name of ['.env', 'notes.md', 'deep/up/.env', 'deep/up/notes.md']) {
      const read = await workspace.read({ path: `${folder}/${name}`, absolute: onDisk(name) });
      assert.equal(!read.ok && read.failure.code, 'protected', name);
    }
    await typeInto('.env', (text) => `${text}TOKEN=2\n`);
    const file = await resolved(workspace, `${folder}/.env`);
    assert.equal((await workspace.read(file)).ok, false);
    const locally = await workspace.readLocally(file);
    assert.ok(locally.ok && locally.value.unsaved);
  });
});
