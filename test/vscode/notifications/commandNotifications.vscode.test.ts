// Notifications of background commands and tasks in the real editor: each is delivered once, to its conversation.
import * as assert from 'node:assert/strict';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import * as vscode from 'vscode';
import { call, inFolder, type Listening, setting, useListening } from '../../support/vscode/listeningConversation.ts';
import { checkLeaks, eventually } from '../../support/vscode/startedExtension.ts';

/** A folder ignored by git, so that files used by the test itself are not reported. */
const BESIDE = 'node_modules/beside';
const until = (name: string) => `while [ ! -e ${BESIDE}/${name} ]; do sleep 0.05; done`;

describe('notifications of commands and tasks', function () {
  this.timeout(120_000);
  // Registered before the leak check, so that everything is closed when it runs.
  const listening = useListening();
  checkLeaks('once');
  let agent: Listening;
  let other: Listening;

  beforeEach(async () => {
    // Notifications stay pending, so that the test can read them.
    await setting('notifications.activation', 'passive');
    await mkdir(inFolder(BESIDE), { recursive: true });
    agent = await listening.begin();
    other = await listening.begin();
  });
  afterEach(async () => {
    await setting('notifications.activation', undefined);
    await rm(inFolder(BESIDE), { recursive: true });
  });

  const say = (name: string) => writeFile(inFolder(`${BESIDE}/${name}`), '');

  it('tool.stopped, tool.failed, tool.waiting and tool.lost are delivered once, only to their conversation', async () => {
    const commands = {
      good: `${until('go')}; echo steeped`,
      bad: `${until('go')}; echo burnt; exit 7`,
      asks: `${until('go')}; printf 'With milk? '; read -r answer`,
      quiet: `echo 'Brewing'; read -r answer`,
      gone: `echo $PPID > ${BESIDE}/supervisor; sleep 600`,
    };
    const calls = Object.entries(commands).map(([handle, command]) => ({
      id: handle,
      name: 'run_command',
      arguments: { command, background: true, handle },
    }));
    await agent.turn({ calls });
    await say('go');
    const supervisor = await eventually(
      () => readFile(inFolder(`${BESIDE}/supervisor`), 'utf8').catch(() => ''),
      (text) => text.endsWith('\n'),
    );
    process.kill(Number(supervisor), 'SIGKILL');
    await agent.waitForPending(/^tool.waiting The background command “asks” \(.*\) seems to wait for input: /);
    await agent.waitForPending(/^tool.lost The background command “gone” \(.*\) cannot be followed any more: /);
    await agent.waitForPending(/^tool.stopped The background command “good” \(.*\) ended with exit code 0 after /);
    await agent.waitForPending(/^tool.failed The background command “bad” \(.*\) ended with exit code 7 after /);
    assert.deepEqual(agent.pending.map(({ kind, level }) => `${kind.name} ${level}`).sort(), [
      'failed error',
      'lost error',
      'stopped info',
      'waiting warning',
    ]);
    assert.deepEqual(other.pendingLines, []);
    const stop = ['asks', 'quiet'].map((name) => ({ id: name, name: 'handle', arguments: { action: 'abort', name } }));
    await agent.turn({ calls: stop });
    assert.deepEqual(agent.pendingLines, []);
  });

  it('task.ended: delivered to every live conversation, or only to the one that ran the task', async () => {
    const task = (name: string, command: string) =>
      new vscode.Task(
        { type: 'kitchen', name },
        vscode.TaskScope.Workspace,
        name,
        'kitchen',
        new vscode.ShellExecution(command),
        [],
      );
    const own = task('own', `${until('served')}; exit 3`);
    const provider = vscode.tasks.registerTaskProvider('kitchen', {
      provideTasks: () => [own],
      resolveTask: () => undefined,
    });
    try {
      await vscode.tasks.executeTask(task('first', 'exit 4'));
      for (const one of [agent, other])
        await one.waitForPending(/^task.ended The task “kitchen: first” ended with exit code 4 after /);
      await setting('notifications.tasks', 'own');
      await agent.turn(call('run_task', { name: 'own', timeout_secs: 1 }));
      await other.turn();
      await vscode.tasks.executeTask(task('second', 'exit 5'));
      await ended('second');
      await say('served');
      await agent.waitForPending(/^task.ended The task “kitchen: own” ended with exit code 3 after /);
      assert.deepEqual([agent.pendingLines.length, other.pendingLines.length], [1, 0]);
    } finally {
      await setting('notifications.tasks', undefined);
      provider.dispose();
    }
  });

  function ended(name: string): Promise<void> {
    return new Promise((resolve) => {
      const listening = vscode.tasks.onDidEndTask(({ execution }) => {
        if (execution.task.name !== name) return;
        listening.dispose();
        resolve();
      });
    });
  }
});
