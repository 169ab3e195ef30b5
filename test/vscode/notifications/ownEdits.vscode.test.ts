// A conversation's own edits in the real editor, formatted on save or next to the user's unsaved changes, are not reported to it.
import * as assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import * as vscode from 'vscode';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { createEditorProducer } from '../../../src/producers/files/editor.ts';
import { createFilesProducer } from '../../../src/producers/files/files.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { editorBuffers } from '../../../src/vscode/sources/buffers.ts';
import { createEditorFiles } from '../../../src/vscode/sources/files.ts';
import { createWorkspace } from '../../../src/vscode/workspace/editorWorkspace.ts';
import { type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { cleanUpAfterEach, folder, onDisk, put, typeInto } from '../../support/vscode/editing.ts';
import { checkLeaks } from '../../support/vscode/startedExtension.ts';
import { type Headless, startHeadless } from '../../support/walk/headless.ts';

const nothing = async () => undefined;

describe('own edits', function () {
  checkLeaks();
  cleanUpAfterEach();
  this.timeout(120_000);
  let headless: Headless;
  let server: ScriptedServer;

  afterEach(async () => {
    await headless.end();
    await server.stop();
  });

  /**
   * Reads both files and edits one. While the result of the edit is held, the other file is changed, so its
   * notification comes last.
   */
  async function editWhileWatching(): Promise<LogEvent[]> {
    const [path, other] = [`${folder}/own.txt`, `${folder}/other.txt`];
    server = await startScriptedServer(
      {
        calls: [path, other].map((one, index) => ({ id: `r${index}`, name: 'read_file', arguments: { path: one } })),
      },
      {
        calls: [
          {
            id: 'e',
            name: 'edit_file',
            arguments: { path: `./${path}`, edits: [{ old_text: 'two', new_text: '2' }] },
          },
        ],
      },
      { text: ['Done.'] },
    );
    const workspace = createWorkspace();
    const settle = async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const listening = headless.earshot.onDidChange(({ folded }) => {
        const event = folded?.event;
        if (event?.type === 'notification_queued' && event.notification.subject === `file:${other}`) resolve();
      });
      await writeFile(onDisk('other.txt'), 'changed\n');
      await promise;
      listening.dispose();
      return undefined;
    };
    headless = await startHeadless({
      model: createChatModel({ baseUrl: server.baseUrl, model: 'm', apiKey: async () => 'k' }),
      producers: (deps) => [
        createFilesProducer({ ...deps, workspace, editorFiles: createEditorFiles(), buffers: editorBuffers }),
        createEditorProducer({ ...deps, workspace, buffers: editorBuffers }),
      ],
      ports: {
        workspace,
        problems: { beginEdit: () => ({ settle, dispose: () => undefined }), look: nothing, shown: nothing },
      },
    });
    const opened = await headless.earshot.create();
    assert.ok(opened.ok);
    const conversation = opened.value.log.id;
    assert.ok((await headless.earshot.send(conversation, 'Go on.')).ok);
    await headless.earshot.settled(conversation);
    assert.deepEqual(headless.errors, []);
    const lines = (await headless.events(conversation)).trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line) as LogEvent);
  }

  function assertSilent(events: readonly LogEvent[]): void {
    const queued = events.flatMap((event) => (event.type === 'notification_queued' ? [event.notification] : []));
    // Files that were not read, such as the settings that this test changes, are only counted.
    const subjects = queued.map(({ subject = '' }) => subject).filter((subject) => subject !== 'workspace');
    assert.deepEqual([...new Set(subjects)], [`file:${folder}/other.txt`]);
  }

  it('with a formatter are not reported; the result contains the formatted text', async () => {
    await put('own.txt', 'one\ntwo\n');
    await put('other.txt', 'x\n');
    const formatter = vscode.languages.registerDocumentFormattingEditProvider(
      { pattern: '**/own.txt' },
      { provideDocumentFormattingEdits: () => [vscode.TextEdit.insert(new vscode.Position(0, 0), 'formatted\n')] },
    );
    const settings = vscode.workspace.getConfiguration('editor');
    await settings.update('formatOnSave', true, vscode.ConfigurationTarget.Workspace);
    try {
      const events = await editWhileWatching();
      assertSilent(events);
      const result = events.find((event) => event.type === 'tool_call_response' && event.id === 'e');
      assert.match(JSON.stringify(result), /the editor also changed this \(\+1 −0\)/);
      assert.equal(await readFile(onDisk('own.txt'), 'utf8'), 'formatted\none\n2\n');
    } finally {
      formatter.dispose();
      await settings.update('formatOnSave', undefined, vscode.ConfigurationTarget.Workspace);
    }
  });

  it('in a buffer with unsaved changes are not reported and stay unsaved', async () => {
    await put('own.txt', 'one\ntwo\n');
    await put('other.txt', 'x\n');
    const document = await typeInto('own.txt', (text) => `${text}typed\n`);
    const events = await editWhileWatching();
    assertSilent(events);
    assert.equal(document.getText(), 'one\n2\ntyped\n');
    assert.equal(document.isDirty, true);
    assert.equal(await readFile(onDisk('own.txt'), 'utf8'), 'one\ntwo\n');
  });
});
