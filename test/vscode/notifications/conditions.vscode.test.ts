// Conditions on tasks and problems of the real editor, from the call to the request that the wake sends.
import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { call, inFolder, useListening } from '../../support/vscode/listeningConversation.ts';
import { checkLeaks, eventually } from '../../support/vscode/startedExtension.ts';

const DONE = { text: ['Done.'] };

describe('conditions of the editor', function () {
  this.timeout(120_000);
  const listening = useListening();
  checkLeaks('each');

  it('a task that ends and a problem that appears wake the model once, with both as evidence', async () => {
    const agent = await listening.begin();
    const execution = new vscode.ShellExecution('true');
    const task = new vscode.Task({ type: 'shell' }, vscode.TaskScope.Workspace, 'brew', 'tea', execution);
    // A condition names a task that the editor can list.
    const provider = vscode.tasks.registerTaskProvider('shell', {
      provideTasks: () => [task],
      resolveTask: () => undefined,
    });
    const when = {
      all: [
        { task: 'brew', is: 'ok' },
        { problems: 'src/**', is: 'some' },
      ],
    };
    const set = await agent.turn(call('wake_when', { name: 'both', when, note: 'Look at the tea.' }), DONE);
    assert.match(set, /Set\. Its deadline is/);
    const problems = vscode.languages.createDiagnosticCollection('tea');
    try {
      const range = new vscode.Range(0, 0, 0, 3);
      problems.set(vscode.Uri.file(inFolder('src/menu.ts')), [new vscode.Diagnostic(range, 'The tea is cold.')]);
      await vscode.tasks.executeTask(task);
      await eventually(
        () => listening.server.requests.length,
        (count) => count === 3,
      );
      await listening.earshot.settled(agent.log.id);
    } finally {
      problems.dispose();
      provider.dispose();
    }
    const { messages } = JSON.parse(listening.server.requests[2]?.body ?? '{}') as { messages: unknown[] };
    const body = JSON.stringify(messages.at(-1));
    assert.match(body, /The condition “both” that you set at \d\d:\d\d is met\./);
    assert.match(body, /✓ task “brew” is ok: ended with exit code 0/);
    assert.match(body, /✓ problems in src\/\*\*: some: 1 error or warning/);
    assert.match(body, /Your note: Look at the tea\./);
    assert.equal(agent.log.state.wakes.count, 0);
  });

  it('an empty list of problems is unknown until a server has reported on such a file', async () => {
    const agent = await listening.begin();
    const clean = { problems: 'conditions/**', is: 'none' };
    const before = await agent.turn(call('wake_when', { name: 'clean', when: clean, or_after: '2h' }), DONE);
    assert.match(before, /Set\. Its deadline is/);
    const path = inFolder('conditions/menu.tea');
    const uri = vscode.Uri.file(path);
    await vscode.workspace.fs.writeFile(uri, Buffer.from('green\n'));
    const problems = vscode.languages.createDiagnosticCollection('tea');
    try {
      const range = new vscode.Range(0, 0, 0, 3);
      problems.set(uri, [new vscode.Diagnostic(range, 'The tea is cold.')]);
      problems.set(uri, []);
      await eventually(
        () => agent.log.state.wakes.count,
        (count) => count === 0,
      );
      await listening.earshot.settled(agent.log.id);
    } finally {
      problems.dispose();
      await vscode.workspace.fs.delete(vscode.Uri.file(inFolder('conditions')), { recursive: true });
    }
    const { messages } = JSON.parse(listening.server.requests.at(-1)?.body ?? '{}') as { messages: unknown[] };
    assert.match(JSON.stringify(messages.at(-1)), /✓ problems in conditions\/\*\*: none: no errors or warnings/);
  });
});
