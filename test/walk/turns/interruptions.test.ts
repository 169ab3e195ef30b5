// Messages, notifications and stops at any moment of a turn: every request is well formed, nothing is lost or delivered twice.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { type ScriptedAnswer } from '../../support/models/scriptedServer.ts';
import { runs } from '../../support/runs.ts';
import { headChanged } from '../../support/walk/deliveryWalks.ts';
import { eachMoment } from '../../support/walk/turnMoments.ts';
import { beginWalk, type Walked } from '../../support/walk/walking.ts';

const RUNS = runs(15, 40);
const MOMENTS = 30;

/** The answers to all requests; repeated when they run out. */
const ANSWERS: readonly ScriptedAnswer[] = [
  { refuse: { status: 503, message: 'loading' } },
  {
    text: ['I look', ' at two', ' things.'],
    calls: [
      { id: '', name: 'list_files', arguments: {} },
      { id: '', name: 'run_command', arguments: { command: 'echo one; sleep 0.01; echo two' } },
    ],
  },
  { text: ['And'], calls: [{ id: '', name: 'list_files', arguments: {} }] },
  { text: ['That', ' is', ' all.'] },
];

const ACTS = ['queue', 'interrupt', 'event', 'deliver', 'stop'] as const;
type Act = (typeof ACTS)[number];

interface WireMessage {
  readonly role: string;
  readonly tool_calls?: readonly { readonly id: string }[];
  readonly tool_call_id?: string;
}

async function play(walk: Walked, acts: ReadonlyMap<number, Act>): Promise<void> {
  const { earshot, frontend } = walk.headless;
  walk.server.restart(...ANSWERS, ...ANSWERS, ...ANSWERS);
  frontend.returned.length = 0;
  const opened = await earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  const { log } = opened.value;
  const acting: Promise<unknown>[] = [];
  const texts: string[] = [];
  const end = eachMoment(walk, log, (moment) => {
    const act = acts.get(moment);
    if (act === 'queue' || act === 'interrupt') {
      const text = `word-${moment}-`;
      acting.push(earshot[act](log.id, text).then((said) => said.ok && texts.push(text)));
    } else if (act === 'event')
      acting.push(earshot.publish(headChanged(`event ${moment}`, { subject: `${moment}` }), log.id));
    else if (act === 'deliver') acting.push(earshot.deliverNow(log.id));
    else if (act === 'stop') acting.push(earshot.stop(log.id));
  });
  await earshot.send(log.id, 'Look.');
  await earshot.settled(log.id);
  // Acts at the very end start their own turns.
  for (let done = -1; done !== acting.length; ) {
    done = acting.length;
    await Promise.all(acting);
    await earshot.settled(log.id);
  }
  end();

  const sent = walk.server.requests.length;
  walk.server.restart({ text: ['Here I am.'] });
  await earshot.send(log.id, 'Go on.');
  await earshot.settled(log.id);
  const body = walk.server.requests[sent]?.body ?? '';
  expectWellFormed((JSON.parse(body) as { messages: WireMessage[] }).messages);
  for (const text of texts) {
    const back = frontend.returned.filter(({ content }) => content === text).length;
    expect([text, body.split(text).length - 1 + back]).toEqual([text, 1]);
  }
  expect(log.state.pending.queuedMessages).toEqual([]);
  await expectTurns(walk, log.id);
  await earshot.close(log.id);
}

test(`two acts at any of ${MOMENTS} moments keep requests valid and deliver everything once, ${RUNS} times`, async () => {
  const walk = await beginWalk([], { settings: { 'notifications.levels': { 'git.head_changed': 'critical' } } });
  const acts = fc
    .array(fc.tuple(fc.nat(MOMENTS), fc.constantFrom(...ACTS)), { minLength: 1, maxLength: 3 })
    .map((pairs) => new Map(pairs));
  await fc.assert(
    fc.asyncProperty(acts, (chosen) => play(walk, chosen)),
    { numRuns: RUNS },
  );
  expect(walk.headless.errors).toEqual([]);
}, 600_000);

/** Checks that every turn ends and that every delivered notification is delivered once. */
async function expectTurns({ headless }: Walked, id: string): Promise<void> {
  const lines = (await headless.events(id)).trimEnd().split('\n');
  const events = lines.map((line) => JSON.parse(line) as LogEvent);
  let open = false;
  const carried: string[] = [];
  for (const event of events) {
    if (event.type === 'turn_started' || event.type === 'turn_ended') {
      expect(open).toBe(event.type === 'turn_ended');
      open = !open;
    }
    if (!('notifications' in event) || event.notifications === undefined) continue;
    const { user_text, shown, merged, counted } = event.notifications;
    carried.push(...user_text, ...shown, ...merged, ...counted);
  }
  expect(open).toBe(false);
  expect(new Set(carried).size).toBe(carried.length);
}

/** Checks a rule of every endpoint: each call is followed by exactly one result. */
function expectWellFormed(messages: readonly WireMessage[]): void {
  let awaited: string[] = [];
  for (const { role, tool_calls = [], tool_call_id = '' } of messages) {
    if (role === 'tool') {
      expect(awaited).toContain(tool_call_id);
      awaited = awaited.filter((call) => call !== tool_call_id);
      continue;
    }
    expect(awaited).toEqual([]);
    awaited = tool_calls.map(({ id }) => id);
  }
  expect(awaited).toEqual([]);
}
