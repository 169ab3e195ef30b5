// Windows by argument: its process table from `wmic` or PowerShell, and the end of a tree. `test/windows/` runs it.
import { EventEmitter } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { type StartedProcess } from '../../../src/node/platform/parts.ts';
import { platformFor } from '../../../src/node/platform/platform.ts';
import { hasStarted, listWindows, type RunProgram } from '../../../src/node/platform/windowsTable.ts';
import { WindowsTree } from '../../../src/node/platform/windowsTree.ts';
import { KINDS } from '../../../src/protocol/kinds.ts';

const SHELL = 40;

/** A system with these processes, as `name parent pid`; `ran` has every program that was started. */
function system(processes: () => readonly string[], has: 'wmic' | 'powershell' | 'neither' = 'wmic') {
  const ran: string[] = [];
  const run: RunProgram = async (program, args) => {
    ran.push([program, ...args].join(' '));
    if (program !== has) return '';
    const title = has === 'wmic' ? ['Name  ParentProcessId  ProcessId'] : [];
    return [...title, ...processes(), ''].join('\r\r\n');
  };
  return { run, ran };
}

/** A shell and its leash, a pipe that closes when the last process of the command has ended. */
function command() {
  const [child, leash] = [new EventEmitter(), Object.assign(new EventEmitter(), { resume: () => undefined })];
  const started = Object.assign(child, { pid: SHELL, stdio: [null, null, null, leash] });
  return { child, leash, started: started as unknown as StartedProcess };
}

test.each(['wmic', 'powershell'] as const)('processes are listed by %s, whatever their names contain', async (has) => {
  const { run, ran } = system(() => ['System Idle Process  0  0', 'a b.exe  4  12'], has);
  expect((await listWindows(run)).map(({ name, parent, pid }) => [name, parent, pid])).toEqual([
    ['System Idle Process', 0, 0],
    ['a b.exe', 4, 12],
  ]);
  expect(ran.length).toBe(has === 'wmic' ? 1 : 2);
});

test('a command that leaves nothing behind starts no program of the system, and nothing waits for one', async () => {
  const { run, ran } = system(() => []);
  const { child, leash, started } = command();
  const tree = new WindowsTree(run, started);
  expect(await tree.isAlive()).toBe(true);
  child.emit('exit', 0);
  leash.emit('close');
  expect([await tree.isAlive(), ran]).toEqual([false, []]);
  const folder = resolve(import.meta.dirname, '../../../src/node/platform');
  for (const name of readdirSync(folder).filter((one) => one.startsWith('windows')))
    expect(readFileSync(join(folder, name), 'utf8'), name).not.toMatch(/Sync\(/);
  const { processes } = platformFor('win32');
  expect([processes.startTimeOf(process.pid), Number(processes.stampOf(process.pid)) > 0]).toEqual([undefined, true]);
});

test('only Windows has no Ctrl+C for a command, and its users are not promised one', () => {
  const interrupts = (['linux', 'darwin', 'win32'] as const).map((system) => platformFor(system).processes.interrupts);
  expect(interrupts).toEqual([true, true, false]);
  for (const name of ['port.opened', 'devserver.failed', 'devserver.recovered'] as const)
    expect([platformFor('win32').listening, KINDS[name].description]).toEqual([
      undefined,
      expect.stringContaining('not on Windows'),
    ]);
});

test.each(['end', 'interrupt'] as const)('%s ends everything below the shell, not only the shell', async (how) => {
  let all = ['cmd.exe  1  40', 'node.exe  40  41', 'node.exe  41  42', 'other.exe  1  43'];
  const { run, ran } = system(() => all);
  const { child, started } = command();
  const tree = new WindowsTree(async (program, args) => {
    const text = await run(program, args);
    if (program !== 'taskkill') return text;
    all = all.filter((line) => line.endsWith('43'));
    child.emit('exit', 1);
    return text;
  }, started);
  await (how === 'end' ? tree.end(true) : tree.interrupt());
  expect(ran.filter((line) => line.startsWith('taskkill'))).toEqual(['taskkill /F /PID 40 /PID 41 /PID 42']);
});

test.each(['end', 'interrupt'] as const)(
  'without wmic and PowerShell, %s still ends what runs below the shell, by taskkill alone',
  async (how) => {
    const { run, ran } = system(() => [], 'neither');
    const tree = new WindowsTree(run, command().started);
    expect(await tree.isAlive()).toBe(true);
    await (how === 'end' ? tree.end(true) : tree.interrupt());
    expect(ran.filter((line) => line.startsWith('taskkill'))).toEqual(['taskkill /T /F /PID 40']);
    ran.length = 0;
    await tree.end(false);
    expect(ran.filter((line) => line.startsWith('taskkill'))).toEqual(['taskkill /T /PID 40']);
  },
);

test('without wmic and PowerShell a command lives until its leash closes, and no program that has its shell’s id is ended', async () => {
  const { run, ran } = system(() => [], 'neither');
  const { child, leash, started } = command();
  const tree = new WindowsTree(run, started);
  child.emit('exit', 0);
  expect(await tree.isAlive()).toBe(true);
  await tree.end(true);
  expect(ran.filter((line) => line.startsWith('taskkill'))).toEqual([]);
  leash.emit('close');
  expect(await tree.isAlive()).toBe(false);
});

test('what a command leaves behind is found while its leash is held, unless another program has its shell’s id', async () => {
  const left = ['node.exe  40  41'];
  const { run } = system(() => left);
  const { child, started } = command();
  const tree = new WindowsTree(run, started);
  child.emit('exit', 0);
  expect(await tree.isAlive()).toBe(true);
  const reused = command();
  const other = new WindowsTree(system(() => ['new.exe  1  40', 'its.exe  40  50']).run, reused.started);
  reused.child.emit('exit', 0);
  expect(await other.isAlive()).toBe(false);
});

test('a process is the one that was started only if the system says the same time', async () => {
  const at =
    (time: string): RunProgram =>
    async (program) =>
      program === 'powershell' ? time : '';
  const answers = ['1000500', '1009000', '', 'Get-Process : no process'];
  const same = await Promise.all(answers.map((time) => hasStarted(at(time), 7, '1000000')));
  expect(same).toEqual([true, false, false, false]);
});

test('a batch file runs in cmd.exe, and every other program by itself', () => {
  const { programs } = platformFor('win32');
  expect(programs.start('C:\\x y\\npx.CMD', ['-y', 'a b'])).toMatchObject({
    args: ['/d', '/s', '/c', '""C:\\x y\\npx.CMD" "-y" "a b""'],
    isVerbatim: true,
  });
  expect(programs.start('C:\\x\\node.exe', ['%A%'])).toMatchObject({ args: ['%A%'], isVerbatim: false });
  expect(() => programs.start('npx.cmd', ['a" & calc "'])).toThrow('cannot be passed to a batch file');
});
