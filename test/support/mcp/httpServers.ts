// MCP servers over HTTP for tests: official ones as processes, and a misbehaving one in the test's process.
import { type ChildProcess, spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { atTestEnd } from '../endings.ts';

const root = resolve(import.meta.dirname, '../../..');

export interface HttpServerProcess {
  readonly url: string;
  kill(): void;
}

export async function startModernHttp(port = 0): Promise<HttpServerProcess> {
  const child = spawn(process.execPath, [join(root, 'test/support/mcp/modernServer.mjs'), '--http', String(port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  end(child);
  const bound = await new Promise<number>((done) => child.stdout.once('data', (text) => done(Number(text))));
  return { url: `http://127.0.0.1:${bound}/mcp`, kill: () => child.kill('SIGKILL') };
}

/** The official everything server, over streamable HTTP or over the older event stream. */
export async function startEverything(kind: 'streamableHttp' | 'sse'): Promise<HttpServerProcess> {
  const port = await freePort();
  const program = join(root, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js');
  const child = spawn(process.execPath, [program, kind], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PORT: String(port) },
  });
  end(child);
  await new Promise<void>((done) => {
    child.stderr.on('data', (text: Buffer) => text.toString().includes(`port ${port}`) && done());
  });
  return { url: `http://127.0.0.1:${port}/${kind === 'sse' ? 'sse' : 'mcp'}`, kill: () => child.kill('SIGKILL') };
}

/** The official filesystem server. It has no HTTP of its own, so a bridge serves it. */
export async function startFilesystem(folder: string): Promise<HttpServerProcess> {
  const program = join(root, 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js');
  const bridge = join(root, 'test/support/mcp/httpBridge.mjs');
  const child = spawn(process.execPath, [bridge, process.execPath, program, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  end(child);
  const bound = await new Promise<number>((done) => child.stdout.once('data', (text) => done(Number(text))));
  return { url: `http://127.0.0.1:${bound}/mcp`, kill: () => child.kill('SIGKILL') };
}

function end(child: ChildProcess): void {
  atTestEnd(async () => {
    child.kill('SIGKILL');
  });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

export interface Misbehaving {
  readonly url: string;
  /** The names of the tools that were called. */
  readonly calls: string[];
}

interface Request {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly name?: string };
}

/** A server of revision 2025-11-25 without sessions. `answer` gets each tool call and the response to write. */
export async function startMisbehaving(
  answer: (name: string, id: number, response: ServerResponse) => void,
): Promise<Misbehaving> {
  const calls: string[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.method !== 'POST') {
      response.writeHead(405).end();
      return;
    }
    const body: Buffer[] = [];
    for await (const piece of request) body.push(piece as Buffer);
    const { id, method, params } = JSON.parse(Buffer.concat(body).toString()) as Request;
    const reply = (result: object) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    };
    if (id === undefined) {
      response.writeHead(202).end();
      return;
    }
    if (method === 'initialize') {
      const serverInfo = { name: 'misbehaving', version: '1' };
      reply({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo });
      return;
    }
    if (method === 'tools/list') {
      const tool = (name: string) => ({ name, description: name, inputSchema: { type: 'object' } });
      reply({ tools: [tool('one'), tool('two')] });
      return;
    }
    if (method === 'ping') {
      reply({});
      return;
    }
    if (method !== 'tools/call') {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } }));
      return;
    }
    calls.push(params?.name ?? '');
    answer(params?.name ?? '', id, response);
  };
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  atTestEnd(async () => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, calls };
}
