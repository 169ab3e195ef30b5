// The ears beyond files, in the real editor: git, terminals, configuration and budget; what is told, and what never is.
import * as assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import * as vscode from 'vscode';
import { call, git, inFolder, type Listening, setting, useListening } from '../support/listening.ts';
import { checkLeaks, eventually } from '../support/vscodeApi.ts';

const MENU = 'src/menu.ts';
const ORDER = 'src/order.ts';

describe('the ears beyond files', function () {
  this.timeout(120_000);
  // Before the check for leaks: what it closes is closed by then.
  const listening = useListening();
  checkLeaks();
  let agent: Listening;

  beforeEach(async () => {
    agent = await listening.begin();
    await agent.read(MENU, ORDER);
  });

  it('git.head_changed: one notification for a switch, which names what was read; nothing of each file; commits are silent', async () => {
    await git('switch', '-q', 'feature/discount');
    await agent.hears(
      /^git.head_changed Git switched from main to feature\/discount \(.*\)\. 3 files of the repository differ\. Of what you have read, changed: src\/order.ts\. Read again/,
    );
    await writeFile(inFolder('notes.md'), 'Tea.');
    await git('add', '-A');
    await git('commit', '-qm', 'Notes');
    await writeFile(inFolder(MENU), 'export {};\n');
    await agent.hears(/^file.changed src\/menu.ts/);
    assert.deepEqual(
      agent.waiting.map((one) => one.split(' ')[0]),
      ['git.head_changed', 'file.changed'],
    );
    await git('checkout', '-qf', 'main');
    await git('branch', '-q', '-f', 'feature/discount', 'feature/discount~1');
  });

  it('git.head_changed: a stash takes back what was pending of a file, and a conflict is named', async () => {
    const order = await readFile(inFolder(ORDER), 'utf8');
    await writeFile(inFolder(ORDER), `${order}// mine\n`);
    await agent.hears(/^file.changed src\/order.ts/);
    await git('stash', '-q');
    await agent.hears(/^git.head_changed Git stashed changes away\. No file that you have read is affected\.$/);
    assert.equal(agent.waiting.length, 1);
    await git('stash', 'drop', '-q');
    await agent.turn();
    await writeFile(inFolder(ORDER), `${order.replace(/^.*$/m, '// theirs')}\n`);
    await git('commit', '-qam', 'Otherwise');
    await assert.rejects(git('merge', '-q', 'feature/discount'));
    await agent.hears(/^git.head_changed Git began a merge, which is not finished.* In conflict: src\/order.ts\./);
    await git('merge', '--abort');
    await git('reset', '-q', '--hard', 'HEAD~1');
  });

  it('terminal.failed: the command line without secrets; never what succeeded', async () => {
    const terminal = vscode.window.createTerminal({ name: 'kitchen', shellPath: '/bin/bash' });
    try {
      const shell = await eventually(
        () => terminal.shellIntegration,
        (integration) => integration !== undefined,
      );
      assert.ok(shell);
      shell.executeCommand('true');
      shell.executeCommand('echo steam; API_TOKEN=hunter2 false');
      await agent.hears(
        /^terminal.failed In the user’s terminal “kitchen” the command `echo steam; API_TOKEN=\*\*\* false` failed with exit code 1/,
      );
      assert.equal(agent.waiting.length, 1);
    } finally {
      terminal.dispose();
    }
  });

  it('config.changed: one line with the next request, and a round trip says nothing', async () => {
    await setting('mode', 'plan');
    assert.match(
      await agent.turn(),
      /Since your last answer: the mode is plan \(it was agent\); tools no longer there: /,
    );
    await setting('mode', undefined);
    await setting('mode', 'plan');
    assert.doesNotMatch(await agent.turn(), /notification/);
    await setting('mode', undefined);
    await writeFile(inFolder('AGENTS.md'), 'Serve it hot.');
    assert.match(await agent.turn(), /the mode is agent .*new instructions, in the system prompt: AGENTS.md/);
  });

  it('budget.context at 60 % and 80 %, and budget.rate_limited, each once', async () => {
    await setting('models', { scripted: { contextWindow: 10_000 } });
    const listing = (tokens: number) => ({
      ...call('list_files', {}),
      usage: { prompt_tokens: tokens, completion_tokens: 10 },
    });
    const limited = { refuse: { status: 429, message: 'slow down', headers: { 'retry-after': '0' } } };
    await agent.turn(limited, listing(6100), listing(6200), listing(8300));
    const text = agent.log.state.messages.all.map((message) => JSON.stringify(message)).join('\n');
    assert.equal(text.match(/The context window is 6\d % full/g)?.length, 1);
    assert.equal(text.match(/The context window is 8\d % full/g)?.length, 1);
    assert.equal(text.match(/The endpoint asked once to slow down/g)?.length, 1);
    await setting('models', undefined);
  });
});
