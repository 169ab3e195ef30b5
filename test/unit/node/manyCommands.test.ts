// Repeated starts of a command leave no processes, open files or sockets.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { realClock } from '../../../src/node/realClock.ts';
import { shellProgram, userEnvironment } from '../../../src/node/shellProgram.ts';
import { createSupervision } from '../../../src/node/supervision/supervision.ts';
import { runs } from '../../support/runs.ts';
import { launchProcess } from '../../support/tools/supervision.ts';

/** A thousand starts take a minute of a whole machine; run them by hand with `EARSHOT_STARTS=1000`. */
const STARTS = Number(process.env['EARSHOT_STARTS'] ?? runs(16, 40));
const AT_ONCE = 4;

test(`a command started ${STARTS} times leaves no processes, files or sockets`, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-many-'));
  const supervision = createSupervision({
    launch: launchProcess,
    clock: realClock,
    report: (what, error) => expect([what, error]).toEqual([]),
    folderOf: async () => folder,
    userShell: () => ({ shell: shellProgram('/bin/sh'), env: userEnvironment(process.env) }),
    unownedMilliseconds: () => 30_000,
  });
  const sockets = new Set<string>();
  const pids: number[] = [];
  const runOnce = async (run: string) => {
    const started = await supervision.start({ conversation: 'c', run, command: 'echo done', folder, input: true });
    if (!started.ok) throw new Error(started.failure.message);
    const one = started.value;
    pids.push(one.pid);
    const spec = JSON.parse(await readFile(join(folder, 'handles', hex(run), 'spec.json'), 'utf8')) as {
      socket: string;
    };
    sockets.add(spec.socket);
    if (one.status.end === undefined) {
      await new Promise<void>((resolve) => {
        const listening = one.onDidChange(() => {
          if (one.status.end === undefined) return;
          listening.dispose();
          resolve();
        });
      });
    }
    expect(one.status).toMatchObject({ size: 5, end: { code: 0 } });
    one.dispose();
    await supervision.remove('c', run);
  };
  await runOnce('first');
  const before = await openFiles();
  let next = 0;
  const worker = async () => {
    while (next < STARTS) await runOnce(`r${next++}`);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  expect(sockets.size).toBe(STARTS + 1);
  await expect.poll(() => pids.filter(lives)).toEqual([]);
  await expect.poll(openFiles).toBeLessThanOrEqual(before + 2);
  await expect.poll(() => leftOf([...sockets])).toEqual([]);
  expect(await readdir(join(folder, 'handles'))).toEqual([]);
  await rm(folder, { recursive: true });
}, 600_000);

const hex = (run: string) => `run-${Buffer.from(run).toString('hex')}`;

async function openFiles(): Promise<number> {
  return (await readdir('/proc/self/fd').catch((): string[] => [])).length;
}

async function leftOf(sockets: readonly string[]): Promise<string[]> {
  const folders = new Set(sockets.map((socket) => join(socket, '..')));
  const present = await Promise.all(
    [...folders].map(async (folder) => (await readdir(folder)).map((name) => join(folder, name))),
  );
  const all = new Set(present.flat());
  return sockets.filter((socket) => all.has(socket));
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
