// The window's socket before plugins are loaded: programs that connect wait, a mere connection test loads nothing, deleted
// sockets, and names on Windows.
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isAnswered } from '../../../src/node/privateSocket.ts';
import { platformFor } from '../../../src/node/platform/platform.ts';
import { WindowListener } from '../../../src/plugins/host/windowListener.ts';
import { atTestEnd } from '../../support/endings.ts';
import { createManualClock } from '../../support/manualClock.ts';

/** Listens in its own folder; `wanted` counts how often loading was requested. */
async function begin() {
  const home = await mkdtemp(join(tmpdir(), 'earshot-window-'));
  atTestEnd(() => rm(home, { recursive: true, force: true }));
  const folder = join(home, 'hub');
  const loading = Promise.withResolvers<boolean>();
  const seen = { wanted: 0, reports: [] as string[] };
  const clock = createManualClock();
  const open = async (pid: number) => {
    const listener = new WindowListener({
      folder,
      pid,
      clock,
      wanted: () => {
        seen.wanted += 1;
        return loading.promise;
      },
      report: (message) => seen.reports.push(message),
    });
    await listener.listen();
    atTestEnd(() => listener.close());
    return listener;
  };
  return { listener: await open(7), open, folder, seen, loading, clock };
}

/** Sends a text and collects everything received until the connection ends. */
function exchange(path: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(path, () => socket.end(text));
    let received = '';
    socket.on('data', (chunk) => (received += chunk.toString()));
    socket.on('close', () => resolve(received));
    socket.on('error', reject);
  });
}

function echo(socket: Socket): void {
  socket.on('data', (chunk) => socket.write(`echo ${chunk.toString()}`));
  socket.on('end', () => socket.end());
  socket.resume();
}

test('programs that connect before plugins are loaded wait, request loading once, and lose nothing', async () => {
  const { listener, seen, loading } = await begin();
  const first = exchange(listener.path, 'one');
  const second = exchange(listener.path, 'two');
  await expect.poll(() => seen.wanted, { interval: 5 }).toBe(1);
  listener.serve(echo);
  loading.resolve(true);
  expect(await Promise.all([first, second, exchange(listener.path, 'three')])).toEqual([
    'echo one',
    'echo two',
    'echo three',
  ]);
  expect(seen.wanted).toBe(1);
});

test('another window that only tests the socket does not cause loading', async () => {
  const { listener, seen } = await begin();
  expect(await isAnswered(listener.path)).toBe(true);
  expect(await exchange(listener.path, '')).toBe('');
  expect(seen.wanted).toBe(0);
});

test('if loading fails, all waiting programs are disconnected, and the next one requests loading again', async () => {
  const { listener, seen, loading } = await begin();
  loading.resolve(false);
  expect(await exchange(listener.path, 'one')).toBe('');
  expect(await exchange(listener.path, 'two')).toBe('');
  expect(seen.wanted).toBe(2);
});

test('sockets of dead windows are removed, those of live windows stay', async () => {
  const { listener, open, folder } = await begin();
  await writeFile(join(folder, 'window-8.sock'), '');
  await writeFile(join(folder, 'hub.json'), '');
  const other = await open(9);
  expect((await readdir(folder)).sort()).toEqual(['hub.json', 'window-7.sock', 'window-9.sock']);
  await other.close();
  await listener.close();
  expect(await readdir(folder)).toEqual(['hub.json']);
});

const REOPENED = 'the files of the window’s socket were deleted; it was opened again';

test.each(['folder', 'socket'])('a deleted %s is made again, and connected programs stay connected', async (what) => {
  const { listener, folder, seen, clock } = await begin();
  listener.serve(echo);
  const older = connect(listener.path);
  const received = () => new Promise<string>((resolve) => older.once('data', (chunk) => resolve(chunk.toString())));
  older.write('before');
  expect(await received()).toBe('echo before');
  await rm(what === 'folder' ? folder : listener.path, { recursive: true });
  clock.advance(5000);
  await expect.poll(() => seen.reports, { interval: 5 }).toEqual([REOPENED]);
  expect(await exchange(listener.path, 'newer')).toBe('echo newer');
  expect([(await stat(folder)).mode & 0o777, (await stat(listener.path)).mode & 0o777]).toEqual([0o700, 0o600]);
  older.write('after');
  expect(await received()).toBe('echo after');
  const ended = once(older, 'close');
  await listener.close();
  await ended;
  expect([await readdir(folder), clock.waiting]).toEqual([[], 0]);
});

test('a folder that cannot be made again is reported once and tried again', async () => {
  const { listener, folder, seen, clock } = await begin();
  await rm(folder, { recursive: true });
  await writeFile(folder, 'in the way');
  clock.advance(5000);
  await expect.poll(() => seen.reports, { interval: 5 }).toEqual(['the window’s socket cannot be opened again']);
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(5000);
  await new Promise((resolve) => setImmediate(resolve));
  expect(seen.reports).toHaveLength(1);
  await rm(folder);
  await expect.poll(() => (clock.advance(5000), seen.reports.at(-1)), { interval: 5 }).toBe(REOPENED);
  expect(await isAnswered(listener.path)).toBe(true);
});

test('a window that is closed while its socket is made again leaves nothing behind', async () => {
  const { listener, folder, clock } = await begin();
  await rm(folder, { recursive: true });
  clock.advance(5000);
  await listener.close();
  expect([await readdir(folder), clock.waiting]).toEqual([[], 0]);
});

test('a Windows window has a pipe named after its folder and process, and a file with pipe and token', () => {
  const { win32, linux } = { win32: platformFor('win32').sockets, linux: platformFor('linux').sockets };
  expect(win32.watcherIn('C:\\Users\\tea\\.earshot\\hubs\\0123456789abcdef', 'window-42')).toEqual({
    path: '\\\\.\\pipe\\earshot-0123456789abcdef-window-42',
    addressFile: 'C:\\Users\\tea\\.earshot\\hubs\\0123456789abcdef\\window-42.json',
  });
  expect(linux.watcherIn('/home/tea/.earshot/hubs/0123456789abcdef', 'window-42')).toEqual({
    path: '/home/tea/.earshot/hubs/0123456789abcdef/window-42.sock',
  });
});
