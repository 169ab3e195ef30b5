// Two machines connected by a socket that SSH forwards, with a real sshd on this machine; each side has its own home
// folder.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { useForwardedSocket } from '../../../src/hub/client/joinHub.ts';
import { realFileSystem } from '../../../src/node/files/fileSystem.ts';
import { hubFolder } from '../../../src/node/hubFolder.ts';
import { atTestEnd } from '../../support/endings.ts';
import { joinHubOf, listeningAgent, unixClient, withHub } from '../../support/testHub.ts';

const run = promisify(execFile);
const SSHD = '/usr/sbin/sshd';
const hasSsh =
  existsSync(SSHD) &&
  (await run('ssh', ['-V']).then(
    () => true,
    () => false,
  ));

interface Ssh {
  /** Forwards a socket of this machine to one behind the server. Resolves once the socket answers. */
  forward(local: string, remote: string): Promise<ChildProcess>;
}

async function startSsh(): Promise<Ssh> {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-ssh-'));
  atTestEnd(() => rm(folder, { recursive: true, force: true }));
  // As root, sshd requires the folder that its service would create.
  if (process.getuid?.() === 0) await mkdir('/run/sshd', { recursive: true, mode: 0o755 });
  for (const name of ['host', 'user'])
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, name)]);
  const port = await freePort();
  const config = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${join(folder, 'host')}`,
    `AuthorizedKeysFile ${join(folder, 'user.pub')}`,
    `PidFile ${join(folder, 'pid')}`,
    'PermitRootLogin yes',
    'PasswordAuthentication no',
    'UsePAM no',
    'StrictModes no',
  ];
  await writeFile(join(folder, 'config'), `${config.join('\n')}\n`);
  const server = spawn(SSHD, ['-D', '-e', '-f', join(folder, 'config')], { stdio: ['ignore', 'ignore', 'pipe'] });
  atTestEnd(() => end(server));
  await new Promise<void>((resolve, reject) => {
    let output = '';
    server.stderr.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
      if (output.includes('listening')) resolve();
    });
    server.once('exit', () => reject(new Error(`sshd ended: ${output}`)));
  });
  const options = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'ExitOnForwardFailure=yes']
    .concat('StreamLocalBindUnlink=yes', 'LogLevel=ERROR', 'BatchMode=yes', 'IdentitiesOnly=yes')
    .flatMap((option) => ['-o', option]);
  return {
    forward: async (local, remote) => {
      const where = ['-p', String(port), '-i', join(folder, 'user'), `${userInfo().username}@127.0.0.1`];
      const tunnel = spawn('ssh', ['-N', ...options, '-L', `${local}:${remote}`, ...where], { stdio: 'inherit' });
      atTestEnd(() => end(tunnel));
      await expect.poll(() => answers(local)).toBe(true);
      return tunnel;
    },
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

async function answers(socket: string): Promise<boolean> {
  const client = await unixClient(socket).catch(() => undefined);
  const health = await client?.call('health').catch(() => undefined);
  client?.close();
  return health?.['status'] === 'ok';
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

test.skipIf(!hasSsh)(
  'agents of two machines exchange messages over a socket that SSH forwards, and miss nothing while it is down',
  () =>
    withHub(async (hub) => {
      const ssh = await startSsh();
      const home = await mkdtemp(join(tmpdir(), 'earshot-other-'));
      atTestEnd(() => rm(home, { recursive: true, force: true }));
      const local = join(home, 'forwarded.sock');
      await useForwardedSocket(realFileSystem, await hubFolder(home, home), local);
      const tunnel = await ssh.forward(local, hub.address.socket);
      const { folder, member } = await joinHubOf(home);
      const { client: there, previews } = listeningAgent({ folder, name: 'there' });
      there.subscribe({ mentionRole: 'there' });
      await there.connected();

      const here = await hub.agent('here');
      await here.call('subscribe', { mention_role: 'here' });
      await here.call('message.send', { content: 'to the other machine', mentions: ['there'] });
      await expect.poll(previews).toEqual(['to the other machine']);
      await there.call('message.send', { content: 'and back', mentions: ['here'] });
      expect(await here.pushed('notification.message')).toMatchObject([{ params: { preview: 'and back' } }]);

      await end(tunnel);
      await there.disconnected();
      await here.call('message.send', { content: 'while it is down', mentions: ['there'] });
      await member.look();
      expect(member.isServing).toBe(false);
      await ssh.forward(local, hub.address.socket);
      await there.connected();
      await here.call('message.send', { content: 'up again', mentions: ['there'] });
      await expect.poll(previews).toEqual(['to the other machine', 'while it is down', 'up again']);
    }),
);
