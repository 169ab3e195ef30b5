// File edits through the real editor: saved or left in the buffer, undoable, all or none.
import * as assert from 'node:assert/strict';
import { utimesSync, writeFileSync } from 'node:fs';
import { chmod, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import * as vscode from 'vscode';
import { type FileEdit } from '../../../src/core/ports/workspace.ts';
import { createWorkspace } from '../../../src/vscode/workspace/editorWorkspace.ts';
import {
  bytes,
  cleanUpAfterEach,
  diskText,
  folder,
  onDisk,
  put,
  resolved,
  typeInto,
} from '../../support/vscode/editing.ts';
import { checkLeaks } from '../../support/vscode/startedExtension.ts';

describe('file edits', () => {
  checkLeaks('once');
  cleanUpAfterEach();
  const workspace = createWorkspace();

  async function write(path: string, from: string | undefined, to: string): Promise<FileEdit> {
    const file = await resolved(workspace, path);
    return { type: 'write', file, ...(from !== undefined && { from: bytes(from) }), to: bytes(to) };
  }

  const text = (of: Uint8Array | undefined) => of && new TextDecoder().decode(of);

  async function applied(...edits: FileEdit[]) {
    const result = await workspace.apply(edits);
    assert.ok(result.ok, JSON.stringify(result));
    return result.value;
  }

  async function refused(...edits: FileEdit[]) {
    const result = await workspace.apply(edits);
    assert.ok(!result.ok, 'the edit was not refused');
    return result.failure;
  }

  it('are saved if the file had no unsaved changes, and reverted by undo', async () => {
    const path = await put('a.txt', 'one\ntwo\nthree\n');
    const [edit] = await applied(await write(path, 'one\ntwo\nthree\n', 'one\n2\nthree\n'));
    assert.equal(await diskText('a.txt'), 'one\n2\nthree\n');
    assert.equal(text(edit?.after), 'one\n2\nthree\n');
    assert.equal(edit?.unsaved, false);
    await vscode.window.showTextDocument(vscode.Uri.file(onDisk('a.txt')));
    await vscode.commands.executeCommand('undo');
    assert.equal(vscode.window.activeTextEditor?.document.getText(), 'one\ntwo\nthree\n');
  });

  it('stay unsaved in a buffer with unsaved changes, and the cursor does not move', async () => {
    const path = await put('a.txt', 'one\ntwo\nthree\n');
    const document = await typeInto('a.txt', (text) => `${text}mine\n`);
    const editor = vscode.window.activeTextEditor;
    assert.ok(editor);
    editor.selection = new vscode.Selection(2, 2, 2, 2);
    const [edit] = await applied(await write(path, 'one\ntwo\nthree\nmine\n', 'ONE\nand\ntwo\nthree\nmine\n'));
    assert.equal(edit?.unsaved, true);
    assert.equal(document.getText(), 'ONE\nand\ntwo\nthree\nmine\n');
    assert.equal(document.isDirty, true);
    assert.equal(await diskText('a.txt'), 'one\ntwo\nthree\n');
    assert.deepEqual([editor.selection.active.line, editor.selection.active.character], [3, 2]);
  });

  it('are refused if the bytes have changed: on disk, in the buffer, or where no file was expected', async () => {
    const path = await put('a.txt', 'theirs\n');
    assert.deepEqual(await refused(await write(path, 'mine\n', 'new\n')), {
      code: 'stale',
      message: `${path} has changed.`,
      nextStep: 'Read it again.',
    });
    assert.equal((await refused(await write(path, undefined, 'new\n'))).code, 'stale');
    await typeInto('a.txt', () => 'typed\n');
    assert.equal((await refused(await write(path, 'theirs\n', 'new\n'))).code, 'stale');
    assert.equal(await diskText('a.txt'), 'theirs\n');
  });

  it('are applied either all or not at all', async () => {
    const first = await put('a.txt', 'a\n');
    const second = await put('b.txt', 'b\n');
    await refused(await write(first, 'a\n', 'A\n'), await write(second, 'other\n', 'B\n'));
    assert.equal(await diskText('a.txt'), 'a\n');
  });

  it('are reverted when a later one fails', async () => {
    const path = await put('a.txt', 'a\n');
    const inFolder = await put('folder/in.txt', 'x');
    const [file, moved] = [await resolved(workspace, path), await resolved(workspace, `${inFolder}/below.txt`)];
    // A file cannot be created below another file, which is detected only when the edits are applied.
    const failure = await refused(await write(path, 'a\n', 'A\n'), {
      type: 'move',
      file,
      to: moved,
      from: bytes('A\n'),
    });
    assert.equal(failure.code, 'refused');
    assert.equal(await diskText('a.txt'), 'a\n');
    assert.equal(await diskText('folder/in.txt'), 'x');
  });

  it('create a file with its folders, move it and delete it', async () => {
    const path = `${folder}/deep/er/new file.txt`;
    const [made] = await applied(await write(path, undefined, 'hello\n'));
    assert.deepEqual([text(made?.before), text(made?.after)], [undefined, 'hello\n']);
    const [file, to] = [await resolved(workspace, path), await resolved(workspace, `${folder}/other/name.txt`)];
    await applied({ type: 'move', file, to, from: bytes('hello\n') });
    assert.equal(await diskText('other/name.txt'), 'hello\n');
    await assert.rejects(stat(onDisk('deep/er/new file.txt')));
    const taken = await put('taken.txt', 'taken\n');
    const onto: FileEdit = { type: 'move', file: to, to: await resolved(workspace, taken), from: bytes('hello\n') };
    assert.equal((await refused(onto)).code, 'exists');
    const [gone] = await applied({ type: 'delete', file: to, from: bytes('hello\n') });
    assert.deepEqual([text(gone?.before), text(gone?.after)], ['hello\n', undefined]);
    await assert.rejects(stat(onDisk('other/name.txt')));
  });

  it('write and move one file in one step', async () => {
    const path = await put('a.txt', 'a\n');
    const [file, to] = [await resolved(workspace, path), await resolved(workspace, `${folder}/b.txt`)];
    await applied(await write(path, 'a\n', 'A\n'), { type: 'move', file, to, from: bytes('A\n') });
    assert.equal(await diskText('b.txt'), 'A\n');
    await assert.rejects(stat(onDisk('a.txt')));
  });

  it('include changes on disk made while the file was open', async () => {
    const path = await put('a.txt', 'one\n');
    await vscode.window.showTextDocument(vscode.Uri.file(onDisk('a.txt')));
    await writeFile(onDisk('a.txt'), 'changed outside\nand more\n');
    await applied(await write(path, 'changed outside\nand more\n', 'changed outside\nAND MORE\n'));
    assert.equal(await diskText('a.txt'), 'changed outside\nAND MORE\n');
  });

  it('are applied if another program changed the file and changed it back during the save', async () => {
    const path = await put('a.txt', 'one\n');
    const document = await vscode.workspace.openTextDocument(vscode.Uri.file(onDisk('a.txt')));
    const later = new Date(Date.now() + 5000);
    const meanwhile = (content: string) => {
      writeFileSync(onDisk('a.txt'), content);
      utimesSync(onDisk('a.txt'), later, later);
    };
    let saves = 0;
    const listening = [
      vscode.workspace.onWillSaveTextDocument(() => {
        saves += 1;
        if (saves === 1) meanwhile('one, and more of it\n');
      }),
      vscode.workspace.onDidChangeTextDocument(() => {
        if (saves === 1 && document.getText() === 'one\n') meanwhile('one\n');
      }),
    ];
    try {
      await applied(await write(path, 'one\n', 'two\n'));
    } finally {
      for (const one of listening) one.dispose();
    }
    // The first save is refused, the second saves the earlier text, and the third saves the edit.
    assert.equal(saves, 3);
    assert.deepEqual([await diskText('a.txt'), document.getText(), document.isDirty], ['two\n', 'two\n', false]);
  });

  it('keep line endings, also mixed ones, and can change them', async () => {
    const path = await put('crlf.txt', 'one\r\ntwo\r\n');
    await applied(await write(path, 'one\r\ntwo\r\n', 'one\r\n2\r\n'));
    assert.equal(await diskText('crlf.txt'), 'one\r\n2\r\n');
    const mixed = await put('mixed.txt', 'one\r\ntwo\nthree\r\n');
    await applied(await write(mixed, 'one\r\ntwo\nthree\r\n', 'one\r\n2\nthree\r\n'));
    assert.equal(await diskText('mixed.txt'), 'one\r\n2\nthree\r\n');
    await applied(await write(path, 'one\r\n2\r\n', 'one\n2\nthree\n'));
    assert.equal(await diskText('crlf.txt'), 'one\n2\nthree\n');
  });

  it('refuse a file without write permission, and one that the user made read-only', async () => {
    const path = await put('a.txt', 'a\n');
    await chmod(onDisk('a.txt'), 0o444);
    assert.equal((await refused(await write(path, 'a\n', 'A\n'))).code, 'no_rights');
    const other = await put('b.txt', 'b\n');
    const settings = vscode.workspace.getConfiguration('files');
    await settings.update('readonlyInclude', { '**/b.txt': true }, vscode.ConfigurationTarget.Workspace);
    try {
      assert.equal((await refused(await write(other, 'b\n', 'B\n'))).code, 'read_only');
    } finally {
      await settings.update('readonlyInclude', undefined, vscode.ConfigurationTarget.Workspace);
    }
    assert.deepEqual([await diskText('a.txt'), await diskText('b.txt')], ['a\n', 'b\n']);
  });

  it('refuse a file that the user made read-only though the workspace excludes it', async () => {
    const path = await put('b.txt', 'b\n');
    const settings = vscode.workspace.getConfiguration('files');
    const { Global, Workspace } = vscode.ConfigurationTarget;
    await settings.update('readonlyInclude', { '**/b.txt': true }, Global);
    await settings.update('readonlyExclude', { '**/b.txt': true }, Workspace);
    try {
      assert.equal((await refused(await write(path, 'b\n', 'B\n'))).code, 'read_only');
    } finally {
      await settings.update('readonlyInclude', undefined, Global);
      await settings.update('readonlyExclude', undefined, Workspace);
    }
  });

  it('do not delete a file with unsaved changes', async () => {
    const path = await put('a.txt', 'a\n');
    const document = await typeInto('a.txt', () => 'typed\n');
    const file = await resolved(workspace, path);
    assert.equal((await refused({ type: 'delete', file, from: bytes('typed\n') })).code, 'unsaved');
    assert.equal(document.getText(), 'typed\n');
    assert.equal(await diskText('a.txt'), 'a\n');
  });

  it('follow a link to its target file and buffer', async () => {
    const path = await put('real.txt', 'a\n');
    await symlink(onDisk('real.txt'), onDisk('link.txt'));
    const link = await resolved(workspace, `${folder}/link.txt`);
    assert.equal(link.real, path);
    await applied({ type: 'write', file: link, from: bytes('a\n'), to: bytes('b\n') });
    assert.equal(await diskText('real.txt'), 'b\n');
    const document = await typeInto('real.txt', () => 'typed\n');
    const read = await workspace.read(link);
    assert.ok(read.ok && read.value.unsaved);
    await applied({ type: 'write', file: link, from: bytes('typed\n'), to: bytes('typed more\n') });
    assert.equal(document.getText(), 'typed more\n');
    assert.equal(await diskText('real.txt'), 'b\n');
  });

  it('restore exact bytes despite a formatter', async () => {
    const file = await resolved(workspace, `${folder}/blob`);
    const blob = Uint8Array.of(0, 1, 2, 255);
    assert.ok((await workspace.apply([{ type: 'write', file, to: blob }], { exact: true })).ok);
    assert.deepEqual(new Uint8Array(await readFile(onDisk('blob'))), blob);
    const other = Uint8Array.of(0, 9);
    assert.ok((await workspace.apply([{ type: 'write', file, from: blob, to: other }])).ok);
    assert.deepEqual(new Uint8Array(await readFile(onDisk('blob'))), other);
  });
});
