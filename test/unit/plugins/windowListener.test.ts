// The window's socket before plugins are loaded: programs that connect wait, a mere connection test loads nothing, and
// names on Windows.
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isAnswered } from '../../../src/node/privateSocket.ts';
import { WindowListener, windowAddress } from '../../../src/plugins/host/windowListener.ts';
import { atTestEnd } from '../../support/endings.ts';

/** Listens in its own folder; `wanted` counts how often loading was requested. */
async function begin() {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-window-'));
  atTestEnd(() => rm(folder, { recursive: true, force: true }));
  const loading = Promise.withResolvers<boolean>();
  const seen = { wanted: 0 };
  const listener = new WindowListener({
    folder,
    pid: 7,
    wanted: () => {
      seen.wanted += 1;
      return loading.promise;
    },
  });
  await listener.listen();
  atTestEnd(() => listener.close());
  return { listener, folder, seen, loading };
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
  const { listener, folder } = await begin();
  await writeFile(join(folder, 'window-8.sock'), '');
  await writeFile(join(folder, 'hub.json'), '');
  const other = new WindowListener({ folder, pid: 9, wanted: async () => false });
  await other.listen();
  expect((await readdir(folder)).sort()).toEqual(['hub.json', 'window-7.sock', 'window-9.sock']);
  await other.close();
  await listener.close();
  expect(await readdir(folder)).toEqual(['hub.json']);
});

test('a Windows window has a pipe named after its folder and process, and a file with pipe and token', () => {
  expect(windowAddress('C:\\Users\\tea\\.earshot\\hubs\\0123456789abcdef', 42, 'win32')).toEqual({
    path: '\\\\.\\pipe\\earshot-0123456789abcdef-window-42',
    addressFile: 'C:\\Users\\tea\\.earshot\\hubs\\0123456789abcdef\\window-42.json',
  });
  expect(windowAddress('/home/tea/.earshot/hubs/0123456789abcdef', 42, 'linux')).toEqual({
    path: '/home/tea/.earshot/hubs/0123456789abcdef/window-42.sock',
  });
});
