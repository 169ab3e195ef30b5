// Every process of a command is found, however it was started: otherwise its changes would count as somebody else's.
import { execFileSync, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createProcessObserver } from '../../../src/node/processActivity.ts';
import { COMMAND_MARK } from '../../../src/node/platform/marks.ts';
import { procActivity, procMarkOf, readProcesses } from '../../../src/node/platform/procTable.ts';
import { atTestEnd } from '../../support/endings.ts';

/** Writes a file when it is released, and waits then: so it runs at that time only. */
const WRITER = 'read x < second; echo own > file; read x < third';

let commands = 0;

/** Runs a script that waits for `first`. Everything that blocks does so without letting the watch sample. */
async function begin(script: string) {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-activity-'));
  const at = (name: string) => join(folder, name);
  execFileSync('mkfifo', ['first', 'second', 'third'], { cwd: folder });
  const mark = `activity-${process.pid}-${commands++}`;
  const env = { ...process.env, [COMMAND_MARK]: mark };
  const child = spawn('sh', ['-c', script], { cwd: folder, env, detached: true, stdio: 'ignore' });
  const pid = child.pid ?? 0;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const started = () => readProcesses().filter((one) => one.pid !== pid && !one.ended && procMarkOf(one.pid) === mark);
  blockUntil(() => isAsleep(pid));
  /** Called after the processes were listed, before the watch uses the list. */
  let afterListing = () => {};
  const list = () => {
    const all = readProcesses();
    afterListing();
    return all;
  };
  if (procActivity === undefined) throw new Error('the kernel has no counters');
  const watch = createProcessObserver({ ...procActivity, list }).watch();
  atTestEnd(async () => {
    watch.dispose();
    for (const one of [pid, ...started().map((other) => other.pid)]) process.kill(one, 'SIGKILL');
    await ended;
    await rm(folder, { recursive: true, force: true });
  });
  /** Lets the script start the writer, and blocks until both wait again. */
  const release = () => {
    writeFileSync(at('first'), 'go\n');
    blockUntil(() => started().length === 1 && [pid, ...started().map((one) => one.pid)].every(isAsleep));
  };
  return {
    watch,
    at,
    release,
    add: () => watch.add({ pid, mark, since: Date.now(), ended: () => undefined }),
    /** The next listing misses the writer, which is started before anything else is read. */
    releaseAfterListing: () => {
      afterListing = () => {
        afterListing = () => {};
        release();
      };
    },
    parent: () => started()[0]?.parent,
    shell: pid,
    quiet: () => expect.poll(() => isQuiet(watch)).toBe(true),
    /** Whether the command counts as possibly running when the writer wrote. */
    write: async () => {
      writeFileSync(at('second'), 'go\n');
      await expect.poll(() => readFileSync(at('file'), 'utf8')).toBe('own\n');
      const { ctimeMs } = await stat(at('file'));
      await watch.settled(ctimeMs);
      return watch.mayHaveRun(ctimeMs);
    },
  };
}

async function isQuiet(watch: ReturnType<ReturnType<typeof createProcessObserver>['watch']>): Promise<boolean> {
  const now = Date.now();
  await watch.settled(now);
  return !watch.mayHaveRun(now);
}

function isAsleep(pid: number): boolean {
  return / S /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
}

function blockUntil(condition: () => boolean): void {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const limit = Date.now() + 20_000;
  while (!condition()) {
    if (Date.now() > limit) throw new Error('the processes did not get into the expected state');
    Atomics.wait(cell, 0, 0, 5);
  }
}

describe.runIf(process.platform === 'linux')('processes of a command', () => {
  test('a process that is started between the listing and the first counters of its parent is found', async () => {
    const { add, releaseAfterListing, quiet, write } = await begin(`read x < first; (${WRITER}); :`);
    releaseAfterListing();
    add();
    await quiet();
    expect(await write()).toBe(true);
  });

  test('a process that sleeps does not count as running after it was found, so writes of others are recognized', async () => {
    const { watch, add } = await begin('read x < first');
    add();
    const found = Date.now();
    blockUntil(() => Date.now() > found + 100);
    const at = Date.now();
    await watch.settled(at);
    expect(watch.mayHaveRun(at)).toBe(false);
  });

  test.each([
    ['in the session of the command', `((${WRITER}) &)`],
    ['in a session of its own', `(setsid sh -c '${WRITER}' &)`],
  ])('a process %s whose parent was started and has ended between two samples is found', async (_where, start) => {
    const { add, release, quiet, write, parent, shell } = await begin(`read x < first; ${start}; read x < third`);
    add();
    await quiet();
    release();
    expect(parent()).not.toBe(shell);
    await quiet();
    expect(await write()).toBe(true);
  });

  test('a file that a process started since the last sample holds open is not held by others', async () => {
    const script = 'read x < first; (exec 3> file; echo own >&3; read x < third); :';
    const { watch, at, add, release, quiet } = await begin(script);
    add();
    await quiet();
    const other = openSync(at('other'), 'w');
    release();
    const held = await watch.heldByOthers([at('file'), at('other')]);
    closeSync(other);
    expect(readFileSync(at('file'), 'utf8')).toBe('own\n');
    expect([...held]).toEqual([at('other')]);
  });
});
