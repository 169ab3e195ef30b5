// The Workspace port on the editor's files: buffers take precedence over the disk, and nothing outside the workspace is
// read.
import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { createWorkspace } from '../../../src/vscode/workspace/editorWorkspace.ts';
import { checkLeaks } from '../../support/vscode/startedExtension.ts';

describe('the workspace', () => {
  checkLeaks('once');
  const workspace = createWorkspace();

  afterEach(async () => {
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  });

  it('reads a file from disk, and the buffer when it has unsaved changes', async () => {
    const file = await workspace.resolve('src/menu.ts');
    assert.ok(file.ok);
    const onDisk = await workspace.read(file.value);
    assert.ok(onDisk.ok && !onDisk.value.unsaved);
    const document = await vscode.workspace.openTextDocument(vscode.Uri.file(file.value.absolute));
    const editor = await vscode.window.showTextDocument(document);
    await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), '// unsaved\n'));
    const inBuffer = await workspace.read(file.value);
    assert.ok(inBuffer.ok && inBuffer.value.unsaved);
    const decoder = new TextDecoder();
    assert.equal(decoder.decode(inBuffer.value.bytes), `// unsaved\n${decoder.decode(onDisk.value.bytes)}`);
  });

  it('reports a missing file, and refuses one outside the workspace', async () => {
    const missing = await workspace.resolve('src/nowhere.ts');
    assert.ok(missing.ok);
    const read = await workspace.read(missing.value);
    assert.deepEqual(!read.ok && [read.failure.code, read.failure.message], [
      'not_found',
      'src/nowhere.ts does not exist.',
    ]);
    const outside = await workspace.resolve('../outside.txt');
    assert.equal(!outside.ok && outside.failure.code, 'outside');
  });

  it('lists a folder with the kind of each entry', async () => {
    const folder = await workspace.resolve('src');
    assert.ok(folder.ok);
    const entries = await workspace.list(folder.value);
    assert.ok(entries.ok);
    assert.ok(entries.value.some(({ name, kind }) => name === 'menu.ts' && kind === 'file'));
  });
});
