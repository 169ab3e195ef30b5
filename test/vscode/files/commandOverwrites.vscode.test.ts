// Files that the agent's own shell command overwrites, in the real editor: one click on *Undo* restores the bytes.
import * as assert from 'node:assert/strict';
import { chmod, lstat, readFile, rm, writeFile } from 'node:fs/promises';
import * as vscode from 'vscode';
import { type Disposable } from '../../../src/base/disposable.ts';
import { planRestore, type RestoreDeps } from '../../../src/core/checkpoints/restore.ts';
import { Review } from '../../../src/core/checkpoints/review.ts';
import { type Buffers } from '../../../src/core/ports/workspace.ts';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { createBuffers } from '../../../src/vscode/review/reviewBuffers.ts';
import { createWorkspace } from '../../../src/vscode/workspace/editorWorkspace.ts';
import { type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { recordingLogger } from '../../support/recordingLogger.ts';
import { cleanUpAfterEach, diskText, folder, onDisk, put, typeInto } from '../../support/vscode/editing.ts';
import { checkLeaks, eventually } from '../../support/vscode/startedExtension.ts';
import { type Headless, startHeadless } from '../../support/walk/headless.ts';
import { reviewing } from '../../support/walk/reviewing.ts';

describe('a file that the agent’s own shell command overwrites', function () {
  checkLeaks('once');
  cleanUpAfterEach();
  this.timeout(120_000);
  const workspace = createWorkspace();
  const errors: string[] = [];
  let server: ScriptedServer;
  let buffers: Buffers & Disposable;
  let headless: Headless;
  let conversation: string;
  let review: Review;
  let deps: RestoreDeps;
  let calls = 0;

  before(async () => {
    server = await startScriptedServer();
    buffers = createBuffers(workspace, recordingLogger(errors));
    headless = await startHeadless({
      model: createChatModel({ baseUrl: server.baseUrl, model: 'm', apiKey: async () => 'k' }),
      settings: { 'approvals.mode': 'all' },
      checkpoints: true,
      ports: { workspace, buffers, producers: [] },
    });
  });
  after(async () => {
    await headless.end();
    await server.stop();
    buffers.dispose();
    assert.deepEqual([...errors, ...headless.errors], []);
  });
  beforeEach(async () => {
    conversation = await begin();
    ({ review, deps } = reviewing({ headless, id: conversation }));
  });
  afterEach(() => headless.earshot.close(conversation));

  async function begin(): Promise<string> {
    const opened = await headless.earshot.create();
    assert.ok(opened.ok);
    return opened.value.log.id;
  }

  /** Runs one turn with these calls. */
  async function turn(...wanted: readonly (readonly [name: string, values: object])[]): Promise<void> {
    const made = wanted.map(([name, values]) => ({ calls: [{ id: `c${++calls}`, name, arguments: values }] }));
    server.script(...made, { text: ['Done.'] });
    const sent = await headless.earshot.send(conversation, 'Go on.');
    assert.ok(sent.ok);
    await headless.earshot.settled(conversation);
  }
  const run = (command: string) => ['run_command', { command }] as const;
  const overwrite = (...paths: string[]) => run(paths.map((path) => `echo agent > '${path}'`).join('; '));

  /** One click on *Undo*. */
  async function undo(): Promise<void> {
    const undone = await review.undo();
    assert.ok(undone.ok, JSON.stringify(undone));
    assert.deepEqual(undone.value.stayed, []);
  }

  const isThere = (name: string) =>
    readFile(onDisk(name)).then(
      () => true,
      () => false,
    );

  it('after the user changed it on disk is restored', async () => {
    const path = await put('a.txt', 'one\n');
    await turn(['read_file', { path }]);
    await put('a.txt', 'mine\n');
    await turn(overwrite(path));
    assert.equal(await diskText('a.txt'), 'agent\n');
    await undo();
    assert.equal(await diskText('a.txt'), 'mine\n');
  });

  it('while its buffer has unsaved changes is restored on disk, and the buffer keeps them', async () => {
    const path = await put('a.txt', 'saved\n');
    const document = await typeInto('a.txt', (text) => `${text}typed\n`);
    await turn(overwrite(path));
    assert.equal(await diskText('a.txt'), 'agent\n');
    assert.equal(document.getText(), 'saved\ntyped\n');
    await undo();
    assert.equal(await diskText('a.txt'), 'saved\n');
    assert.equal(document.getText(), 'saved\ntyped\n');
    assert.ok(document.isDirty);
  });

  it('after the user saved during the command is restored to the saved bytes', async () => {
    const path = await put('a.txt', 'one\n');
    const document = await typeInto('a.txt', () => 'typed\n');
    const saved = new Promise<void>((resolve) => {
      const listening = buffers.onDidSave(() => {
        listening.dispose();
        resolve();
      });
    });
    const turned = turn(
      run(
        `cd '${folder}'; touch started; while ! grep -q typed a.txt; do sleep 0.05; done; while [ ! -e go ]; do sleep 0.05; done; echo agent > a.txt; rm started go`,
      ),
    );
    // By now the checkpoint before the command has been taken.
    await eventually(() => isThere('started'), Boolean);
    await document.save();
    await saved;
    await put('go', '');
    await turned;
    assert.equal(await diskText('a.txt'), 'agent\n');
    await undo();
    assert.equal(await diskText('a.txt'), 'typed\n');
    assert.equal(path, `${folder}/a.txt`);
  });

  it('is listed, but not a file that the user saved during the command and the command did not touch', async () => {
    await put('a.txt', 'one\n');
    await put('own.txt', 'one\n');
    const document = await typeInto('a.txt', () => 'typed\n');
    const saved = new Promise<void>((resolve) => {
      const listening = buffers.onDidSave(() => {
        listening.dispose();
        resolve();
      });
    });
    // The command is busy all the time, so only the editor can tell who saved.
    const turned = turn(
      run(`cd '${folder}'; echo agent > own.txt; while ! grep -q typed a.txt || [ ! -e go ]; do :; done; rm go`),
    );
    await eventually(
      () => diskText('own.txt'),
      (text) => text === 'agent\n',
    );
    await document.save();
    await saved;
    await put('go', '');
    await turned;
    const others = new Review(deps, 'meanwhile');
    assert.deepEqual(
      [...(await review.files()), ...(await others.files())].map(({ path }) => path),
      [`${folder}/own.txt`],
    );
    await undo();
    assert.equal(await diskText('a.txt'), 'typed\n');
    assert.equal(await diskText('own.txt'), 'one\n');
  });

  it('with a link is restored, and so is the executable bit', async () => {
    await put('a.txt', 'one\n');
    await put('b.sh', 'echo b\n');
    await put('target.txt', 'target\n');
    await chmod(onDisk('b.sh'), 0o755);
    await turn(run(`cd '${folder}'; ln -sf target.txt a.txt; chmod -x b.sh; echo more >> b.sh`));
    await undo();
    assert.equal(await diskText('a.txt'), 'one\n');
    assert.ok(!(await lstat(onDisk('a.txt'))).isSymbolicLink());
    assert.equal(await diskText('target.txt'), 'target\n');
    assert.equal(await diskText('b.sh'), 'echo b\n');
    assert.equal((await lstat(onDisk('b.sh'))).mode & 0o111, 0o111);
  });

  it('after the user deleted it is removed again', async () => {
    const path = await put('a.txt', 'one\n');
    await turn(['read_file', { path }]);
    await rm(onDisk('a.txt'));
    await turn(overwrite(path));
    await undo();
    assert.equal(await isThere('a.txt'), false);
  });

  it('after the user renamed it is removed again', async () => {
    const path = await put('a.txt', 'mine\n');
    await turn(['read_file', { path }]);
    const edit = new vscode.WorkspaceEdit();
    edit.renameFile(vscode.Uri.file(onDisk('a.txt')), vscode.Uri.file(onDisk('b.txt')));
    assert.ok(await vscode.workspace.applyEdit(edit));
    await turn(overwrite(path, `${folder}/b.txt`));
    await undo();
    assert.equal(await isThere('a.txt'), false);
    assert.equal(await diskText('b.txt'), 'mine\n');
  });

  it('after only its line endings changed is restored with them', async () => {
    const path = await put('a.txt', 'one\ntwo\n');
    await turn(['read_file', { path }]);
    await put('a.txt', 'one\r\ntwo\r\n');
    await turn(overwrite(path));
    await undo();
    assert.equal(await diskText('a.txt'), 'one\r\ntwo\r\n');
  });

  it('after a formatter changed it on save is restored without being formatted again', async () => {
    const path = await put('a.txt', 'one\n');
    const document = await typeInto('a.txt', (text) => `${text}two\n`);
    const formatting = vscode.workspace.onWillSaveTextDocument((event) => {
      event.waitUntil(Promise.resolve([vscode.TextEdit.insert(new vscode.Position(0, 0), '# formatted\n')]));
    });
    try {
      await document.save();
      assert.equal(await diskText('a.txt'), '# formatted\none\ntwo\n');
      await turn(overwrite(path));
      await undo();
    } finally {
      formatting.dispose();
    }
    assert.equal(await diskText('a.txt'), '# formatted\none\ntwo\n');
  });

  it('after an edit of the conversation, in the same turn or another, is restored', async () => {
    const path = await put('a.txt', 'one\ntwo\n');
    const edit = { path, edits: [{ old_text: 'two', new_text: '2' }] };
    await turn(['read_file', { path }], ['edit_file', edit], run(`echo more >> '${path}'`));
    assert.equal(await diskText('a.txt'), 'one\n2\nmore\n');
    await turn(overwrite(path));
    await undo();
    assert.equal(await diskText('a.txt'), 'one\ntwo\n');
  });

  it('after a background command wrote it is restored', async () => {
    const path = await put('a.txt', 'one\n');
    const command = `cd '${folder}'; while [ ! -e go ]; do sleep 0.05; done; echo background > a.txt`;
    await turn(['run_command', { command, background: true, handle: 'writer' }]);
    await put('go', '');
    await eventually(
      () => diskText('a.txt'),
      (text) => text === 'background\n',
    );
    await turn(overwrite(path));
    await undo();
    assert.equal(await diskText('a.txt'), 'background\n');
  });

  it('after another conversation changed it is restored', async () => {
    const path = await put('a.txt', 'one\n');
    const first = conversation;
    conversation = await begin();
    await turn(overwrite(path));
    await writeFile(onDisk('a.txt'), 'by the other\n');
    await headless.earshot.close(conversation);
    conversation = first;
    await turn(overwrite(path));
    await undo();
    assert.equal(await diskText('a.txt'), 'by the other\n');
  });

  it('together with the whole folder is restored, including binary files', async () => {
    await put('a.bin', Uint8Array.of(0, 255, 10));
    await put('deep/b ä.txt', 'b\n');
    await turn(run(`rm -rf '${folder}'`));
    assert.equal(await isThere('a.bin'), false);
    const request = deps.live()?.log.state.changes.turns[0]?.request ?? '';
    const plan = await planRestore(deps, request);
    assert.ok(plan.ok);
    assert.deepEqual(
      plan.value.entries.map(({ outcome, by }) => `${outcome} ${by}`),
      ['created agent', 'created agent'],
    );
    await undo();
    assert.deepEqual(new Uint8Array(await readFile(onDisk('a.bin'))), Uint8Array.of(0, 255, 10));
    assert.equal(await diskText('deep/b ä.txt'), 'b\n');
  });
});
