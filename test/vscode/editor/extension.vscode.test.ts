// The extension in the real extension host: it activates and registers what package.json contributes.
import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { checkLeaks, startedExtension } from '../../support/vscode/startedExtension.ts';

describe('the extension', () => {
  checkLeaks();

  it('is active and has its manifest', async () => {
    await startedExtension();
    const extension = vscode.extensions.getExtension('earshot.earshot');
    assert.equal(extension?.isActive, true);
  });

  it('registers every contributed command', async () => {
    await startedExtension();
    const manifest = vscode.extensions.getExtension('earshot.earshot')?.packageJSON as {
      contributes: { commands: { command: string }[] };
    };
    const registered = new Set(await vscode.commands.getCommands(true));
    const contributed = manifest.contributes.commands.map(({ command }) => command);
    assert.ok(contributed.length > 0);
    assert.deepEqual(
      contributed.filter((command) => !registered.has(command)),
      [],
    );
  });

  it('has a default for every setting in VS Code', () => {
    const settings = vscode.workspace.getConfiguration('earshot');
    assert.equal(settings.get('model'), '');
    assert.equal(settings.get('notifications.cap'), 10);
  });
});
