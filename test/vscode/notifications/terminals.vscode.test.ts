// The user's real terminals with bash's shell integration: which commands are reported, with which lines, and which are
// never reported.
import * as assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { devNull } from 'node:os';
import * as vscode from 'vscode';
import { folder, inFolder, type Listening, setting, useListening } from '../../support/vscode/listeningConversation.ts';
import { checkLeaks, eventually } from '../../support/vscode/startedExtension.ts';

describe('terminal notifications', function () {
  this.timeout(120_000);
  // Registered before the leak check, so that everything is closed when it runs.
  const listening = useListening();
  checkLeaks('once');
  let agent: Listening;
  let terminal: vscode.Terminal;

  // All tests share one terminal, because starting a shell takes longer than any of them.
  before(async () => {
    terminal = await openTerminal('kitchen');
  });
  after(() => terminal.dispose());
  beforeEach(async () => {
    agent = await listening.begin();
    terminal.show(true);
    await eventually(
      () => vscode.window.activeTerminal,
      (active) => active === terminal,
    );
  });

  async function openTerminal(name: string): Promise<vscode.Terminal> {
    // Without the user's start-up files, because their history settings change which command line bash reports.
    const env = {
      HOME: folder(),
      HISTCONTROL: '',
      HISTFILE: devNull,
      PROMPT_COMMAND: '',
      PS1: 'prompt-of-this-shell ',
    };
    const opened = vscode.window.createTerminal({ name, shellPath: '/bin/bash', env });
    opened.show(true);
    await eventually(
      () => opened.shellIntegration,
      (integration) => integration !== undefined,
    );
    return opened;
  }

  /** The exit code that the shell reports for the next command that ends. */
  function ended(isMeant = (where: vscode.Terminal) => where === terminal): Promise<number | undefined> {
    return new Promise((resolve) => {
      const listening = vscode.window.onDidEndTerminalShellExecution(({ terminal: where, exitCode }) => {
        if (!isMeant(where)) return;
        listening.dispose();
        resolve(exitCode);
      });
    });
  }

  /** Types the command line as a user would. */
  function type(commandLine: string): Promise<number | undefined> {
    const exitCode = ended();
    terminal.sendText(commandLine);
    return exitCode;
  }

  /** The full text of the only pending notification. */
  async function pendingText(): Promise<string> {
    const [only] = await eventually(
      () => agent.pending,
      (pending) => pending.length > 0,
    );
    assert.equal(agent.pending.length, 1);
    assert.equal(`${only?.kind.source}.${only?.kind.name}`, 'terminal.failed');
    return only?.message ?? '';
  }

  it('terminal.failed: a quick command is reported with its last lines, although the stream starts too late', async () => {
    assert.equal(await type('echo steam; echo API_KEY=12345; LOGIN_TOKEN=hunter2 false'), 1);
    assert.match(
      await pendingText(),
      /^In the user’s terminal “kitchen” the command `echo steam; echo API_KEY=\*\*\*; LOGIN_TOKEN=\*\*\* false` failed with exit code 1 in .*\. Its last lines:\nsteam\nAPI_KEY=\*\*\*$/,
    );
  });

  it('the menu of a terminal attaches its last command to the next message', async () => {
    assert.equal(await type('echo steam from the kettle'), 0);
    await vscode.commands.executeCommand('earshot.newChat');
    await vscode.commands.executeCommand('earshot.attachTerminal');
    listening.server.restart({ text: ['Done.'] });
    const count = listening.server.requests.length;
    await vscode.commands.executeCommand('earshot.explainProblem', 'What is this?');
    await eventually(
      () => listening.server.requests.length,
      (now) => now === count + 1,
    );
    assert.match(listening.server.requests.at(-1)?.body ?? '', /Last terminal command.*steam from the kettle/);
  });

  it('terminal.failed: a long output is cut to its last lines, without control sequences, secrets and overwritten text', async () => {
    const script = [
      'for (let i = 0; i < 4000; i += 1) console.log(`line ${i}`);',
      'process.stdout.write("10 %\\r100 %\\n");',
      'console.log("\\u001b[31mAPI_TOKEN=hunter2 \\u001b]8;;http://x\\u0007is red\\u001b]8;;\\u0007\\u001b[0m");',
      'console.log("-----BEGIN PRIVATE KEY-----\\n" + "MIIabc\\n".repeat(20) + "-----END PRIVATE KEY-----");',
      'process.stdout.write("no end of line");',
      'process.exitCode = 3;',
    ];
    await writeFile(inFolder('brew.js'), script.join('\n'));
    assert.equal(await type(`'${process.execPath}' brew.js`), 3);
    const [head, ...lines] = (await pendingText()).split('\n');
    assert.match(head ?? '', /brew.js` failed with exit code 3 in .*\. Its last lines:$/);
    assert.deepEqual(lines, [
      ...Array.from({ length: 11 }, (_, index) => `line ${3989 + index}`),
      '100 %',
      'API_TOKEN=*** is red',
      '***',
      'no end of line',
    ]);
  });

  it('terminal.failed: a command run by executeCommand is reported, and each of two terminals with its own lines', async () => {
    const other = await openTerminal('cellar');
    try {
      const slow = (what: string) => `sleep 0.2; echo ${what}; false`;
      terminal.sendText(slow('steam'));
      assert.ok(other.shellIntegration);
      other.shellIntegration.executeCommand(slow('wine'));
      const pending = await eventually(
        () => agent.pending,
        ({ length }) => length >= 2,
      );
      assert.deepEqual(pending.map(({ message }) => message.replace(/ in \/[^\n]*\./, '.')).sort(), [
        'In the user’s terminal “cellar” the command `sleep 0.2; echo wine; false` failed with exit code 1. Its last lines:\nwine',
        'In the user’s terminal “kitchen” the command `sleep 0.2; echo steam; false` failed with exit code 1. Its last lines:\nsteam',
      ]);
    } finally {
      other.dispose();
    }
  });

  it('terminal.failed: a quick command in a hidden terminal is never reported with the lines of the visible one', async () => {
    const front = await openTerminal('cellar');
    try {
      await writeFile(inFolder('cup'), 'wine\n');
      front.sendText('cat cup; false');
      assert.match(await pendingText(), /“cellar” .* Its last lines:\nwine$/);
      await agent.turn();
      await writeFile(inFolder('cup'), 'tea\n');
      assert.equal(await type('cat cup; false'), 1);
      assert.match(
        await pendingText(),
        /“kitchen” the command `cat cup; false` failed with exit code 1 in \S+( Its last lines:\ntea)?$/,
      );
    } finally {
      front.dispose();
    }
  });

  /** Runs the command in the terminal and resolves once it has printed this text. */
  async function printed(text: string, commandLine: string): Promise<void> {
    assert.ok(terminal.shellIntegration);
    const execution = terminal.shellIntegration.executeCommand(commandLine);
    for await (const piece of execution.read()) if (piece.includes(text)) return;
    assert.fail(`the terminal never printed ${text}`);
  }

  it('input typed into a command, the prompt and the next command are never reported', async () => {
    await printed(
      'Word?',
      `stty -echo; echo 'Wo''rd?'; read -r word; stty echo; echo wrong; sleep 0.2; echo over; false`,
    );
    terminal.sendText('open sesame');
    const message = await pendingText();
    assert.match(message, /Its last lines:\nWord\?\nwrong\nover$/);
    assert.equal(await type('echo after; true'), 0);
    assert.equal(await pendingText(), message);
  });

  it('a successful command, one ended with Ctrl+C and a task are not reported as terminal.failed', async () => {
    assert.equal(await type('echo steam'), 0);
    const interrupted = ended();
    await printed('waits', `echo 'wai''ts'; sleep 600`);
    terminal.sendText('\u0003', false);
    assert.equal(await interrupted, 130);
    const burn = new vscode.ShellExecution('echo burnt; exit 3');
    const definition = { type: 'kitchen', name: 'burn' };
    const task = new vscode.Task(definition, vscode.TaskScope.Workspace, 'burn', 'kitchen', burn, []);
    const end = ended((where) => where !== terminal);
    await vscode.tasks.executeTask(task);
    assert.equal(await end, 3);
    await agent.waitForPending(/^task.ended The task “kitchen: burn” ended with exit code 3/);
    // Notifications of the earlier commands would have arrived before this one.
    assert.equal(await type('false'), 1);
    await agent.waitForPending(/^terminal.failed .* the command `false` failed with exit code 1 in [^:]*\.$/);
    assert.equal(agent.pendingLines.length, 2);
  });

  it('terminal.failed: succeeding before delivery withdraws the notification', async () => {
    await type('test -e brewed');
    await pendingText();
    await type('touch brewed');
    assert.equal(await type('test -e brewed'), 0);
    await agent.waitForNonePending();
  });

  it('terminal notifications can be recorded without delivery, or turned off', async () => {
    await setting('notifications.kinds', { terminal: { enable: false } });
    await type('false');
    await pendingText();
    assert.doesNotMatch(await agent.turn(), /terminal/);
    await setting('notifications.kinds', undefined);
    await setting('notifications.producers', { terminals: false });
    await type('false # unheard');
    await setting('notifications.producers', undefined);
    await type('false # reported');
    assert.match(await pendingText(), /# reported/);
  });
});
