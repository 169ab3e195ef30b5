// What macOS and BSD have instead of /proc: processes from `ps`, syncs, and attribution that never guesses.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agentProcess } from '../../src/node/agentProcess.ts';
import { type FileSystem, realFileSystem } from '../../src/node/files/fileSystem.ts';
import { COMMAND_MARK } from '../../src/node/platform/marks.ts';
import { platform } from '../../src/node/platform/platform.ts';
import { processObserver } from '../../src/node/processActivity.ts';
import { type LogEvent } from '../../src/protocol/event.ts';
import { openEventFile } from '../../src/storage/eventFile.ts';
import { atTestEnd } from '../support/endings.ts';
import { recordingLogger } from '../support/recordingLogger.ts';

test('this lane has no /proc', () => {
  expect([platform.name, platform.activity, platform.peers, platform.disk.syncedWrites]).toEqual([
    'posix',
    undefined,
    undefined,
    0,
  ]);
  expect(processObserver.watch().isObserving).toBe(false);
});

test('a process is found with its parent, its group and its start, and by the mark in its environment', async () => {
  const mark = `posix-${process.pid}`;
  // Not `sleep`: macOS does not show the environment of its own programs.
  const script = ['-e', 'setInterval(() => {}, 1000)'];
  const child = spawn(process.execPath, script, { detached: true, env: { ...process.env, [COMMAND_MARK]: mark } });
  atTestEnd(async () => void child.kill('SIGKILL'));
  const pid = child.pid ?? 0;
  const { processes } = platform;
  const found = (await processes.list()).find((one) => one.pid === pid);
  const name = found?.name ?? '';
  // Linux has the name of the main thread.
  expect(name).toMatch(/^(?:node|MainThread)/);
  expect(found).toMatchObject({ parent: process.pid, group: pid, ended: false });
  expect(processes.info(pid)).toEqual({ name, parent: process.pid });
  const started = processes.startTimeOf(pid) ?? '';
  expect(started).toBe(found?.started);
  expect(await processes.isRunning(pid, started)).toBe(true);
  expect(await processes.isRunning(pid, 'Thu Jan  1 00:00:00 1970')).toBe(false);
  expect(await processes.tree({ pid: 1 }, mark).survivors()).toEqual([expect.objectContaining({ pid })]);
  await processes.tree(child, mark).end(true);
  await new Promise((resolve) => child.once('exit', resolve));
  expect(await processes.isRunning(pid, started)).toBe(false);
});

test.skipIf(spawnSync('lsof', ['-v']).error !== undefined)('the ports of a process are found', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  atTestEnd(async () => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  expect(await platform.listening?.([process.pid])).toContainEqual({
    port,
    pid: process.pid,
    everywhere: false,
    command: '',
  });
});

test('the start of a process has the same form in every language and time zone', () => {
  const before = platform.processes.startTimeOf(process.pid);
  const { TZ, LC_ALL } = process.env;
  Object.assign(process.env, { TZ: 'Asia/Tokyo', LC_ALL: 'de_DE.UTF-8' });
  try {
    expect(platform.processes.startTimeOf(process.pid)).toBe(before);
  } finally {
    for (const [name, value] of Object.entries({ TZ, LC_ALL })) {
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
    }
  }
});

test('other users can read nothing of what is written to Earshot’s own folders', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-rights-'));
  atTestEnd(() => rm(folder, { recursive: true }));
  const own = join(folder, 'a', 'b');
  await realFileSystem.makeFolder(own);
  await realFileSystem.writeWhole(join(own, 'state'), Buffer.from('1'));
  const log = await realFileSystem.openForAppend(join(own, 'log'));
  await log.close();
  const modes = ['..', '.', 'state', 'log'].map((name) => statSync(join(own, name)).mode & 0o777);
  expect(modes).toEqual([0o700, 0o700, 0o600, 0o600]);
});

test('the process of the agent that started a hook is found', () => {
  expect(agentProcess()).toMatch(/^\d+ \S/);
});

test('events of one moment cost two syncs at most, since a sync takes long on macOS', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-syncs-'));
  atTestEnd(() => rm(folder, { recursive: true }));
  let syncs = 0;
  const files: FileSystem = {
    ...realFileSystem,
    openForAppend: async (path) => {
      const file = await realFileSystem.openForAppend(path);
      return { ...file, sync: () => ((syncs += 1), file.sync()) };
    },
  };
  const { file } = await openEventFile({ files, path: join(folder, 'events.jsonl'), logger: recordingLogger([]) });
  const event = (seq: number) =>
    ({
      v: 1,
      seq,
      event_id: `e${seq}`,
      timestamp: '2026-01-02T03:04:05.000Z',
      type: 'title_set',
      title: 't',
    }) as LogEvent;
  await Promise.all(Array.from({ length: 100 }, (_, at) => file.append(event(at + 1))));
  expect(syncs).toBeLessThanOrEqual(2);
  for (let at = 0; at < 10; at += 1) await file.append(event(at + 101));
  expect(syncs).toBeLessThanOrEqual(12);
  await file.close();
});
