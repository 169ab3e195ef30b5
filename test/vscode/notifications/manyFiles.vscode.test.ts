// Many read files rewritten at once, in the real editor with its real watcher: one notification names all of them.
import * as assert from 'node:assert/strict';
import { rename, writeFile } from 'node:fs/promises';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { createFilesProducer } from '../../../src/producers/files/files.ts';
import { editorBuffers } from '../../../src/vscode/sources/buffers.ts';
import { createEditorFiles } from '../../../src/vscode/sources/files.ts';
import { createWorkspace } from '../../../src/vscode/workspace/editorWorkspace.ts';
import { type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { cleanUpAfterEach, onDisk, put } from '../../support/vscode/editing.ts';
import { checkLeaks, eventually } from '../../support/vscode/startedExtension.ts';
import { type Headless, startHeadless } from '../../support/walk/headless.ts';

describe('many files', function () {
  checkLeaks();
  cleanUpAfterEach();
  this.timeout(120_000);
  let headless: Headless;
  let server: ScriptedServer;

  afterEach(async () => {
    await headless.end();
    await server.stop();
  });

  it('60 read files rewritten at once are named by one notification at the next delivery point', async () => {
    const names = Array.from({ length: 60 }, (_, index) => `part${index % 7}/file${index}.txt`);
    const paths: string[] = [];
    for (const name of names) paths.push(await put(name, 'one\n'));
    const calls = paths.map((path) => ({ id: `read-${path}`, name: 'read_file', arguments: { path } }));
    server = await startScriptedServer({ calls }, { text: ['Read.'] }, { text: ['Done.'] });
    const workspace = createWorkspace();
    headless = await startHeadless({
      model: createChatModel({ baseUrl: server.baseUrl, model: 'm', apiKey: async () => 'k' }),
      producers: (deps) => [
        createFilesProducer({ ...deps, workspace, editorFiles: createEditorFiles(), buffers: editorBuffers }),
      ],
      ports: { workspace },
    });
    const { earshot } = headless;
    const opened = await earshot.create();
    assert.ok(opened.ok);
    const { log } = opened.value;
    assert.ok((await earshot.send(log.id, 'Read them.')).ok);
    await earshot.settled(log.id);
    // Each file is written in one step, because a half-written file would be left for the next delivery point.
    await Promise.all(
      names.map(async (name) => {
        await writeFile(`${onDisk(name)}.new`, 'two\n');
        await rename(`${onDisk(name)}.new`, onDisk(name));
      }),
    );
    // Some changes are already queued; the others are found when the user writes.
    await eventually(
      () => log.state.pending.count,
      (count) => count > 0,
    );
    assert.ok((await earshot.send(log.id, 'Go on.')).ok);
    await earshot.settled(log.id);
    const { messages } = JSON.parse((await server.request(2)).body) as { messages: { content: string }[] };
    const block = messages.at(-1)?.content ?? '';
    assert.equal(block.match(/<notification /g)?.length, 1, block);
    assert.match(block, /count="60"/);
    assert.match(block, /60 of file\.changed/);
    for (const name of names) assert.ok(block.includes(name), name);
    assert.ok(block.length < 4000, String(block.length));
    assert.equal(log.state.pending.isEmpty, true);
    assert.deepEqual(headless.errors, []);
  });
});
