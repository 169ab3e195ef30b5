// A real nats-server with JetStream in a temporary folder, with an administrator and, for each machine, a user with the
// permissions that the setup prints.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { connect, type NatsConnection, nkeyAuthenticator, nkeys } from '@nats-io/transport-node';
import { type JoinOptions } from '../../../src/hub/nats/joinOptions.ts';
import { machinePermissions, printPermissions, setUpStream } from '../../../src/hub/nats/setUp.ts';
import { inboxPrefix } from '../../../src/hub/nats/streamNames.ts';
import { killedAtExit } from './killedAtExit.ts';

export const NAME = 'team';

/** Debian installs servers in a folder that is not on every user's PATH. */
const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` };

/** Where the program is missing, tests that need it are skipped and listed. */
export const hasNatsServer = spawnSync('nats-server', ['--version'], { env }).status === 0;

export class NatsServer {
  readonly port: number;
  readonly folder: string;
  readonly #seeds = new Map<string, Uint8Array>();
  #process: ChildProcess | undefined;

  private constructor(folder: string, port: number) {
    this.folder = folder;
    this.port = port;
  }

  /** Unless `prepared`, neither stream nor bucket exists yet. */
  static async start(
    machines: readonly string[],
    { prepared = true, maxBytes }: { prepared?: boolean; maxBytes?: number } = {},
  ): Promise<NatsServer> {
    const server = new NatsServer(await mkdtemp(join(tmpdir(), 'earshot-nats-')), await freePort());
    await server.#configure(machines);
    await server.start();
    if (prepared) {
      await server.setUp(maxBytes).catch(async (error: unknown) => {
        await server.stop();
        throw error;
      });
    }
    return server;
  }

  /** Starts a server whose test provides the configuration except for port and store. */
  static async startWith(configure: (folder: string) => string | Promise<string>): Promise<NatsServer> {
    const server = new NatsServer(await mkdtemp(join(tmpdir(), 'earshot-nats-')), await freePort());
    await server.#write(await configure(server.folder));
    await server.start();
    return server;
  }

  async #write(more: string): Promise<void> {
    const configuration = `listen: 127.0.0.1:${this.port}
jetstream { store_dir: "${join(this.folder, 'store')}", max_file_store: 1GB, max_memory_store: 64MB }
${more}`;
    await writeFile(join(this.folder, 'server.conf'), configuration);
  }

  async #configure(machines: readonly string[]): Promise<void> {
    const users = machines.map((machine) => {
      const pair = nkeys.createUser();
      this.#seeds.set(machine, pair.getSeed());
      return `{ nkey: ${pair.getPublicKey()}, ${printPermissions(machinePermissions(NAME, machine)).replace('permissions', 'permissions:')} }`;
    });
    await this.#write(`authorization { users: [ { user: admin, password: secret }\n${users.join('\n')} ] }`);
    for (const [machine, seed] of this.#seeds) await writeFile(this.seedFile(machine), seed, { mode: 0o600 });
  }

  seedFile(machine: string): string {
    return join(this.folder, `${machine}.nk`);
  }

  private admin(): JoinOptions {
    const login = { user: 'admin', password: 'secret' };
    return { servers: [`127.0.0.1:${this.port}`], name: NAME, machine: 'admin', tls: false, login };
  }

  /** The options for a hub of this machine; `port` may be that of a proxy in front of the server. */
  options(machine: string, port = this.port): JoinOptions {
    const bytes = this.#seeds.get(machine) ?? new Uint8Array();
    const credentials = { kind: 'nkey', bytes } as const;
    return { servers: [`127.0.0.1:${port}`], name: NAME, machine, tls: false, credentials };
  }

  /** A bare client with the permissions of a machine. */
  connectAs(machine: string): Promise<NatsConnection> {
    const authenticator = nkeyAuthenticator(this.#seeds.get(machine) ?? new Uint8Array());
    return connect({
      servers: `127.0.0.1:${this.port}`,
      authenticator,
      inboxPrefix: inboxPrefix(machine),
      reconnect: false,
    });
  }

  connectAsAdmin(): Promise<NatsConnection> {
    return connect({ servers: `127.0.0.1:${this.port}`, user: 'admin', pass: 'secret', reconnect: false });
  }

  /** Does the same as `hub.js --set-up`. */
  setUp(maxBytes = 1 << 28): Promise<string> {
    return setUpStream({ ...this.admin(), maxBytes });
  }

  async start(): Promise<void> {
    const child = spawn('nats-server', ['-c', join(this.folder, 'server.conf')], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env,
    });
    this.#process = child;
    killedAtExit(child);
    const lines = createInterface({ input: child.stderr });
    await new Promise<void>((resolve, reject) => {
      // All output must be read: a full pipe would block the server.
      lines.on('line', (line) => {
        if (line.includes('Server is ready')) resolve();
        if (line.includes('[FTL]')) reject(new Error(line));
      });
      child.once('exit', (code) => reject(new Error(`nats-server ended with code ${code}`)));
    });
  }

  async kill(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  }

  async deleteStore(): Promise<void> {
    await rm(join(this.folder, 'store'), { recursive: true, force: true });
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
