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

  it('uses keys that VS Code leaves free', async () => {
    const text = (
      await vscode.workspace.openTextDocument(vscode.Uri.parse('vscode://defaultsettings/keybindings.json'))
    ).getText();
    const bound = JSON.parse(text.replace(/^\s*\/\/.*$/gm, '')) as { key: string; command: string; when?: string }[];
    const manifest = vscode.extensions.getExtension('earshot.earshot')?.packageJSON as {
      contributes: { keybindings: { key: string; when?: string }[] };
    };
    // Keys that hold in Earshot's own documents only take nothing from anybody.
    const everywhere = manifest.contributes.keybindings.filter(({ when }) => when?.includes('resourceScheme') !== true);
    const ours = new Set(everywhere.map(({ key }) => key));
    assert.equal(ours.size, 6);
    assert.ok(bound.length > 500);
    const begins = ({ key }: { key: string }) => ours.has(key.split(' ')[0] ?? '');
    const clashes = bound.filter((one) => begins(one) && !one.command.startsWith('earshot.'));
    assert.deepEqual(clashes, []);
  });

  it('has a default for every setting in VS Code', () => {
    const settings = vscode.workspace.getConfiguration('earshot');
    assert.equal(settings.get('model'), '');
    assert.equal(settings.get('notifications.cap'), 10);
  });
});
