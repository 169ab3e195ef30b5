// Hubs in the test's process that are joined with others, for tests that do not need to kill a hub.
import { createNatsLink, type NatsLinkDeps } from '../../../src/hub/nats/natsLink.ts';
import { type JoinOptions } from '../../../src/hub/nats/joinOptions.ts';
import { tryKernelLock } from '../../../src/node/kernelLock.ts';
import { type LinkHealth } from '../../../src/protocol/hub.ts';
import { type TestClient, type TestHub, withHub } from '../testHub.ts';

type Intervals = Pick<NatsLinkDeps, 'beatEvery' | 'lookEvery'>;

const OFTEN: Intervals = { beatEvery: 100 };

type Use = (...hubs: TestHub[]) => Promise<void>;

/** Runs one hub for each of the options, all at the same time. */
export function withJoinedHubs(options: readonly JoinOptions[], use: Use, intervals: Intervals = OFTEN): Promise<void> {
  const [first, ...others] = options;
  if (first === undefined) return use();
  return withHub((hub) => withJoinedHubs(others, (...more) => use(hub, ...more), intervals), {
    join: createNatsLink(first, { tryLock: tryKernelLock, ...intervals }),
  });
}

export async function healthOf(client: TestClient): Promise<LinkHealth> {
  return (await client.call('health')) as unknown as LinkHealth;
}

/** Polls until the value is neither undefined nor false; only the test's time limit ends it. */
export async function until<T>(ask: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const value = await ask();
    if (value !== undefined && value !== false) return value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export async function untilConnected(client: TestClient): Promise<void> {
  await until(async () => (await healthOf(client)).server.state === 'connected');
}
