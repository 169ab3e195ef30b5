// Pipes on Windows: private sockets, a hub whose clients prove a token, and the hook that notifies other agents.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import * as sqlite from 'node:sqlite';
import { connectToHub, readAddress } from '../../src/hub/client/hubConnection.ts';
import { startHubServer } from '../../src/hub/hubServer.ts';
import { realFileSystem } from '../../src/node/files/fileSystem.ts';
import { hubFolder } from '../../src/node/hubFolder.ts';
import { tryKernelLock } from '../../src/node/kernelLock.ts';
import { isAnswered, listenPrivately } from '../../src/node/privateSocket.ts';
import { realClock } from '../../src/node/realClock.ts';
import { realIds } from '../../src/node/realIds.ts';
import { WindowListener } from '../../src/plugins/host/windowListener.ts';
import { programs, temporaryFolder, test } from './support.ts';

const report = (): void => undefined;

test('a pipe is answered while somebody listens, and free afterwards', async () => {
  const path = `\\\\.\\pipe\\earshot-test-${process.pid}`;
  const first = await listenPrivately(path, (socket) => socket.end('hello'));
  equal(await textFrom(connect(path)), 'hello');
  await first.close();
  equal(await isAnswered(path), false);
  await (await listenPrivately(path, report)).close();
});

test('a hub answers a client with its token over its pipe, and no other; a second hub is not started', async () => {
  const deps = {
    ...{ files: realFileSystem, clock: realClock, tryLock: tryKernelLock, sqlite, version: 'test', port: 0 },
    ...{ ulid: () => realIds.ulid(), report, folder: temporaryFolder() },
  };
  const hub = await startHubServer(deps);
  ok(hub);
  equal(await startHubServer(deps), undefined);
  const address = await readAddress(realFileSystem, deps.folder);
  ok(address);
  match(address.socket, /^\\\\\.\\pipe\\earshot-[0-9a-f]{16}$/);
  const client = await connectToHub(address, report, report);
  equal((await client.call('health', {})).version, 'test');
  client.close();
  const stranger = await connectToHub({ ...address, token: 'x'.repeat(32) }, report, report);
  await stranger.closed;
  await hub.close();
});

test('the hook finds the pipe of the window that has the folder open, proves its token and prints what is pending', async () => {
  const [home, folder] = [temporaryFolder(), temporaryFolder()];
  mkdirSync(join(folder, 'src'));
  writeFileSync(join(folder, 'src', 'tea.ts'), 'tea');
  const listener = new WindowListener({
    folder: await hubFolder(folder, home),
    pid: process.pid,
    clock: realClock,
    wanted: async () => false,
    report,
  });
  const requests: string[] = [];
  const serving = listener.serve((socket) => answer(socket, listener.token, requests));
  await listener.listen();
  const input = {
    ...{ hook_event_name: 'PostToolUse', session_id: 's', cwd: join(folder, 'src'), tool_name: 'Read' },
    tool_input: { file_path: 'tea.ts' },
  };
  const output = await runHook(home, JSON.stringify(input));
  const said = JSON.parse(output) as { hookSpecificOutput: { additionalContext: string } };
  match(said.hookSpecificOutput.additionalContext, /the build failed/);
  deepEqual(requests, ['attach', 'seen', 'pending', 'delivered']);
  serving.dispose();
  await listener.close();
});

/** A window's side: refuses a wrong token, and has one pending notification. */
function answer(socket: Socket, token: string | undefined, requests: string[]): void {
  let text = '';
  const send = (message: object) => socket.write(`${JSON.stringify(message)}\n`);
  socket.on('data', (chunk: Buffer) => {
    const lines = (text + chunk.toString()).split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) {
      const { type, id, ...rest } = JSON.parse(line) as { type: string; id?: string; token?: string };
      requests.push(type);
      if (type === 'attach' && rest.token !== token) socket.destroy();
      else if (type === 'attach') send({ type: 'init' });
      else if (type === 'pending') send({ type, id, text: 'the build failed', through: 1 });
      else send({ type: 'done', id });
    }
  });
}

function runHook(home: string, input: string): Promise<string> {
  const child = spawn(process.execPath, [join(programs, 'notifications-hook.mjs')], {
    env: { ...process.env, EARSHOT_HOME: home },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(input);
  return textFrom(child.stdout);
}

function textFrom(stream: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
    stream.once('end', () => resolve(text));
    stream.once('error', reject);
  });
}
