// A disk that is full when a command ends: the real end is reported, at once and after a restart.
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FileSystem, realFileSystem } from '../../../src/node/files/fileSystem.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { shellProgram, userEnvironment } from '../../../src/node/shellProgram.ts';
import { type Supervised } from '../../../src/node/supervision/supervised.ts';
import { createSupervision } from '../../../src/node/supervision/supervision.ts';
import { createSupervisor } from '../../../src/node/supervision/supervisor.ts';

type Disk = Pick<FileSystem, 'writeWhole'>;

let folder: string;
let full: boolean;
let supervisors: Promise<void>[];
const followed: Supervised[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'earshot-full-'));
  full = false;
  supervisors = [];
});
afterEach(async () => {
  full = false;
  for (const one of followed.splice(0)) {
    one.stop('the test ended');
    await until(one, hasEnded);
    one.dispose();
  }
  await Promise.all(supervisors);
  await rm(folder, { recursive: true });
});

const noSpace = () => Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });

/** While this disk is full, no new file can be written; existing files can be overwritten. */
const fillable: Disk = {
  writeWhole: async (path, bytes) => {
    if (full) throw noSpace();
    await realFileSystem.writeWhole(path, bytes);
  },
};

/** Existing files cannot be overwritten either. */
const hopeless: Disk = {
  writeWhole: async (path, bytes) => {
    if (path.endsWith('reserve.json')) await symlink('/dev/full', path);
    else await fillable.writeWhole(path, bytes);
  },
};

function supervision(files: Disk) {
  return createSupervision({
    launch: async (place, env) => {
      const ready = Promise.withResolvers<void>();
      const supervisor = await createSupervisor({ folder: place, env, files, ready: ready.resolve });
      const running = supervisor.run();
      supervisors.push(running.catch(ready.reject));
      await ready.promise;
    },
    clock: realClock,
    report: (what, error) => expect([what, error]).toEqual([]),
    folderOf: async (conversation) => join(folder, conversation),
    userShell: () => ({ shell: shellProgram('/bin/sh'), env: userEnvironment(process.env) }),
    unownedMilliseconds: () => 30_000,
    graceMilliseconds: 300,
  });
}

async function start(files: Disk, command: string): Promise<Supervised> {
  const started = await supervision(files).start({ conversation: 'c', run: 'r', command, folder, input: true });
  if (!started.ok) throw new Error(started.failure.message);
  followed.push(started.value);
  return started.value;
}

async function startAgain(): Promise<Supervised> {
  const found = await supervision(realFileSystem).reattach('c', 'r');
  if (found === undefined) throw new Error('the command was not found');
  followed.push(found);
  return found;
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

test('the end of a command is written to the reserved bytes and found there after a restart', async () => {
  const command = await start(fillable, 'read line; exit 3');
  full = true;
  await command.write('go\n');
  await until(command, hasEnded);
  expect(command.status).toMatchObject({ end: { cause: 'exited', code: 3 } });
  await Promise.all(supervisors);
  command.dispose();
  expect((await startAgain()).status).toMatchObject({ end: { cause: 'exited', code: 3 } });
});

test('a reason of any length fits into the reserved bytes', async () => {
  const command = await start(fillable, 'read line');
  full = true;
  command.stop('“because” '.repeat(10_000));
  await until(command, hasEnded);
  await Promise.all(supervisors);
  expect((await startAgain()).status).toMatchObject({ end: { cause: 'stopped' } });
});

test('an end that cannot be written is reported by the supervisor, which stays until it is written', async () => {
  const command = await start(hopeless, 'read line; exit 3');
  full = true;
  await command.write('go\n');
  await until(command, hasEnded);
  expect(command.status).toMatchObject({ end: { cause: 'exited', code: 3 } });
  // The window is reloaded: nothing is on disk, but it gets the same end from the supervisor.
  command.dispose();
  expect((await startAgain()).status).toMatchObject({ end: { cause: 'exited', code: 3 } });
  const state = join(folder, 'c', 'handles', `run-${Buffer.from('r').toString('hex')}`, 'state.json');
  expect(await readFile(state, 'utf8')).not.toContain('"end"');
  full = false;
  await Promise.all(supervisors);
  expect(await readFile(state, 'utf8')).toContain('"code":3');
});

test('a command is not started if there is no space to record its end', async () => {
  full = true;
  const files: Disk = fillable;
  const made = join(folder, 'made');
  const started = await supervision(files).start({
    conversation: 'c',
    run: 'r',
    command: `touch ${made}`,
    folder,
    input: true,
  });
  expect(started).toMatchObject({ ok: false, failure: { code: 'not_started' } });
  await expect(readFile(made)).rejects.toThrow('ENOENT');
});
