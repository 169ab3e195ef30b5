// Walks of CI and pull requests: a conversation in a pushed repository, and the passing of time until something holds.
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createManualClock } from '../manualClock.ts';
import { type ScriptedAnswer } from '../models/scriptedServer.ts';
import { begin, call, eventsOf } from '../walk/handleWalks.ts';
import { type Walked, type WalkOptions } from '../walk/walking.ts';
import { type ForgeWorld, makePushedRepository } from './pushedRepository.ts';

/** The model commits and pushes. */
export const pushing: ScriptedAnswer = {
  calls: [
    call('run_command', { command: `echo two >> a.txt && git commit -qam 'fix parser' && git push -q origin HEAD` }),
  ],
};

let repositories = 0;

export async function beginIn(
  world: Pick<ForgeWorld, 'root' | 'env'>,
  answers: readonly ScriptedAnswer[],
  more: WalkOptions = {},
  remote?: string,
): Promise<Walked> {
  const clock = createManualClock();
  // Git writes the system's time into its logs, so it goes on besides.
  const ahead = clock.monotonic();
  const now = () => Date.now() + clock.monotonic() - ahead;
  const walk = await begin(answers, {
    forge: { env: world.env },
    ...more,
    settings: { forge: 'gh', ...more.settings },
    ports: { clock: { ...clock, now } },
  });
  await makePushedRepository(walk.headless.folder, join(world.root, `bare${(repositories += 1)}.git`), remote);
  return { ...walk, clock: { ...clock, now } };
}

/** Lets the time of the walk pass, until it holds, and for at least so many looks. */
export async function passTime(
  { clock }: Pick<Walked, 'clock'>,
  holds: () => boolean | Promise<boolean>,
  looks = 1,
): Promise<void> {
  for (let count = 0; count < looks || !(await holds()); count += 1) {
    if (count > 400) throw new Error('it did not come to hold');
    clock.advance(5000);
    await pause(30);
  }
}

export async function ciIn(walk: Walked) {
  return queuedOf(walk, 'ci');
}

export async function queuedOf(walk: Walked, source: string) {
  const events = await eventsOf(walk, 'notification_queued');
  return events.flatMap(({ notification }) => (notification.kind.source === source ? [notification] : []));
}
