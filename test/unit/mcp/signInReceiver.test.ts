// The port that a browser returns to after a sign-in: which requests it accepts, and when it is free again.
import { request } from 'node:http';
import { expect, test } from 'vitest';
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
