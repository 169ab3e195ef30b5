// Commands in the real editor: the user's shell and environment, and a terminal that mirrors a command and accepts
// input.
import * as assert from 'node:assert/strict';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { type Handle } from '../../../src/core/ports/handles.ts';
import { CommandHandle } from '../../../src/core/tools/handle.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { createSupervision, launchSupervisor } from '../../../src/node/supervision/supervision.ts';
import { Mirror, TerminalMirrors } from '../../../src/vscode/chat/terminalMirror.ts';
import { userShell } from '../../../src/vscode/tasks/shell.ts';
import { checkLeaks, eventually } from '../../support/vscode/startedExtension.ts';

describe('commands', () => {
  checkLeaks('once');
  let folder: string;
  let runs = 0;
  const handles: CommandHandle[] = [];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'earshot-commands-'));
  });
  afterEach(async () => {
    for (const handle of handles.splice(0)) {
      await handle.stop('the test ended');
      handle.dispose();
    }
    await vscode.workspace.getConfiguration('terminal.integrated').update('env.linux', undefined, true);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** Starts a command with the shipped supervisor. */
  async function start(command: string): Promise<Handle> {
    const program = vscode.extensions.getExtension('earshot.earshot')?.extensionUri.fsPath ?? '';
    const fail = (error: unknown) => assert.fail(String(error));
    const supervision = createSupervision({
      launch: (place, env) => launchSupervisor(join(program, 'dist', 'supervisor.cjs'), place, env),
      clock: realClock,
      report: (_what, error) => fail(error),
      folderOf: async () => folder,
      userShell,
      unownedMilliseconds: () => 30_000,
    });
    const run = `r${runs++}`;
    const started = await supervision.start({ conversation: 'c', run, command, folder, input: true });
    assert.ok(started.ok, started.ok ? '' : started.failure.message);
    const deps = { conversation: 'c', run, process: started.value, clock: realClock, report: fail };
    const handle = new CommandHandle({ ...deps, changed: () => undefined });
    handles.push(handle);
    return handle;
  }

  it('have the user’s shell and environment with the changes from the settings, and none of the editor’s variables', async () => {
    const settings = vscode.workspace.getConfiguration('terminal.integrated');
    await settings.update('env.linux', { FROM_SETTINGS: 'yes', HOME: null }, true);
    const { shell, env } = userShell();
    assert.equal(await realpath(shell.path), await realpath(vscode.env.shell));
    assert.equal(env['FROM_SETTINGS'], 'yes');
    assert.deepEqual(
      Object.keys(env).filter((name) => name === 'HOME' || /^(ELECTRON|VSCODE)_/.test(name)),
      [],
    );
    const handle = await start('env');
    await handle.until((one) => one.hasEnded);
    const lines = (await handle.lastLines(100_000)).split('\n');
    assert.ok(lines.includes('FROM_SETTINGS=yes'));
    assert.deepEqual(
      lines.filter((line) => /^(ELECTRON_|VSCODE_|EARSHOT_NODE_)/.test(line)),
      [],
    );
  });

  /** Opens a mirror; `shown` is what its terminal shows. */
  function open(handle: Handle): { mirror: Mirror; shown(): string } {
    const mirror = new Mirror(handle, (error) => assert.fail(String(error)));
    let text = '';
    mirror.onDidWrite((more) => (text += more));
    mirror.open();
    return { mirror, shown: () => text };
  }

  it('are mirrored with their earlier output, and get typed lines, which can be edited and are echoed', async () => {
    const handle = await start(
      `printf '\\033[32mName?\\033[0m '; read name; echo "Hello $name"; read x; cat; echo over`,
    );
    await handle.until((one) => one.process.status.size > 0);
    const { mirror, shown } = open(handle);
    await eventually(shown, (text) => text.includes('\u001b[32mName?\u001b[0m '));
    mirror.handleInput('Adx\u007fa');
    mirror.handleInput('\u001b[A');
    mirror.handleInput('\r');
    await eventually(shown, (text) => text.includes('Adx\b \ba\r\nHello Ada\r\n'));
    mirror.handleInput('\r');
    mirror.handleInput('last\r');
    mirror.handleInput('\u0004');
    const all = await eventually(shown, (text) => text.includes('Press any key'));
    assert.match(all, /last\r\n(last\r\n)over\r\n.*\[ended with exit code 0 after/s);
    let closed = false;
    mirror.onDidClose(() => (closed = true));
    mirror.handleInput('x');
    assert.ok(closed);
    mirror.close();
  });

  it('are interrupted by Ctrl+C', async () => {
    const handle = await start('echo up; sleep 1000');
    const { mirror, shown } = open(handle);
    await eventually(shown, (text) => text.includes('up\r\n'));
    mirror.handleInput('\u0003');
    await eventually(shown, (text) => /\^C\r\n.*was ended by SIGINT/s.test(text));
    mirror.close();
  });

  it('have one terminal each, which opens without taking the focus', async () => {
    const document = await vscode.workspace.openTextDocument({ content: 'typing here' });
    await vscode.window.showTextDocument(document);
    const mirrors = new TerminalMirrors((error) => assert.fail(String(error)));
    const handle = await start('echo hello; sleep 1000');
    const before = vscode.window.terminals.length;
    const terminal = mirrors.show(handle);
    assert.equal(mirrors.show(handle), terminal);
    await eventually(
      () => vscode.window.terminals.length,
      (count) => count === before + 1,
    );
    assert.equal(vscode.window.activeTextEditor?.document, document);
    mirrors.dispose();
    await eventually(
      () => vscode.window.terminals.length,
      (count) => count === before,
    );
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  });
});
