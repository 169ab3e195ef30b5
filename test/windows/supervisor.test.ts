// Commands under the supervisor as it is shipped, on Windows: output, exit code, input, stop, a lost supervisor.
import { equal, ok } from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Supervised } from '../../src/node/supervision/supervised.ts';
import { isRunning, programs, startNode, temporaryFolder, test, until } from './support.ts';
import { testSupervision } from './testSupervision.ts';

const folder = temporaryFolder();
const supervision = testSupervision(folder, join(programs, 'supervisor.cjs'));
let runs = 0;

async function start(command: string, input = false): Promise<Supervised> {
  const started = await supervision.start({ conversation: 'c', run: `r${runs++}`, command, folder, input });
  if (!started.ok) throw new Error(started.failure.message);
  return started.value;
}

async function textOf(one: Supervised): Promise<string> {
  return Buffer.from((await one.read(0, 100_000)).bytes).toString();
}

const hasEnded = ({ status }: Supervised) => status.end !== undefined || status.lost === true;

test('output and exit code of a command are on disk, and it can be found again', async () => {
  const one = await start('echo "a & b" && exit 3');
  await until(() => hasEnded(one));
  equal(await textOf(one), '"a & b" \r\n');
  equal(one.status.end?.code, 3);
  one.dispose();
  const again = await supervision.reattach('c', 'r0');
  equal(again?.status.end?.code, 3);
  again.dispose();
});

test('a program reads its input until it is closed', async () => {
  const one = await start(`"${process.execPath}" -e "process.stdin.pipe(process.stdout)"`, true);
  ok((await one.write('green tea\n', true)).ok);
  await until(() => hasEnded(one));
  equal(await textOf(one), 'green tea\n');
  one.dispose();
});

test('a stopped command ends with its program', async () => {
  const one = await start(`"${process.execPath}" -e "console.log(process.pid); setInterval(() => {}, 1000)"`);
  await until(async () => (await textOf(one)).includes('\n'));
  const pid = Number(await textOf(one));
  ok(isRunning(pid));
  one.stop('the test');
  await until(() => hasEnded(one) && !isRunning(pid));
  equal(one.status.end?.cause, 'stopped');
  one.dispose();
});

test('a command outlives a window that is killed: its output and its exit code are there for the next one', async () => {
  const script = join(folder, 'kettle.js');
  writeFileSync(
    script,
    "console.log(process.pid); process.stdin.once('data', (text) => { console.log('got ' + text); process.exit(9); });",
  );
  const window = startNode([join(programs, 'window.mjs'), folder, 'outlived', `"${process.execPath}" "${script}"`]);
  equal(await window.line, 'running');
  window.child.kill('SIGKILL');
  await window.ended;
  const one = await supervision.reattach('c', 'outlived');
  ok(one !== undefined);
  await until(async () => (await textOf(one)).includes('\n'));
  const pid = Number(await textOf(one));
  ok(isRunning(pid));
  equal(hasEnded(one), false);
  ok((await one.write('go', true)).ok);
  await until(() => hasEnded(one));
  equal(await textOf(one), `${pid}\ngot go\n`);
  equal(one.status.end?.code, 9);
  one.dispose();
  // What ended while nobody looked is found too.
  const other = startNode([join(programs, 'window.mjs'), folder, 'ended', 'echo done && exit 6']);
  equal(await other.line, 'running');
  other.child.kill('SIGKILL');
  await other.ended;
  const again = await supervision.reattach('c', 'ended');
  ok(again !== undefined);
  await until(() => hasEnded(again));
  equal(again.status.end?.code, 6);
  again.dispose();
});

test('a command whose supervisor was killed is lost', async () => {
  const one = await start(`"${process.execPath}" -e "console.log(process.pid); setInterval(() => {}, 1000)"`);
  await until(async () => (await textOf(one)).includes('\n'));
  const pid = Number(await textOf(one));
  process.kill(one.pid);
  await until(() => hasEnded(one));
  equal(one.status.lost, true);
  one.dispose();
  // Wine has no PowerShell, so nobody can say that this process is the one that was started, and it is spared.
  process.kill(pid);
});
