// The hub program is killed under load repeatedly: every acknowledged message is listed exactly once.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { type HubAddress } from '../../../src/protocol/hub.ts';
import { compileCache } from '../../support/compileCache.ts';
import { runs } from '../../support/runs.ts';
import { type TestClient, unixClient } from '../../support/testHub.ts';

const program = resolve(import.meta.dirname, '../../../src/bin/hub.ts');
const RUNS = runs(4, 25);
const SENDERS = 8;

test(
  `the hub is killed under load ${RUNS} times: acknowledged messages are listed once`,
  async () => {
    const home = await mkdtemp(join(tmpdir(), 'earshot-killed-'));
    const folder = join(home, 'work');
    await mkdir(folder);
    const acknowledged: string[] = [];
    try {
      for (let run = 0; run < RUNS; run++) {
        const hub = await startHub(home, folder);
        const ended = once(hub.child, 'exit');
        const enough = 20 + ((run * 37) % 100);
        const senders = await Promise.all(
          Array.from({ length: SENDERS }, (_, sender) => joinAs(hub.address, `sender-${sender}`)),
        );
        const sending = senders.map((client, sender) =>
          sendUntilKilled(client, `${run}-${sender}`, (content) => {
            acknowledged.push(content);
            if (acknowledged.length % enough === 0) hub.child.kill('SIGKILL');
          }),
        );
        await Promise.all([ended, ...sending]);
        for (const client of senders) client.close();
      }
      const { child, address } = await startHub(home, folder);
      const reader = await unixClient(address.socket);
      await reader.call('agent.register', { name: 'reader' });
      await reader.call('session.start', { agent_id: 'reader' });
      const listed = await listAll(reader);
      const counts = new Map<string, number>();
      for (const content of listed) counts.set(content, (counts.get(content) ?? 0) + 1);
      expect(acknowledged.filter((content) => counts.get(content) !== 1)).toEqual([]);
      expect([...counts].filter(([, count]) => count > 1)).toEqual([]);
      expect(acknowledged.length).toBeGreaterThan(RUNS * 20);
      reader.close();
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  },
  RUNS * 60_000,
);

async function startHub(home: string, folder: string): Promise<{ child: ChildProcess; address: HubAddress }> {
  const child = spawn(process.execPath, ['--no-warnings', program, '--dir', folder, '--port', '0'], {
    env: { ...process.env, ...compileCache, HOME: home, EARSHOT_HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const line = await new Promise<string>((found, failed) => {
    createInterface({ input: child.stdout }).once('line', found);
    child.once('exit', (code) => failed(new Error(`the hub ended with ${String(code)}`)));
  });
  return { child, address: JSON.parse(line) as HubAddress };
}

async function joinAs(address: HubAddress, name: string): Promise<TestClient> {
  const client = await unixClient(address.socket);
  await client.call('agent.register', { name });
  await client.call('session.start', { agent_id: name });
  // Pushes are part of the load.
  await client.call('subscribe', { all: true }).catch(() => undefined);
  return client;
}

/** Sends one message at a time, as an agent does; the last gets no answer. */
async function sendUntilKilled(client: TestClient, mark: string, sent: (content: string) => void): Promise<void> {
  for (let number = 0; ; number++) {
    const content = `${mark}-${number}`;
    try {
      await client.call('message.send', { content });
    } catch {
      return;
    }
    sent(content);
  }
}

async function listAll(reader: TestClient): Promise<string[]> {
  const found: string[] = [];
  for (let after = 'c0', more = true; more; ) {
    const page = (await reader.call('message.list', { after, limit: 100 })) as {
      messages: { body: { content: string } }[];
      after: string;
      more: boolean;
    };
    found.push(...page.messages.map(({ body }) => body.content));
    ({ after, more } = page);
  }
  return found;
}
