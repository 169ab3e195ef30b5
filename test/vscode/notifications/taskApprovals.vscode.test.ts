// Approval of the editor's real tasks: the card shows what would run, and Always covers exactly that.
import * as assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { type ApprovalRequest } from '../../../src/core/ports/ports.ts';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { realFileSystem } from '../../../src/node/files/fileSystem.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { createPermissions } from '../../../src/storage/permissions.ts';
import { createRunTaskTool } from '../../../src/tools/commands/runTask.ts';
import { EditorTasks } from '../../../src/vscode/tasks/editorTasks.ts';
import { inspectTask } from '../../../src/vscode/tasks/taskDefinition.ts';
import { type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { recordingLogger } from '../../support/recordingLogger.ts';
import { checkLeaks, eventually } from '../../support/vscode/startedExtension.ts';
import { type Headless, startHeadless } from '../../support/walk/headless.ts';

const inputs = [{ id: 'who', type: 'promptString', description: 'For whom?' }];
const rinse = { label: 'rinse', type: 'process', command: 'true', args: ['a b'], problemMatcher: [] };
const steep = {
  label: 'steep',
  type: 'shell',
  command: 'echo ${workspaceFolder}',
  options: { cwd: '${workspaceFolder}/src', env: { LEAVES: 'green' } },
  dependsOn: ['rinse'],
  problemMatcher: [],
};
const serve = { label: 'serve', type: 'shell', command: 'echo ${input:who} ${command:tea.kind}', problemMatcher: [] };
const both = { label: 'both', dependsOn: ['rinse', 'nowhere'] };

/** No shell of the workspace is approved here. */
const noQuestion = { ask: async () => false, withdraw: () => undefined };

describe('the approval of a task', () => {
  checkLeaks();
  const folder = vscode.workspace.workspaceFolders?.[0];
  assert.ok(folder);
  const file = vscode.Uri.joinPath(folder.uri, '.vscode', 'tasks.json');
  let before: Uint8Array;
  let storage: string;
  let headless: Headless;
  let server: ScriptedServer;
  let tasks: EditorTasks;
  let conversation: string;
  const errors: string[] = [];

  /** Writes the tasks, and waits until the editor lists one of them as `isThere` wants it. */
  async function define(definitions: readonly object[], isThere: (task: vscode.Task) => boolean): Promise<void> {
    const text = JSON.stringify({ version: '2.0.0', inputs, tasks: definitions });
    await vscode.workspace.fs.writeFile(file, new TextEncoder().encode(text));
    await eventually(
      async () => vscode.tasks.fetchTasks(),
      (there) => there.some(isThere),
    );
  }

  beforeEach(async () => {
    before = await vscode.workspace.fs.readFile(file);
    storage = await mkdtemp(join(tmpdir(), 'earshot-tasks-'));
    const log = recordingLogger(errors);
    tasks = new EditorTasks(realClock, noQuestion, (error) => log.error('a task', error));
    server = await startScriptedServer();
    headless = await startHeadless({
      model: createChatModel({ baseUrl: server.baseUrl, model: 'm', apiKey: async () => 'k' }),
      ports: {
        tools: [createRunTaskTool({ tasks, clock: realClock })],
        producers: [],
        permissions: createPermissions({ files: realFileSystem, folder: storage, logger: log }),
      },
    });
    headless.frontend.answer = async () => ({ action: 'approve', always: { scope: 'folder' }, by: 'user' });
    const opened = await headless.earshot.create();
    assert.ok(opened.ok);
    conversation = opened.value.log.id;
  });
  afterEach(async () => {
    await headless.end();
    await server.stop();
    tasks.dispose();
    await rm(storage, { recursive: true });
    await vscode.workspace.fs.writeFile(file, before);
    assert.deepEqual(errors, []);
  });

  let calls = 0;
  /** Lets the model run the task, and returns the approvals that were requested for it. */
  async function run(name: string): Promise<readonly ApprovalRequest[]> {
    const earlier = headless.frontend.asked.length;
    server.script({ calls: [{ id: `c${++calls}`, name: 'run_task', arguments: { name } }] }, { text: ['Done.'] });
    await headless.earshot.send(conversation, 'Go on.');
    await headless.earshot.settled(conversation);
    return headless.frontend.asked.slice(earlier);
  }

  const isNamed = (name: string) => (task: vscode.Task) => task.name === name;

  it('shows its command, folder, environment and the tasks before it; Always ends when one of these changes', async () => {
    await define([rinse, steep], isNamed('steep'));
    const [asked, ...more] = await run('steep');
    assert.deepEqual(more, []);
    assert.deepEqual(asked?.task, {
      name: 'steep',
      folder: folder.name,
      command: `echo ${folder.uri.fsPath}`,
      facts: [
        { fact: 'cwd', text: `${folder.uri.fsPath}/src` },
        { fact: 'environment', text: 'LEAVES=green' },
      ],
      before: [
        {
          name: 'rinse',
          folder: folder.name,
          command: 'true "a b"',
          facts: [{ fact: 'cwd', text: folder.uri.fsPath }],
          before: [],
        },
      ],
    });
    assert.deepEqual(await run('steep'), []);
    const runs = (word: string) => (task: vscode.Task) => JSON.stringify(task.execution ?? '').includes(word);
    await define([rinse, { ...steep, command: 'echo other' }], runs('other'));
    assert.equal((await run('steep'))[0]?.task?.command, 'echo other');
    await define([{ ...rinse, args: ['changed'] }, steep], runs('changed'));
    assert.equal((await run('steep'))[0]?.task?.before[0]?.command, 'true changed');
    const env = { ...steep, options: { ...steep.options, env: { LEAVES: 'black' } } };
    await define([rinse, env], runs('black'));
    assert.equal((await run('steep')).length, 1);
    await define([rinse, steep], runs('green'));
    assert.deepEqual(await run('steep'), []);
  });

  it('names the inputs that will be asked for and the editor commands, and offers no Always for what they decide', async () => {
    await define([rinse, serve, both], isNamed('both'));
    headless.frontend.answer = async () => ({ action: 'reject', by: 'user' });
    const [asked] = await run('serve');
    assert.deepEqual(asked?.task?.facts.slice(1), [
      { fact: 'input', text: 'who: For whom?' },
      { fact: 'editor_command', text: 'tea.kind' },
    ]);
    assert.equal(asked.always, undefined);
    const [composed] = await run('both');
    assert.deepEqual(
      [composed?.task?.command, composed?.task?.unknown, composed?.task?.before.map(({ name }) => name)],
      [undefined, undefined, ['rinse']],
    );
    assert.deepEqual(composed?.task?.facts, [{ fact: 'missing', text: 'nowhere' }]);
    assert.equal(composed.always, undefined);
  });

  it('of an extension that runs it by itself says that the command is not known, and is asked for each time', async () => {
    const ended = new vscode.EventEmitter<number>();
    const written = new vscode.EventEmitter<string>();
    const terminal: vscode.Pseudoterminal = {
      onDidWrite: written.event,
      onDidClose: ended.event,
      open: () => ended.fire(0),
      close: () => undefined,
    };
    const custom = new vscode.CustomExecution(async () => terminal);
    const provider = vscode.tasks.registerTaskProvider('odd', {
      provideTasks: () => [new vscode.Task({ type: 'odd' }, folder, 'brew', 'odd', custom, [])],
      resolveTask: () => undefined,
    });
    try {
      for (let time = 0; time < 2; time++) {
        const [asked] = await run('odd: brew');
        assert.deepEqual([asked?.task?.unknown, asked?.task?.command, asked?.always], [true, undefined, undefined]);
      }
    } finally {
      provider.dispose();
      ended.dispose();
      written.dispose();
    }
  });

  it('shows terminal settings of the workspace, which can choose another shell', async () => {
    await define([rinse, steep], isNamed('steep'));
    await run('steep');
    const settings = vscode.workspace.getConfiguration('terminal.integrated');
    const platform = process.platform === 'darwin' ? 'osx' : 'linux';
    await settings.update(`env.${platform}`, { BASH_ENV: './evil' }, vscode.ConfigurationTarget.Workspace);
    try {
      headless.frontend.answer = async () => ({ action: 'reject', by: 'user' });
      const [asked] = await run('steep');
      assert.ok(asked?.task?.facts.some(({ fact, text }) => fact === 'setting' && text.includes('./evil')));
    } finally {
      await settings.update(`env.${platform}`, undefined, vscode.ConfigurationTarget.Workspace);
    }
  });

  it('is another one for the same task of another folder', () => {
    const fingerprintIn = (place: vscode.WorkspaceFolder) =>
      inspectTask(new vscode.Task({ type: 'shell' }, place, 'x', 'Workspace', new vscode.ShellExecution('true')), [])
        .fingerprint;
    const other = { ...folder, uri: vscode.Uri.joinPath(folder.uri, '..', 'other') };
    assert.equal(fingerprintIn(folder), fingerprintIn({ ...folder }));
    assert.notEqual(fingerprintIn(folder), fingerprintIn(other));
  });
});
