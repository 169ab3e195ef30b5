// Commands under the real supervisor, with all kinds of difficult programs. Real processes, no fakes.
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { platform } from '../../../src/node/platform/platform.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { shellProgram, userEnvironment } from '../../../src/node/shellProgram.ts';
import { type Supervised } from '../../../src/node/supervision/supervised.ts';
import { createSupervision, type SupervisionDeps } from '../../../src/node/supervision/supervision.ts';
import { launchProcess } from '../../support/tools/supervision.ts';

let folder: string;
const followed: Supervised[] = [];
let runs = 0;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'earshot-supervision-'));
});
afterEach(async () => {
  for (const one of followed.splice(0)) {
    one.stop('the test ended');
    await until(one, hasEnded);
    one.dispose();
  }
  await rm(folder, { recursive: true });
});

function supervision(more: Partial<SupervisionDeps> = {}) {
  return createSupervision({
    launch: launchProcess,
    clock: realClock,
    report: (what, error) => expect([what, error]).toEqual([]),
    folderOf: async (conversation) => join(folder, conversation),
    userShell: () => ({ shell: shellProgram('/bin/sh'), env: userEnvironment(process.env) }),
    unownedMilliseconds: () => 30_000,
    graceMilliseconds: 300,
    ...more,
  });
}

async function start(command: string, more: Partial<SupervisionDeps> = {}, input = true): Promise<Supervised> {
  const started = await supervision(more).start({ conversation: 'c', run: `r${runs++}`, command, folder, input });
  if (!started.ok) throw new Error(started.failure.message);
  followed.push(started.value);
  return started.value;
}

const hasEnded = ({ status }: Supervised) => status.end !== undefined || status.lost === true;

function until(one: Supervised, holds: (one: Supervised) => boolean): Promise<void> {
  return new Promise((resolve) => {
    if (holds(one)) return resolve();
    const listening = one.onDidChange(() => {
      if (!holds(one)) return;
      listening.dispose();
      resolve();
    });
  });
}

/** Releases the command as a closing window does. */
function release(one: Supervised): void {
  followed.splice(followed.indexOf(one), 1);
  one.dispose();
}

async function textOf(one: Supervised): Promise<string> {
  const { bytes } = await one.read(0, one.status.size);
  return Buffer.from(bytes).toString('utf8');
}

async function untilPrinted(one: Supervised, text: string): Promise<void> {
  for (;;) {
    // The size before the read: output that comes during the read is read in the next round.
    const { size } = one.status;
    if ((await textOf(one)).includes(text)) return;
    await until(one, ({ status }) => status.size > size);
  }
}

const pidFrom = async (name: string) => Number((await readFile(join(folder, name), 'utf8')).trim());
const onlyRun = async () => (await readdir(join(folder, 'c', 'handles')))[0] ?? '';
const lives = (pid: number) => platform.processes.startTimeOf(pid) !== undefined;

test('a command ends with its exit code, and its output is on disk', async () => {
  const one = await start('echo out; echo err >&2; exit 3');
  await until(one, hasEnded);
  expect(one.status.end).toMatchObject({ cause: 'exited', code: 3, signal: null });
  expect((await textOf(one)).split('\n').sort()).toEqual(['', 'err', 'out']);
});

test('a signal and a missing shell are reported as such', async () => {
  const killed = await start('kill -9 $$');
  await until(killed, hasEnded);
  expect(killed.status.end).toMatchObject({ cause: 'exited', code: null, signal: 'SIGKILL' });
  const none = await start('true', { userShell: () => ({ shell: shellProgram('/no/such/shell'), env: {} }) });
  await until(none, hasEnded);
  expect(none.status.end).toMatchObject({ cause: 'not_started', reason: expect.stringContaining('ENOENT') as string });
});

test('a program that reads gets the input line by line until it is closed', async () => {
  const one = await start('printf "Name? "; read name; echo "Hello $name"; cat; echo over');
  await untilPrinted(one, 'Name? ');
  expect(await one.write('Ada\n')).toMatchObject({ ok: true });
  await untilPrinted(one, 'Hello Ada');
  expect(await one.write('more\n', true)).toMatchObject({ ok: true });
  await until(one, hasEnded);
  expect(await textOf(one)).toBe('Name? Hello Ada\nmore\nover\n');
  expect(await one.write('too late\n')).toMatchObject({ ok: false });
});

test('without input a program reads the end of file at once, and writing is refused', async () => {
  const one = await start('cat; echo over; sleep 1000', {}, false);
  await untilPrinted(one, 'over');
  expect(one.status.inputOpen).toBe(false);
  expect(await one.write('x')).toMatchObject({ ok: false, failure: { message: 'Its input is closed.' } });
});

test('a command that ignores SIGTERM is killed with its descendants, including those outside its group', async () => {
  const one = await start(
    `trap '' TERM; (trap '' TERM; sleep 1000 & echo $! > inner; wait) & echo $! > outer; setsid sleep 1000 & echo $! > away; echo up; wait; sleep 1000`,
  );
  await untilPrinted(one, 'up');
  await expect.poll(() => pidFrom('inner')).toBeGreaterThan(0);
  const pids = await Promise.all(['outer', 'inner', 'away'].map(pidFrom));
  expect(pids.every(lives)).toBe(true);
  one.stop('enough');
  await until(one, hasEnded);
  expect(one.status.end).toMatchObject({ cause: 'stopped', reason: 'enough' });
  expect(pids.filter(lives)).toEqual([]);
});

test('an interrupt is Ctrl+C for every program of the command, and one that handles it goes on', async () => {
  const one = await start(
    `trap 'echo shell caught it' INT; (trap 'echo child caught it; exit 4' INT; echo "child is up"; while :; do sleep 0.05; done); echo "child ended with $?"; read line; exit 5`,
  );
  await untilPrinted(one, 'child is up');
  one.interrupt();
  await untilPrinted(one, 'child ended with 4');
  expect((await textOf(one)).split('\n').sort()).toEqual([
    '',
    'child caught it',
    'child ended with 4',
    'child is up',
    'shell caught it',
  ]);
  expect(hasEnded(one)).toBe(false);
  await one.write('go on\n');
  await until(one, hasEnded);
  expect(one.status.end).toMatchObject({ cause: 'exited', code: 5 });
  const ended = await start('echo up; exec sleep 1000');
  await untilPrinted(ended, 'up');
  ended.interrupt();
  await until(ended, hasEnded);
  expect(ended.status.end).toMatchObject({ cause: 'exited', code: null, signal: 'SIGINT' });
});

test('a command that closes its output keeps running and is ended by stop', async () => {
  const one = await start('echo $$ > pid; exec >&- 2>&-; sleep 1000');
  await expect.poll(() => pidFrom('pid')).toBeGreaterThan(0);
  const pid = await pidFrom('pid');
  expect(hasEnded(one)).toBe(false);
  one.stop('enough');
  await until(one, hasEnded);
  expect(lives(pid)).toBe(false);
});

test('background processes end with the command and are reported; a daemon survives and is named', async () => {
  const one = await start('sleep 1000 & echo $! > left; (setsid sleep 1000 & echo $! > daemon); echo done');
  await until(one, hasEnded);
  expect(one.status.end).toMatchObject({ cause: 'exited', code: 0, left: true });
  expect(lives(await pidFrom('left'))).toBe(false);
  const daemon = await pidFrom('daemon');
  expect(lives(daemon)).toBe(true);
  expect(one.status.end?.survivors).toEqual([{ pid: daemon, name: 'sleep' }]);
  process.kill(daemon, 'SIGKILL');
});

test('a daemon without parents is ended with a stopped command', async () => {
  const daemon = `sh -c 'echo $$ > daemon; exec sleep 1000' > /dev/null 2>&1 < /dev/null &`;
  const one = await start(`setsid sh -c 'setsid ${daemon.replaceAll("'", `'"'"'`)}' & wait $!; echo up; sleep 1000`);
  await untilPrinted(one, 'up');
  await expect.poll(() => pidFrom('daemon')).toBeGreaterThan(0);
  const pid = await pidFrom('daemon');
  expect(lives(pid)).toBe(true);
  one.stop('enough');
  await until(one, hasEnded);
  expect(one.status.end).toMatchObject({ cause: 'stopped' });
  expect(one.status.end).not.toHaveProperty('survivors');
  expect(lives(pid)).toBe(false);
});

test('a daemon that is started while the command is stopped does not survive it', async () => {
  const one = await start(
    `trap 'setsid sleep 1000 & echo $! > late; exit 0' TERM; echo up; while :; do sleep 0.05; done`,
    // Time for the trap to run, also on a busy machine.
    { graceMilliseconds: 30_000 },
  );
  await untilPrinted(one, 'up');
  one.stop('enough');
  await until(one, hasEnded);
  expect(lives(await pidFrom('late'))).toBe(false);
});

test('a command cannot read the token of its supervisor from its mark', async () => {
  const one = await start('env | grep EARSHOT_ | grep -v EARSHOT_PLATFORM');
  await until(one, hasEnded);
  const spec = JSON.parse(await readFile(join(folder, 'c', 'handles', await onlyRun(), 'spec.json'), 'utf8')) as {
    token: string;
  };
  expect(await textOf(one)).toMatch(/^EARSHOT_COMMAND=[0-9a-f]{32}\n$/);
  expect(await textOf(one)).not.toContain(spec.token);
});

test('100 MB of output are stored completely without using memory', async () => {
  const one = await start('head -c 104857600 /dev/zero | tr "\\0" "x"; echo; echo the end');
  let most = 0;
  const listening = one.onDidChange(() => {
    most = Math.max(most, residentBytes(one.pid));
  });
  await until(one, hasEnded);
  listening.dispose();
  expect(one.status).toMatchObject({ size: 104857600 + 9, kept: 0, end: { code: 0 } });
  const last = await one.read(104857600 - 5, 100);
  expect(Buffer.from(last.bytes).toString()).toBe('xxxxx\nthe end\n');
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThan(200 * 1024 * 1024);
});

test('a window that reattaches finds the command running with all its output', async () => {
  const run = `r${runs}`;
  const one = await start('echo first; read line; echo "got $line"');
  await untilPrinted(one, 'first');
  release(one);
  const again = await supervision().reattach('c', run);
  if (again === undefined) throw new Error('not found');
  followed.push(again);
  expect(hasEnded(again)).toBe(false);
  expect(await textOf(again)).toBe('first\n');
  await again.write('this\n');
  await until(again, hasEnded);
  expect(await textOf(again)).toBe('first\ngot this\n');
});

test('the exit code of a command that ended without a window is available', async () => {
  const run = `r${runs}`;
  const one = await start('read line; exit 7');
  const { pid } = one;
  await one.write('go\n');
  release(one);
  await expect.poll(() => lives(pid)).toBe(false);
  const again = await supervision().reattach('c', run);
  expect(again?.status.end).toMatchObject({ cause: 'exited', code: 7 });
  again?.dispose();
});

test('a command is not stopped before its first owner has connected, however soon later owners must return', async () => {
  const one = await start('read line; exit 5', { unownedMilliseconds: () => 1 });
  expect(await one.write('\n')).toMatchObject({ ok: true });
  await until(one, hasEnded);
  expect(one.status.end).toMatchObject({ cause: 'exited', code: 5 });
});

test('without an owner the command is stopped after a while, and that is recorded', async () => {
  const run = `r${runs}`;
  const one = await start('sleep 1000 & echo $! > child; wait', { unownedMilliseconds: () => 400 });
  await expect.poll(() => pidFrom('child')).toBeGreaterThan(0);
  const child = await pidFrom('child');
  const { pid } = one;
  release(one);
  await expect.poll(() => lives(pid) || lives(child)).toBe(false);
  const again = await supervision().reattach('c', run);
  expect(again?.status.end).toMatchObject({ cause: 'unowned' });
  again?.dispose();
});

test('when the supervisor is killed the command is lost, and its processes are ended', async () => {
  const one = await start('sleep 1000 & echo $! > child; echo up; wait');
  await untilPrinted(one, 'up');
  const child = await pidFrom('child');
  process.kill(one.pid, 'SIGKILL');
  await until(one, hasEnded);
  expect(one.status).toMatchObject({ lost: true, inputOpen: false });
  await expect.poll(() => lives(child)).toBe(false);
  expect(await textOf(one)).toBe('up\n');
});

test('a connection without the token is rejected', async () => {
  const run = `r${runs}`;
  const one = await start('sleep 1000');
  const place = join(folder, 'c', 'handles', `run-${Buffer.from(run).toString('hex')}`, 'spec.json');
  const spec = JSON.parse(await readFile(place, 'utf8')) as { token: string; socket: string };
  const { connect } = await import('node:net');
  const closed = new Promise((resolve) => {
    const socket = connect(spec.socket);
    socket.on('error', () => undefined);
    socket.on('close', resolve);
    socket.write(
      `${JSON.stringify({ type: 'hello', token: 'guess' })}\n${JSON.stringify({ type: 'stop', reason: 'x' })}\n`,
    );
  });
  await closed;
  expect(hasEnded(one)).toBe(false);
});

test('a command has the user’s environment without the editor’s variables and the keys of models, and the given folder', async () => {
  await writeFile(join(folder, 'here'), '');
  const env = {
    ...process.env,
    MINE: 'yes',
    VSCODE_PID: '1',
    EARSHOT_API_KEY: 'secret',
    EARSHOT_API_KEY_WORK: 'secret',
    ELECTRON_RUN_AS_NODE: '1',
    NODE_OPTIONS: '--no-warnings',
  };
  const settings = { FROM_SETTINGS: 'too', MINE: 'changed', HOME: null };
  const one = await start('ls here; env', {
    userShell: () => ({ shell: shellProgram('/bin/sh'), env: userEnvironment(env, settings) }),
  });
  await until(one, hasEnded);
  const lines = (await textOf(one)).split('\n');
  expect(lines[0]).toBe('here');
  expect(lines).toContain(`EARSHOT_COMMAND=${one.mark}`);
  expect(lines).toEqual(expect.arrayContaining(['MINE=changed', 'FROM_SETTINGS=too', 'NODE_OPTIONS=--no-warnings']));
  // Only the command's own mark is added.
  expect(lines.filter((line) => /^(VSCODE_|ELECTRON_|EARSHOT_(?!PLATFORM)|HOME=)/.test(line))).toEqual([
    expect.stringMatching(/^EARSHOT_COMMAND=[0-9a-f]{32}$/),
  ]);
});

test('bash reads no ~/.bashrc before a command, no matter how the editor was started', async () => {
  await writeFile(join(folder, '.bashrc'), 'echo from bashrc\n');
  // As if no shell had started the editor: bash then treats its input as that of a remote login.
  const env = userEnvironment(process.env, { HOME: folder, SHLVL: null });
  const one = await start('echo from the command', { userShell: () => ({ shell: shellProgram('/bin/bash'), env }) });
  await until(one, hasEnded);
  expect(await textOf(one)).toBe('from the command\n');
});

test.each(['/bin/sh', '/bin/bash'])(
  'a command in %s has the PATH that the editor got from the login shell',
  async (shell) => {
    // Where a Mac's package manager is, which is not on the PATH of what the Dock starts. A login shell would reorder it.
    const programs = join(folder, 'homebrew');
    await mkdir(programs);
    await writeFile(join(programs, 'brewed'), '#!/bin/sh\necho "brewed with $PATH"\n', { mode: 0o755 });
    for (const name of ['.profile', '.bash_profile']) await writeFile(join(folder, name), 'PATH=/usr/bin:/bin\n');
    const path = `${programs}:/usr/bin:/bin`;
    const env = userEnvironment({ PATH: path, HOME: folder, VSCODE_RESOLVING_ENVIRONMENT: '1' });
    const one = await start('brewed', { userShell: () => ({ shell: shellProgram(shell), env }) });
    await until(one, hasEnded);
    expect(await textOf(one)).toBe(`brewed with ${path}\n`);
  },
);

function residentBytes(pid: number): number {
  try {
    const { readFileSync } = process.getBuiltinModule('node:fs');
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096;
  } catch {
    return 0;
  }
}
