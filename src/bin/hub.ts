// The hub on its own, for CI and other editors: node dist/hub.js --dir FOLDER.
import { parseArgs } from 'node:util';
import { startHubServer } from '../hub/hubServer.ts';
import { joinByServer } from '../hub/nats/join.ts';
import { commandLineLabel, type JoinOptions, readJoinOptions } from '../hub/nats/joinOptions.ts';
import { onSignal, runProgram, stderrLogger } from '../node/program.ts';
import { realFileSystem } from '../node/files/fileSystem.ts';
import { hubFolder } from '../node/hubFolder.ts';
import { tryKernelLock } from '../node/kernelLock.ts';
import { realClock } from '../node/realClock.ts';
import { realIds } from '../node/realIds.ts';
import { HUB_NAME } from '../protocol/hub.ts';
import { loadSqlite } from '../node/sqlite.ts';

const HELP = `node dist/hub.js --dir FOLDER [--port N] [--identity NAME[:ROLE[:MODULE]]]
                 [--server ADDRESS --name NAME [--machine MACHINE] [--credentials FILE]]
node dist/hub.js --set-up --server ADDRESS --name NAME [--machine MACHINE] [--credentials FILE] [--max-bytes N]

  --dir          the workspace folder whose hub this is
  --port         the first port to try for WebSocket clients (default: 9999)
  --identity     the agent under which clients act that never register

To join the hubs of several machines:
  --server       a NATS server with JetStream: nats://HOST:PORT or tls://HOST:PORT, several separated by commas
  --name         the same on every machine: 1 to 32 of a-z, 0-9, _ and -
  --machine      this machine's name among them (default: its host name)
  --credentials  a creds file, or a file with the NKEY seed of this machine's user; mode 0600
  --set-up       creates the stream and the buckets, once, with an administrator's user, and prints the permissions of a machine
  --max-bytes    the size of the stream (default: 1073741824)`;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      dir: { type: 'string' },
      port: { type: 'string' },
      identity: { type: 'string' },
      server: { type: 'string' },
      name: { type: 'string' },
      machine: { type: 'string' },
      credentials: { type: 'string' },
      'set-up': { type: 'boolean' },
      'max-bytes': { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) return printLine(HELP);
  const join = readJoin(values);
  if (values['set-up'] === true) return setUp(join, values['max-bytes']);
  if (values['max-bytes'] !== undefined) throw new Error('--max-bytes: it is an option of --set-up only.');
  if (values.dir === undefined) throw new Error(`--dir is missing.\n\n${HELP}`);
  const port = values.port === undefined ? undefined : readPort(values.port);
  const identity = values.identity === undefined ? undefined : readIdentity(values.identity);
  const server = await startHubServer({
    files: realFileSystem,
    clock: realClock,
    tryLock: tryKernelLock,
    sqlite: requireSqlite(),
    folder: await hubFolder(values.dir),
    version: '1',
    port,
    identity,
    join: await joinByServer({ ...values, server: values.server ?? '' }, commandLineLabel, { tryLock: tryKernelLock }),
    ulid: () => realIds.ulid(),
    report: stderrLogger.error,
  });
  if (server === undefined) throw new Error('Another process serves the hub of this folder. Connect to that one.');
  printLine(JSON.stringify(server.address));
  await new Promise<void>(onSignal);
  await server.close();
  return 0;
}

function readJoin(values: {
  server?: string | undefined;
  name?: string | undefined;
  machine?: string | undefined;
  credentials?: string | undefined;
}): JoinOptions | undefined {
  const { server, ...others } = values;
  if (server !== undefined) return readJoinOptions({ server, ...others }, commandLineLabel);
  const [given] = (['name', 'machine', 'credentials'] as const).filter((option) => others[option] !== undefined);
  if (given === undefined) return undefined;
  throw new Error(`--${given}: without --server it has no effect. Add --server with the address of a NATS server.`);
}

async function setUp(join: JoinOptions | undefined, size: string | undefined): Promise<number> {
  if (join === undefined) throw new Error('--server is missing: --set-up needs the address of a NATS server.');
  const maxBytes = size === undefined ? undefined : Number(size);
  if (maxBytes !== undefined && (!Number.isSafeInteger(maxBytes) || maxBytes < 1024 * 1024))
    throw new Error(`--max-bytes: ${size} is not a size. Use a number of bytes, at least 1048576.`);
  const { setUpStream } = await import('../hub/nats/setUp.ts');
  return printLine(await setUpStream({ ...join, maxBytes }));
}

function printLine(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}

function requireSqlite(): NonNullable<ReturnType<typeof loadSqlite>> {
  const sqlite = loadSqlite();
  if (sqlite === undefined) throw new Error(`The hub needs Node 22.13 or later; this is ${process.versions.node}.`);
  return sqlite;
}

function readPort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65535) throw new Error(`--port: ${text} is not a port.`);
  return port;
}

function readIdentity(text: string): { name: string; role: string; module: string } {
  const [name = '', role = '', module = ''] = text.split(':');
  if (!HUB_NAME.test(name)) throw new Error(`--identity: ${name} is not a name; use a-z, 0-9, _ and -.`);
  if (role !== '' && !HUB_NAME.test(role)) throw new Error(`--identity: ${role} is not a role; use a-z, 0-9, _ and -.`);
  return { name, role, module };
}

runProgram(main);
