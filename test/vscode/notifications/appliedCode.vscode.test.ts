// Code from the chat that the user applies in the real editor: reported as the user's, in words that say so.
import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { createEditorProducer } from '../../../src/producers/files/editor.ts';
import { createFilesProducer } from '../../../src/producers/files/files.ts';
import { insertCode, Proposals } from '../../../src/vscode/chat/codeActions.ts';
import { editorBuffers } from '../../../src/vscode/sources/buffers.ts';
import { createEditorFiles } from '../../../src/vscode/sources/files.ts';
import { createWorkspace } from '../../../src/vscode/workspace/editorWorkspace.ts';
import { type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { cleanUpAfterEach, onDisk, put } from '../../support/vscode/editing.ts';
import { checkLeaks, eventually } from '../../support/vscode/startedExtension.ts';
import { type Headless, startHeadless } from '../../support/walk/headless.ts';

const FILE = 'export function pour() {\n  return 1;\n}\n\nexport function serve() {\n  return 2;\n}\n';

describe('code from the chat', function () {
  checkLeaks();
  cleanUpAfterEach();
  this.timeout(120_000);
  let headless: Headless;
  let server: ScriptedServer;
  let conversation: string;
  let path: string;

  beforeEach(async () => {
    path = await put('applied.ts', FILE);
    const read = { calls: [{ id: 'r', name: 'read_file', arguments: { path } }] };
    server = await startScriptedServer(read, { text: ['Done.'] });
    const workspace = createWorkspace();
    headless = await startHeadless({
      model: createChatModel({ baseUrl: server.baseUrl, model: 'm', apiKey: async () => 'k' }),
      producers: (deps) => [
        createFilesProducer({ ...deps, workspace, editorFiles: createEditorFiles(), buffers: editorBuffers }),
        createEditorProducer({ ...deps, workspace, buffers: editorBuffers }),
      ],
      ports: { workspace },
    });
    const opened = await headless.earshot.create();
    assert.ok(opened.ok);
    conversation = opened.value.log.id;
    assert.ok((await headless.earshot.send(conversation, 'Read it.')).ok);
    await headless.earshot.settled(conversation);
  });

  afterEach(async () => {
    await headless.end();
    await server.stop();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    assert.deepEqual(headless.errors, []);
  });

  async function show(): Promise<vscode.TextEditor> {
    const editor = await vscode.window.showTextDocument(vscode.Uri.file(onDisk('applied.ts')), { preview: false });
    editor.selection = new vscode.Selection(0, 0, 0, 0);
    return editor;
  }

  /** Saves, and resolves to the pending notification of the change. */
  async function saved({ document }: vscode.TextEditor) {
    assert.ok(await document.save());
    const pending = () =>
      headless.earshot.get(conversation)?.log.state.pending.notifications.find(({ kind }) => kind.name === 'changed');
    const { message = '', origin } = (await eventually(pending, (one) => one !== undefined)) ?? {};
    return { head: message.split('\n')[0], message, origin };
  }

  it('applied after its preview and saved is the user’s, who applied it', async () => {
    const editor = await show();
    const proposals = new Proposals(
      async (_name, content) => {
        await put('proposed.ts', content);
        return vscode.Uri.file(onDisk('proposed.ts'));
      },
      () => undefined,
    );
    await proposals.show('export function serve() {\n  return 3;\n}');
    await eventually(
      () => vscode.window.tabGroups.activeTabGroup.activeTab?.input,
      (input) => input instanceof vscode.TabInputTextDiff,
    );
    await proposals.apply();
    const { head, message, origin } = await saved(editor);
    assert.equal(head, `${path} changed since you read it, by the user in the editor, who applied code from the chat:`);
    assert.match(message, /\n-\s+return 2;\n\+\s+return 3;/);
    assert.equal(origin, 'editor');
  });

  it('inserted, undone and replaced by a line of the user is not called applied', async () => {
    const editor = await show();
    await insertCode('export const sugar = 1;\n', () => undefined);
    await vscode.commands.executeCommand('undo');
    await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), '// By hand.\n'));
    const { head, origin } = await saved(editor);
    assert.equal(head, `${path} changed since you read it, by the user in the editor:`);
    assert.equal(origin, 'editor');
  });
});
