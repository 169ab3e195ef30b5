// Notifications in a virtual workspace, whose files are not on disk: the editor's watcher gives the same result.
import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { type ConversationLog } from '../../../src/core/conversation/log.ts';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { createFilesProducer } from '../../../src/producers/files/files.ts';
import { readFileTool } from '../../../src/tools/files/readFile.ts';
import { watchTool } from '../../../src/tools/watch.ts';
import { createEditorFiles } from '../../../src/vscode/sources/files.ts';
import { createWorkspace } from '../../../src/vscode/workspace/editorWorkspace.ts';
import { type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { call } from '../../support/vscode/listeningConversation.ts';
import { checkLeaks, eventually } from '../../support/vscode/startedExtension.ts';
import { type Headless, startHeadless } from '../../support/walk/headless.ts';
import { MemoryFiles, SCHEME } from '../../support/workspace/memoryFiles.ts';

describe('notifications in a virtual workspace', () => {
  // A notification that one test leaves in the throttle would be reported to the next.
  checkLeaks('each');
  let files: MemoryFiles;
  let registered: vscode.Disposable;
  let root: vscode.WorkspaceFolder;
  let server: ScriptedServer;
  let headless: Headless;
  let log: ConversationLog;

  beforeEach(async () => {
    files = new MemoryFiles();
    registered = vscode.workspace.registerFileSystemProvider(SCHEME, files, { isCaseSensitive: true });
    root = { uri: vscode.Uri.from({ scheme: SCHEME, path: '/ears' }), name: 'virtual', index: 0 };
    write('menu.txt', 'green\nblack\n');
    const workspace = createWorkspace(() => [root]);
    const editorFiles = createEditorFiles([root]);
    server = await startScriptedServer();
    headless = await startHeadless({
      model: createChatModel({ baseUrl: server.baseUrl, model: 'm', apiKey: async () => 'k' }),
      producers: (deps) => [createFilesProducer({ ...deps, clock: realClock, workspace, editorFiles })],
      ports: { workspace, tools: [readFileTool, watchTool] },
    });
    const opened = await headless.earshot.create();
    assert.ok(opened.ok);
    ({ log } = opened.value);
    server.script(call('read_file', { path: 'menu.txt' }), call('watch', { add: ['*.md'] }), { text: ['Done.'] });
    assert.match(await go(), /Watched: \*\.md\./);
  });

  afterEach(async () => {
    await headless.end();
    await server.stop();
    registered.dispose();
    assert.deepEqual(headless.errors, []);
  });

  const address = (name: string) => vscode.Uri.joinPath(root.uri, name);

  /** Writes as another user of the file system, not through the editor. */
  function write(name: string, text: string): void {
    files.writeFile(address(name), new TextEncoder().encode(text));
  }

  /** Runs a user turn; returns the last request. */
  async function go(): Promise<string> {
    assert.ok((await headless.earshot.send(log.id, 'Go on.')).ok);
    await headless.earshot.settled(log.id);
    return server.requests.at(-1)?.body ?? '';
  }

  const waiting = () => log.state.pending.notifications.map(({ kind, message }) => `${kind.name} ${message}`);

  it('a read file is reported when changed, changed back and deleted, and a watched one when created', async () => {
    const notifies = (...expected: RegExp[]) =>
      eventually(
        waiting,
        (now) => now.length === expected.length && expected.every((one) => now.some((is) => one.test(is))),
      );
    write('menu.txt', 'green\nblack\nwhite\n');
    await notifies(/^changed menu\.txt changed since you read it, outside the editor:\n[^]*\+white/);
    write('menu.txt', 'green\nblack\n');
    await notifies();
    write('news.md', 'New.\n');
    for (const name of 'abcdefghij') write(`${name}.txt`, 'Nobody watches for it.\n');
    await notifies(/^created news\.md, which you watch for, was created, outside the editor\.$/);
    files.delete(address('menu.txt'));
    await notifies(
      /^created news\.md/,
      /^deleted menu\.txt, which you read, is no longer there, outside the editor\.$/,
    );
    server.script({ text: ['Done.'] });
    // The other files are only counted.
    assert.match(await go(), /Other files of the workspace meanwhile: 10 created \(at the top 10\)/);
    assert.deepEqual(waiting(), []);
  });
});
