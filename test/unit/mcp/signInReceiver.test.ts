// The port that a browser returns to after a sign-in: which requests it accepts, and when it is free again.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { expect, test } from 'vitest';
import { COMMAND_MARK } from '../../../src/node/platform/marks.ts';
import { openSignInReceiver, type SignInReceiver } from '../../../src/mcp/oauth/signInReceiver.ts';

function get({ port }: SignInReceiver, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.on('error', reject).end();
  });
}

test('only the page that was opened is accepted; an invalid address does no harm', async () => {
  const receiver = await openSignInReceiver(0, 'Done.');
  expect(await get(receiver, '/callback?state=')).toBe(404);
  receiver.expect('s1');
  for (const path of ['//', 'http://[', '/callback', '/callback?state=s2', '/other?state=s1']) {
    expect(await get(receiver, path)).toBe(404);
  }
  expect(await get(receiver, '/callback?state=s1&code=c')).toBe(200);
  expect((await receiver.next())?.get('code')).toBe('c');
  // Each state is accepted only once; for more rights, a server needs another page.
  expect(await get(receiver, '/callback?state=s1')).toBe(404);
  receiver.expect('s3');
  const later = receiver.next();
  expect(await get(receiver, '/callback?state=s3&code=d')).toBe(200);
  expect((await later)?.get('code')).toBe('d');
  receiver.dispose();
});

test('a process of a command that read the state on a command line cannot complete the sign-in', async () => {
  const receiver = await openSignInReceiver(0, 'Done.');
  receiver.expect('s1');
  const waiting = receiver.next();
  const send = `fetch('http://127.0.0.1:${receiver.port}/callback?state=s1&code=forged').then(({ status }) => console.log(status))`;
  const child = spawn(process.execPath, ['-e', send], {
    env: { ...process.env, [COMMAND_MARK]: 'of another command' },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const [status] = (await once(child.stdout, 'data')) as [Buffer];
  expect(status.toString().trim()).toBe('403');
  expect(await get(receiver, '/callback?state=s1&code=c')).toBe(200);
  expect((await waiting)?.get('code')).toBe('c');
  receiver.dispose();
});

test('the port is free again after dispose, also without a sign-in', async () => {
  const first = await openSignInReceiver(0, 'Done.');
  const { port } = first;
  first.dispose();
  expect(await first.next()).toBeUndefined();
  const second = await openSignInReceiver(port, 'Done.');
  expect(second.port).toBe(port);
  second.expect('s');
  const waiting = second.next();
  second.dispose();
  second.dispose();
  expect([second.isClosed, await waiting]).toEqual([true, undefined]);
});
