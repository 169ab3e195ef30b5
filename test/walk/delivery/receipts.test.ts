// Queued → carried → accepted: whatever happens to a request, each request contains a carrier exactly once.
import { describe, expect, test } from 'vitest';
import { notificationHistory } from '../../../src/core/conversation/projections/history.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { type ScriptedAnswer } from '../../support/models/scriptedServer.ts';
import {
  begin,
  done,
  eventsOf,
  headChanged,
  makePipe,
  occurrences,
  publish,
  run,
} from '../../support/walk/deliveryWalks.ts';
import { beginWalk, type Walked } from '../../support/walk/walking.ts';

async function allEvents({ headless, id }: Walked): Promise<LogEvent[]> {
  return (await headless.events(id))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as LogEvent);
}

const golden = (name: string) => `./golden/${name}.golden.txt`;
const FACT = 'switched to main';
const all = { settings: { 'approvals.mode': 'all' } };

/** The receipts that the chips of all carriers show. */
const receipts = ({ log }: Walked) =>
  log.state.transcript.items.flatMap((item) => ('carried' in item ? [item.carried.receipt] : []));

/** Delivers one notification with a tool result, or one with the request itself. */
const carriers = {
  result: async (walk: Walked, faults: readonly ScriptedAnswer[]) => {
    const pipe = makePipe(walk, 'pipe');
    walk.server.restart({ calls: [run('a', 'cat pipe')] }, ...faults, done, done);
    const started = walk.headless.frontend.nextDrawn('tool_started');
    const turn = walk.go();
    await started;
    await publish(walk, headChanged(FACT));
    await pipe.end();
    await turn;
  },
  request: async (walk: Walked, faults: readonly ScriptedAnswer[]) => {
    walk.server.restart(...faults, done, done);
    await publish(walk, headChanged(FACT));
    await walk.go();
  },
};

const faults: readonly (readonly [string, readonly ScriptedAnswer[], 'retried' | 'ended'])[] = [
  ['before it is sent', [{ reset: true }], 'retried'],
  [
    'with status 503 and 500',
    [{ refuse: { status: 503, message: 'loading' } }, { refuse: { status: 500, message: 'oops' } }],
    'retried',
  ],
  ['before any output', [{ cut: true }], 'retried'],
  ['in the middle of the answer', [{ text: ['Half'], cut: true }], 'ended'],
  [
    'after the answer, with an error in the stream',
    [{ text: ['All'], raw: 'data: {"error":{"message":"late"}}\n\n', cut: true }],
    'ended',
  ],
  ['with status 401', [{ refuse: { status: 401, message: 'no' } }], 'ended'],
];

describe.each(['result', 'request'] as const)('carried by a %s', (carrier) => {
  test.each(faults)(
    'a request that fails %s leaves the notification carried until one succeeds',
    async (when, answers, after) => {
      const walk = await beginWalk([], all);
      await carriers[carrier](walk, answers);
      if (after === 'ended') {
        expect(receipts(walk)).toEqual(['carried']);
        expect(notificationHistory(await allEvents(walk))).toMatchObject([{ state: 'shown', receipt: 'carried' }]);
        await walk.go('Again.');
      }
      expect(receipts(walk)).toEqual(['accepted']);
      await walk.go('And again.');
      const [record] = notificationHistory(await allEvents(walk));
      expect(record).toMatchObject({ state: 'shown', receipt: 'accepted', carrier: expect.any(Number) as number });
      const first = carrier === 'result' ? 1 : 0;
      const counts = walk.server.requests.map((_, number) => occurrences(walk, number, FACT));
      expect(counts.slice(first)).toEqual(counts.slice(first).map(() => 1));
      expect(counts.length - first).toBeGreaterThan(answers.length);
      const events = [...(await eventsOf(walk, 'chat_request')), ...(await eventsOf(walk, 'tool_call_response'))];
      expect(events.filter(({ notifications }) => notifications?.text.includes(FACT) === true)).toHaveLength(1);
      await walk.golden(golden(`receipt-${carrier}-${when.replaceAll(/\W+/g, '-')}`));
    },
  );
});

test('an aborted request does not change the receipt, and the carrier is sent again with the next request', async () => {
  const walk = await beginWalk([{ hang: true }, done]);
  await publish(walk, headChanged(FACT));
  await begin(walk);
  await walk.server.request(0);
  await walk.headless.earshot.interrupt(walk.id, 'Wait.');
  await walk.headless.earshot.settled(walk.id);
  expect(walk.server.requests.map((_, number) => occurrences(walk, number, FACT))).toEqual([1, 1]);
  expect(receipts(walk)).toEqual(['accepted']);
  await walk.golden(golden('receipt-aborted'));
});

test('after a restart the receipt is read from the log', async () => {
  const walk = await beginWalk([{ refuse: { status: 401, message: 'no' } }, done]);
  await publish(walk, headChanged(FACT));
  await walk.go();
  const next = await walk.headless.restart();
  try {
    const opened = await next.earshot.open(walk.id);
    if (!opened.ok) throw new Error(opened.failure.message);
    const again = { ...walk, log: opened.value.log };
    expect(receipts(again)).toEqual(['carried']);
    await next.earshot.send(walk.id, 'Again.');
    await next.earshot.settled(walk.id);
    expect(receipts(again)).toEqual(['accepted']);
    await walk.golden(golden('receipt-restart'), { headless: next });
  } finally {
    await next.earshot.shutDown();
  }
});
