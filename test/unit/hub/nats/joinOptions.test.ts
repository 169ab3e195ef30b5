// Options that join hubs: each mistake names its option and what to do about it.
import { spawn } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { joinByServer } from '../../../../src/hub/nats/join.ts';
import {
  commandLineLabel,
  type JoinInput,
  readJoinOptions,
  reduceHostName,
  settingLabel,
} from '../../../../src/hub/nats/joinOptions.ts';
import { tryKernelLock } from '../../../../src/node/kernelLock.ts';
import { healthOf } from '../../../support/nats/joinedHub.ts';
import { hasNatsServer, NatsServer } from '../../../support/nats/natsServer.ts';
import { withHub } from '../../../support/testHub.ts';

const SEED = `SU${'A'.repeat(56)}`;
const good: JoinInput = { server: 'nats://nats.example.com', name: 'team', machine: 'alpha' };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'earshot-join-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function file(name: string, content: string, mode = 0o600): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  await chmod(path, mode);
  return path;
}

test('addresses get the default port; several are separated by commas; user and password are removed from them', () => {
  expect(readJoinOptions(good, commandLineLabel)).toEqual({
    servers: ['nats.example.com:4222'],
    name: 'team',
    machine: 'alpha',
    tls: false,
  });
  const server = 'tls://me:p%40ss@a.example:4443, tls://b.example';
  expect(readJoinOptions({ ...good, server }, commandLineLabel)).toMatchObject({
    servers: ['a.example:4443', 'b.example:4222'],
    tls: true,
    login: { user: 'me', password: 'p@ss' },
  });
});

test('the machine is the host name by default, reduced to the alphabet', () => {
  expect(readJoinOptions({ server: good.server, name: 'team' }, commandLineLabel).machine).toMatch(
    /^[a-z0-9_-]{1,32}$/,
  );
  expect(reduceHostName('Anna’s-MacBook.local')).toBe('anna-s-macbook');
  expect(reduceHostName('--x')).toBe('x');
  expect(reduceHostName('a'.repeat(40))).toBe('a'.repeat(32));
});

test.each<[string, Partial<JoinInput>, string]>([
  ['no server', { server: ' , ' }, '--server is empty'],
  ['no address', { server: 'nats.example.com' }, '--server is not the address of a NATS server'],
  ['another scheme', { server: 'https://nats.example.com' }, '--server is not the address'],
  ['too many servers', { server: Array(17).fill('nats://a').join(',') }, '--server has 17 addresses'],
  ['no name', { name: '' }, '--name is missing: the server is not used. Set the same name on every machine'],
  ['a name with capitals', { name: 'Team' }, '--name: “Team” is not a name. Use 1 to 32 of a-z'],
  ['a name with a dot', { name: 'a.b' }, '--name: “a.b” is not a name'],
  ['a machine with a wildcard', { machine: '>' }, '--machine: “>” is not a name of a machine. Use 1 to 32'],
  ['credentials that are missing', { credentials: '/nowhere/x' }, '--credentials: /nowhere/x cannot be read'],
])('%s is refused', (_, change, message) => {
  expect(() => readJoinOptions({ ...good, ...change }, commandLineLabel)).toThrow(message);
});

test('a message never repeats a password, and settings are named as such', () => {
  const server = 'nats//me:secret@host';
  expect(() => readJoinOptions({ ...good, server }, settingLabel)).toThrow(
    /^earshot\.hub\.server is not the address(?!.*secret)/,
  );
});

test('credentials: an NKEY seed and a creds file are distinguished; other contents and readable files are refused', async () => {
  const read = (credentials: string) => readJoinOptions({ ...good, credentials }, commandLineLabel);
  expect(read(await file('user.nk', `${SEED}\n`)).credentials).toEqual({ kind: 'nkey', bytes: Buffer.from(SEED) });
  expect(read(await file('user.creds', '-----BEGIN NATS USER JWT-----\n…')).credentials?.kind).toBe('creds');
  const other = await file('other', 'hello');
  expect(() => read(other)).toThrow('neither a creds file nor the NKEY seed');
  if (process.platform === 'win32') return;
  const open = await file('open.nk', SEED, 0o644);
  expect(() => read(open)).toThrow(`--credentials: other users can read ${open}. Run chmod 600 on it.`);
  const both = await file('both.nk', SEED);
  expect(() => readJoinOptions({ ...good, server: 'nats://u:p@host', credentials: both }, commandLineLabel)).toThrow(
    'Use one of them',
  );
});

test('a hub with a wrong option works alone, and health says why', async () => {
  const options = await joinByServer({ server: 'nats://127.0.0.1:1' }, settingLabel, { tryLock: tryKernelLock });
  await withHub(
    async (hub) => {
      const client = await hub.agent('amber');
      await client.call('message.send', { content: 'local' });
      const { server, not_sent: waiting } = await healthOf(client);
      expect(server).toMatchObject({ state: 'refused' });
      expect(server.error).toContain('earshot.hub.name is missing');
      expect(waiting).toBe(0);
    },
    { join: options },
  );
  expect(await joinByServer({ server: '' }, settingLabel, { tryLock: tryKernelLock })).toBeUndefined();
});

function run(args: readonly string[]): Promise<{ code: number | null; output: string }> {
  const program = join(import.meta.dirname, '../../../../src/bin/hub.ts');
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })));
}

test('hub.js refuses wrong options before it starts', async () => {
  const [noServer, noName, size] = await Promise.all([
    run(['--dir', folder, '--name', 'team']),
    run(['--dir', folder, '--server', 'nats://127.0.0.1:1']),
    run(['--set-up', '--server', 'nats://127.0.0.1:1', '--name', 'team', '--max-bytes', 'much']),
  ]);
  expect(noServer).toMatchObject({ code: 1, output: expect.stringContaining('Add --server') as string });
  expect(noName).toMatchObject({ code: 1, output: expect.stringContaining('--name is missing') as string });
  expect(size).toMatchObject({ code: 1, output: expect.stringContaining('--max-bytes: much is not a size') as string });
});

describe.skipIf(!hasNatsServer)('hub.js --set-up', () => {
  test('creates stream and buckets, prints the permissions of one machine, and may run again', async () => {
    const server = await NatsServer.start([], { prepared: false });
    try {
      const options = [
        '--server',
        `nats://admin:secret@127.0.0.1:${server.port}`,
        '--name',
        'team',
        '--machine',
        'alpha',
      ];
      const first = await run(['--set-up', ...options, '--max-bytes', '10000000']);
      expect(first.output).toContain('The stream EAR_team was created');
      expect(first.output).toContain('"ear.team.*.alpha.>"');
      expect(first.output).toContain('"_INBOX_alpha.>"');
      expect((await run(['--set-up', ...options, '--max-bytes', '20000000'])).output).toContain('EAR_team exists');
      const refused = await run(['--set-up', ...options.map((option) => option.replace('secret', 'wrong'))]);
      expect(refused.code).toBe(1);
    } finally {
      await server.stop();
    }
  });
});
