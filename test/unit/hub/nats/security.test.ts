// TLS and credentials files against a real nats-server, and the messages that the user gets when they are wrong.
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type JoinOptions, readJoinOptions, settingLabel } from '../../../../src/hub/nats/joinOptions.ts';
import { connectNats, describeTrouble } from '../../../../src/hub/nats/natsConnection.ts';
import { machinePermissions, setUpStream } from '../../../../src/hub/nats/setUp.ts';
import { hasOpenssl, JwtAccount, makeCertificate } from '../../../support/nats/certificates.ts';
import { healthOf, until, untilConnected, withJoinedHubs } from '../../../support/nats/joinedHub.ts';
import { hasNatsServer, NAME, NatsServer } from '../../../support/nats/natsServer.ts';
import { type TestClient } from '../../../support/testHub.ts';

async function withConfigured(
  configure: (folder: string) => string | Promise<string>,
  use: (server: NatsServer) => Promise<void>,
): Promise<void> {
  const server = await NatsServer.startWith(configure);
  try {
    await use(server);
  } finally {
    await server.stop();
  }
}

/** The message that the user gets when joining with these options fails. */
async function trouble(options: JoinOptions): Promise<{ refused: boolean; text: string }> {
  const connection = await connectNats(options).catch((error: unknown) => error as Error);
  if (!(connection instanceof Error)) {
    await connection.close();
    throw new Error('joining was expected to fail');
  }
  return describeTrouble(connection, 'SET UP');
}

async function refusal(client: TestClient): Promise<string> {
  return until(async () => {
    const { server } = await healthOf(client);
    return server.state === 'refused' && server.error;
  });
}

describe.skipIf(!hasNatsServer)('a creds file', () => {
  const account = new JwtAccount();

  async function optionsWith(server: NatsServer, creds: string, machine: string): Promise<JoinOptions> {
    const file = join(server.folder, `${machine}.creds`);
    await writeFile(file, creds, { mode: 0o600 });
    const address = `nats://127.0.0.1:${server.port}`;
    return readJoinOptions({ server: address, name: NAME, machine, credentials: file }, settingLabel);
  }

  test('joins a machine with the printed permissions, and cannot be used under the name of another machine', () =>
    withConfigured(
      () => account.configuration,
      async (server) => {
        await setUpStream({ ...(await optionsWith(server, account.creds(), 'admin')), maxBytes: 1 << 20 });
        const own = await optionsWith(server, account.creds(machinePermissions(NAME, 'alpha')), 'alpha');
        const forged = await optionsWith(server, account.creds(machinePermissions(NAME, 'alpha')), 'beta');
        await withJoinedHubs([own, forged], async (alpha, beta) => {
          const [author, forger] = [await alpha.agent('amber'), await beta.agent('birch')];
          await untilConnected(author);
          await author.call('message.send', { content: 'signed' });
          await until(async () => (await healthOf(author)).not_sent === 0);
          expect(await refusal(forger)).toContain('prints the permissions it needs');
        });
      },
    ));

  test('that has expired or belongs to another account is refused with the next step', () =>
    withConfigured(
      () => account.configuration,
      async (server) => {
        const expired = await optionsWith(server, account.creds(undefined, 1_600_000_000), 'alpha');
        expect(await trouble(expired)).toMatchObject({ refused: true });
        expect((await trouble(expired)).text).toMatch(/credentials of this machine/);
        const foreign = await optionsWith(server, new JwtAccount().creds(), 'beta');
        expect((await trouble(foreign)).text).toContain('refuses the credentials of this machine. Correct');
      },
    ));
});

describe.skipIf(!hasNatsServer || !hasOpenssl)('an encrypted connection', () => {
  const options = (server: NatsServer, scheme: 'tls' | 'nats') =>
    readJoinOptions({ server: `${scheme}://localhost:${server.port}`, name: NAME, machine: 'alpha' }, settingLabel);

  test('is refused if the authority is unknown or the host differs, and works with NODE_EXTRA_CA_CERTS', async () => {
    let file = '';
    const configure = (folder: string) => {
      const { certificate, key } = makeCertificate(folder, 'own');
      file = certificate;
      return `tls { cert_file: "${certificate}", key_file: "${key}" }`;
    };
    await withConfigured(configure, async (server) => {
      for (const scheme of ['tls', 'nats'] as const) {
        const { refused, text } = await trouble(options(server, scheme));
        expect([refused, text]).toEqual([true, expect.stringContaining('NODE_EXTRA_CA_CERTS')]);
      }
      // Node reads the variable only at its start.
      const hub = join(import.meta.dirname, '../../../../src/bin/hub.ts');
      const args = ['--no-warnings', hub, '--set-up', '--server', `tls://localhost:${server.port}`, '--name', NAME];
      args.push('--max-bytes', String(1 << 20));
      const child = spawn(process.execPath, args, { env: { ...process.env, NODE_EXTRA_CA_CERTS: file } });
      let output = '';
      child.stdout.on('data', (chunk) => (output += String(chunk)));
      child.stderr.on('data', (chunk) => (output += String(chunk)));
      await new Promise((resolve) => child.once('close', resolve));
      expect(output).toContain('The stream EAR_team was created');
    });
  });

  test('to a server without TLS is refused, and the address that works is named', () =>
    withConfigured(
      () => '',
      async (server) => {
        const { refused, text } = await trouble(options(server, 'tls'));
        expect([refused, text]).toEqual([true, expect.stringContaining('Use nats:// instead of tls://')]);
      },
    ));
});

test.each([
  ['CERT_HAS_EXPIRED', true, 'Correct the clock of this machine'],
  ['CERT_NOT_YET_VALID', true, 'Correct the clock of this machine'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', true, 'host name'],
  ['ECONNREFUSED', false, 'Check the network and the address in earshot.hub.server'],
  ['ENOTFOUND', false, 'Check the network and the address in earshot.hub.server'],
  ['ESOMETHING', false, 'Earshot retries automatically.'],
])('an error with the code %s names the next step', (code, refused, step) => {
  const cause = Object.assign(new Error('broken'), { code });
  const described = describeTrouble(new Error('connecting failed', { cause }), 'SET UP');
  expect([described.refused, described.text]).toEqual([refused, expect.stringContaining(step)]);
});
