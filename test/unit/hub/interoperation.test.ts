// Third-party clients and a shell client on the real sockets of a hub.
import { execFile } from 'node:child_process';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { JSONRPCClient } from 'json-rpc-2.0';
import { expect, test } from 'vitest';
import { createMessageConnection, type Message, ReadableStreamMessageReader } from 'vscode-jsonrpc/node';
import { WebSocket } from 'ws';
import { type TestHub, withHub } from '../../support/testHub.ts';

const run = promisify(execFile);

test('json-rpc-2.0 registers, subscribes and sends over a WebSocket', () =>
  withHub(async (hub) => {
    const socket = new WebSocket(`${hub.address.web_socket}?token=${hub.address.token}`);
    await new Promise((resolve) => socket.once('open', resolve));
    const client = new JSONRPCClient((request) => {
      socket.send(JSON.stringify(request));
    });
    socket.on('message', (data) => client.receive(JSON.parse((data as Buffer).toString('utf8')) as never));
    await client.request('agent.register', { name: 'other' });
    await client.request('session.start', { agent_id: 'other' });
    await client.request('subscribe', { all: true });
    expect(await client.request('message.send', { content: 'hello' })).toMatchObject({
      message_id: expect.any(String) as string,
    });
    await expect(client.request('no.such', {})).rejects.toThrow('there is no method');
    const ask = (method: string, id: string) => ({ jsonrpc: '2.0' as const, id, method });
    const batch = await client.requestAdvanced([ask('health', 'a'), ask('agent.list', 'b')]);
    expect(batch.map(({ id, error }) => [id, error])).toEqual([
      ['a', undefined],
      ['b', undefined],
    ]);
    socket.close();
  }));

test('vscode-jsonrpc sends requests and gets pushes over the Unix socket, framed by lines', () =>
  withHub(async (hub) => {
    const author = await hub.agent('author');
    const socket = connect(hub.address.socket);
    const connection = createMessageConnection(lineReader(socket), {
      onError: () => ({ dispose: () => undefined }),
      onClose: () => ({ dispose: () => undefined }),
      write: async (message: Message) => void socket.write(`${JSON.stringify(message)}\n`),
      end: () => undefined,
      dispose: () => undefined,
    });
    connection.listen();
    const pushed = new Promise((resolve) => connection.onNotification('notification.message', resolve));
    await connection.sendRequest('agent.register', { name: 'reader' });
    await connection.sendRequest('session.start', { agent_id: 'reader' });
    await connection.sendRequest('subscribe', { all: true });
    await author.call('message.send', { content: 'hello' });
    expect(await pushed).toMatchObject({ preview: 'hello' });
    await expect(connection.sendRequest('no.such')).rejects.toMatchObject({ code: -32601 });
    connection.dispose();
    socket.destroy();
  }));

/** Reads lines, as the hub sends them; the original reader of vscode-jsonrpc expects headers. */
function lineReader(socket: ReturnType<typeof connect>): ReadableStreamMessageReader {
  const reader = new ReadableStreamMessageReader({
    onData: () => ({ dispose: () => undefined }),
    onEnd: () => ({ dispose: () => undefined }),
    onError: () => ({ dispose: () => undefined }),
    onClose: () => ({ dispose: () => undefined }),
  });
  reader.listen = (callback) => {
    const lines = createInterface({ input: socket });
    lines.on('line', (line) => callback(JSON.parse(line) as Message));
    return { dispose: () => lines.close() };
  };
  return reader;
}

const SHELL_CLIENT = `
call() { printf '{"jsonrpc":"2.0","id":%s,"method":"%s","params":%s}\\n' "$1" "$2" "$3"; }
{
  call 1 agent.register '{"name":"shell"}'
  call 2 session.start '{"agent_id":"shell"}'
  call 3 subscribe '{"all":true}'
  call 4 message.send '{"content":"hello from a shell"}'
  call 5 message.list '{}'
} | nc -N -U "$1"
`;

async function shellClient(hub: TestHub): Promise<string> {
  return (await run('sh', ['-c', SHELL_CLIENT, 'client', hub.address.socket])).stdout;
}

const hasNetcat = await run('sh', ['-c', 'nc -h 2>&1 | grep -q -- -U']).then(
  () => true,
  () => false,
);

test.runIf(hasNetcat)('a client in twenty lines of shell with nc sends a message and lists it', () =>
  withHub(async (hub) => {
    const answers = (await shellClient(hub))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: number; error?: unknown });
    expect(answers.map(({ error }) => error)).toEqual(Array(5).fill(undefined));
    expect(answers.find(({ id }) => id === 5)).toMatchObject({
      result: { messages: [{ body: { content: 'hello from a shell' } }] },
    });
  }),
);
