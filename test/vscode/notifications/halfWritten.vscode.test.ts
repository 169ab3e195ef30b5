// A file that another program writes in steps while the editor's watcher reports it: reported once, in its final state.
import * as assert from 'node:assert/strict';
import { appendFile, writeFile } from 'node:fs/promises';
import { type Workspace } from '../../../src/core/ports/workspace.ts';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { createFilesProducer } from '../../../src/producers/files/files.ts';
import { editorBuffers } from '../../../src/vscode/sources/buffers.ts';
import { createEditorFiles } from '../../../src/vscode/sources/files.ts';
import { createWorkspace } from '../../../src/vscode/workspace/editorWorkspace.ts';
import { type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { cleanUpAfterEach, folder, onDisk, put } from '../../support/vscode/editing.ts';
import { checkLeaks, eventually } from '../../support/vscode/startedExtension.ts';
import { type Headless, startHeadless } from '../../support/walk/headless.ts';

const SEEN = 'one\ntwo\nthree\n';

describe('a file that is being written', function () {
  checkLeaks();
  cleanUpAfterEach();
  this.timeout(120_000);
  let headless: Headless;
  let server: ScriptedServer;

  afterEach(async () => {
    await headless.end();
    await server.stop();
  });

  it('is reported once and completely, no matter how often it is read meanwhile', async () => {
    const path = await put('slow.txt', SEEN);
    server = await startScriptedServer(
      { calls: [{ id: 'r', name: 'read_file', arguments: { path } }] },
      { text: ['Done.'] },
    );
    /** The writer continues each time the file has been read. */
    const steps: string[] = [];
    const real = createWorkspace();
    const workspace: Workspace = {
      ...real,
      read: async (file, options) => {
        const content = await real.read(file, options);
        const step = file.path === path ? steps.shift() : undefined;
        if (step !== undefined) await appendFile(onDisk('slow.txt'), step);
        return content;
      },
    };
    headless = await startHeadless({
      model: createChatModel({ baseUrl: server.baseUrl, model: 'm', apiKey: async () => 'k' }),
      producers: (deps) => [
        createFilesProducer({ ...deps, workspace, editorFiles: createEditorFiles(), buffers: editorBuffers }),
      ],
      ports: { workspace },
    });
    const opened = await headless.earshot.create();
    assert.ok(opened.ok);
    const { log } = opened.value;
    assert.ok((await headless.earshot.send(log.id, 'Go on.')).ok);
    await headless.earshot.settled(log.id);
    steps.push('two\n', 'TWO\n', 'three\n');
    await writeFile(onDisk('slow.txt'), 'one\n');
    await eventually(
      () => log.state.pending.notifications.map(({ message }) => message),
      (messages) => messages.length > 0,
    );
    const queued = (await headless.events(log.id))
      .split('\n')
      .filter((line) => line.includes('"notification_queued"') && line.includes('slow.txt'));
    assert.equal(queued.length, 1);
    const [delivered] = log.state.pending.notifications;
    assert.match(delivered?.message ?? '', new RegExp(`^${folder}/slow.txt changed since you read it`));
    assert.match(delivered?.message ?? '', /\n two\n\+TWO\n three$/);
    assert.deepEqual(headless.errors, []);
  });
});
