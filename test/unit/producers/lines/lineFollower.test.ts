// Silences of a followed source, and the paces of its reports.
import { expect, test } from 'vitest';
import { LineWatches } from '../../../../src/core/conversation/lines/lineWatches.ts';
import { LineFollower } from '../../../../src/producers/lines/lineFollower.ts';
import { ReportPace } from '../../../../src/producers/lines/reportPace.ts';
import { type LogEvent } from '../../../../src/protocol/event.ts';
import { type NotificationDraft } from '../../../../src/protocol/notification.ts';
import { createManualClock } from '../../../support/manualClock.ts';
import { createTestHost } from '../../../support/notify/producerHost.ts';

const TARGET = 'handle:server';

function follow(quiet_after_secs: number) {
  const clock = createManualClock();
  const watches = new LineWatches();
  const fold = (event: object) => watches.fold({ v: 1, seq: 1, timestamp: '', ...event } as LogEvent);
  const position = { through: 0 };
  fold({
    type: 'lines_watched',
    event_id: 'w',
    target: TARGET,
    patterns: ['error'],
    quiet_after_secs,
    position,
  });
  const published: NotificationDraft[] = [];
  let output = new Uint8Array();
  const host = createTestHost();
  const make = () => {
    const watch = watches.all.get(TARGET);
    if (watch === undefined) throw new Error('no watch');
    return new LineFollower(
      {
        clock,
        pace: new ReportPace(clock),
        publisher: {
          publish: async (draft) => {
            published.push(draft);
            fold({ type: 'notification_queued', event_id: 'n', notification: { id: 'n', ...draft } });
          },
          withdraw: async () => false,
        },
        live: { ...host.live, lines: () => watches.all },
        conversation: 'c',
        target: TARGET,
        report: (error) => {
          throw error;
        },
        source: {
          words: { name: 'The background command “server”', origin: 'process', readMore: () => '' },
          read: async ({ through }, limit) => {
            const bytes = output.subarray(through, through + limit);
            return bytes.length === 0 ? undefined : { bytes, from: through, skipped: 0 };
          },
        },
      },
      watch,
    );
  };
  const print = (text: string) => {
    output = new Uint8Array([...output, ...new TextEncoder().encode(text)]);
  };
  return { clock, published, make, print };
}

async function pass(clock: ReturnType<typeof createManualClock>, milliseconds: number): Promise<void> {
  for (let at = 0; at < milliseconds; at += 100) {
    clock.advance(100);
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  }
}

test('each silence is reported once, again only after more was printed, and not again after a restart', async () => {
  const { clock, published, make, print } = follow(60);
  const follower = make();
  print('started\n');
  follower.poke();
  await pass(clock, 59_000);
  expect(published).toEqual([]);
  await pass(clock, 3000);
  expect(published.map(({ kind, wake, message }) => [kind.name, wake, message])).toEqual([
    ['quiet', true, expect.stringContaining('has printed nothing for 60 s') as string],
  ]);
  await pass(clock, 200_000);
  expect(published).toHaveLength(1);
  follower.dispose();
  const next = make();
  await pass(clock, 200_000);
  expect(published).toHaveLength(1);
  print('more\n');
  next.poke();
  await pass(clock, 62_000);
  expect(published).toHaveLength(2);
  next.dispose();
});

test('matches are reported after 200 ms, then at most every 2 s, and a batch has all of them', async () => {
  const { clock, published, make, print } = follow(3600);
  const follower = make();
  print('error 1\n');
  follower.poke();
  await pass(clock, 400);
  expect(published).toHaveLength(1);
  print('error 2\n');
  follower.poke();
  await pass(clock, 1000);
  print('error 3\n');
  follower.poke();
  expect(published).toHaveLength(1);
  await pass(clock, 1200);
  expect(published.map(({ message }) => message.match(/error \d/g))).toEqual([['error 1'], ['error 2', 'error 3']]);
  follower.dispose();
});

test('the reports of all sources together stay below the limit of the throttle', () => {
  const clock = createManualClock();
  const pace = new ReportPace(clock);
  const waits = Array.from({ length: 60 }, () => pace.take());
  expect(waits.filter((wait) => wait < 60_000).length).toBeLessThan(50);
  expect(waits.slice(0, 8)).toEqual(Array.from({ length: 8 }, () => 0));
});
