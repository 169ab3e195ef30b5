// The active editor in the real editor: told with the user's message, once, with its selection only if that was chosen.
import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { inFolder, type Listening, setting, useListening } from '../../support/vscode/listeningConversation.ts';
import { checkLeaks } from '../../support/vscode/startedExtension.ts';

const MENU = 'src/menu.ts';

describe('the active editor', function () {
  this.timeout(120_000);
  const listening = useListening();
  checkLeaks('each');
  let agent: Listening;

  beforeEach(async () => {
    agent = await listening.begin();
  });

  afterEach(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('is told once for each state, and its selected text only with that setting', async () => {
    const document = await vscode.workspace.openTextDocument(vscode.Uri.file(inFolder(MENU)));
    const editor = await vscode.window.showTextDocument(document);
    editor.selection = new vscode.Selection(0, 0, 2, 0);
    await setting('editorContext', 'file');
    assert.match(await agent.turn(), /In the editor: src\/menu\.ts, lines 1–2 selected\. This may be unrelated\./);
    assert.doesNotMatch(await agent.turn(), /In the editor/);
    await setting('editorContext', 'selection');
    const first = JSON.stringify(document.lineAt(0).text).slice(1, -1);
    assert.ok((await agent.turn()).includes(`| ${first}`));
    await setting('editorContext', 'off');
    editor.selection = new vscode.Selection(3, 0, 3, 1);
    assert.doesNotMatch(await agent.turn(), /In the editor/);
  });
});
