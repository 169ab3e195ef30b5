// The port of the hub's WebSocket.
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { listenOnWebSocket } from '../../../src/hub/listen/webSocketListener.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { atTestEnd } from '../../support/endings.ts';

const LAST_PORT = 65_535;

/** Resolves also if another program has the port already. */
async function occupy(port: number): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.once('error', () => resolve());
    server.listen(port, '127.0.0.1', () => resolve());
  });
  atTestEnd(async () => {
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  });
}

test('if the last port is in use, any free port is used', async () => {
  await occupy(LAST_PORT);
  const listener = await listenOnWebSocket({
    port: LAST_PORT,
    token: 'tea',
    allowedOrigins: [],
    clock: realClock,
    connect: () => {
      throw new Error('nobody connects');
    },
    report: (message, error) => {
      throw new Error(message, { cause: error });
    },
  });
  atTestEnd(() => listener.close());
  const port = Number(new URL(listener.url).port);
  expect(port).toBeGreaterThan(0);
  expect(port).not.toBe(LAST_PORT);
});
