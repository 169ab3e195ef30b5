// A machine: a `hub.js` process group with its own HOME, connected to the server through its own proxy.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { hubAddress } from '../../../src/protocol/hub.ts';
import { compileCache } from '../compileCache.ts';
import { type TestClient, unixClient } from '../testHub.ts';
import { onlyTimeOfDay } from '../walk/fakeTime.ts';
import { killedAtExit } from './killedAtExit.ts';
import { NAME, type NatsServer } from './natsServer.ts';
import { TcpProxy } from './tcpProxy.ts';

const HUB = join(import.meta.dirname, '../../../src/bin/hub.ts');

export class Machine {
  readonly name: string;
  readonly proxy: TcpProxy;
  readonly stderr: string[] = [];
  readonly #server: NatsServer;
  readonly #home: string;
  /** An offset such as `+1h`; the monotonic clock is not changed. */
  readonly #clock: string | undefined;
  #process: ChildProcess | undefined;
  #socket = '';
  /** Whether to connect without the proxy, which costs time. */
  #direct = false;

  private constructor(name: string, server: NatsServer, proxy: TcpProxy, home: string, clock: string | undefined) {
    this.name = name;
    this.#server = server;
    this.proxy = proxy;
    this.#home = home;
    this.#clock = clock;
  }

  static async start(
    name: string,
    server: NatsServer,
    { clock, direct = false }: { clock?: string | undefined; direct?: boolean } = {},
  ): Promise<Machine> {
    const home = await mkdtemp(join(tmpdir(), `earshot-${name}-`));
    await mkdir(join(home, 'project'));
    const machine = new Machine(name, server, await TcpProxy.start(server.port), home, clock);
    machine.#direct = direct;
    await machine.start();
    return machine;
  }

  async start(): Promise<void> {
    const server = `nats://127.0.0.1:${this.#direct ? this.#server.port : this.proxy.port}`;
    const options = { server, name: NAME, machine: this.name, credentials: this.#server.seedFile(this.name) };
    const args = [HUB, '--dir', join(this.#home, 'project'), '--port', '0'];
    args.push(...Object.entries(options).flatMap(([option, value]) => [`--${option}`, value]));
    const fake = this.#clock === undefined ? [] : ['-f', this.#clock, process.execPath];
    const child = spawn(fake.length === 0 ? process.execPath : 'faketime', [...fake, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      env: {
        ...process.env,
        ...compileCache,
        HOME: this.#home,
        EARSHOT_HOME: this.#home,
        USERPROFILE: this.#home,
        ...onlyTimeOfDay,
      },
    });
    this.#process = child;
    killedAtExit(child);
    createInterface({ input: child.stderr }).on('line', (line) => this.stderr.push(line));
    const output = createInterface({ input: child.stdout });
    this.#socket = await new Promise<string>((resolve, reject) => {
      output.once('line', (line) => resolve(hubAddress.parse(JSON.parse(line)).socket));
      child.once('exit', () => reject(new Error(`hub.js ended: ${this.stderr.join('\n')}`)));
    });
  }

  /** The path of the hub's socket. */
  get socket(): string {
    return this.#socket;
  }

  /** A client with a registered agent and its own session. */
  async agent(name: string): Promise<TestClient> {
    const client = await unixClient(this.#socket);
    await client.call('agent.register', { name });
    await client.call('session.start', { agent_id: name });
    return client;
  }

  sleep(): void {
    this.#signal('SIGSTOP');
  }

  wake(): void {
    this.#signal('SIGCONT');
  }

  async kill(how: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    this.#signal(how);
    await ended;
  }

  async remove(): Promise<void> {
    await this.kill();
    await this.proxy.close();
    await rm(this.#home, { recursive: true, force: true });
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#process?.pid !== undefined) process.kill(-this.#process.pid, signal);
  }
}
