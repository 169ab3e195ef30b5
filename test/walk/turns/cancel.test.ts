// Stopping a turn at any moment: while it streams, runs a tool, waits for an approval or for a retry.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { type ScriptedAnswer } from '../../support/models/scriptedServer.ts';
import { runs } from '../../support/runs.ts';
import { eachMoment } from '../../support/walk/turnMoments.ts';
import { beginWalk, type Walked } from '../../support/walk/walking.ts';

const SCRIPT: readonly ScriptedAnswer[] = [
  { refuse: { status: 503, message: 'loading' } },
  {
    reasoning: ['Let me', ' look.'],
    text: ['I look', ' at two', ' things.'],
    calls: [
      { id: '', name: 'read_file', arguments: { path: 'a.txt' } },
      { id: '', name: 'run_command', arguments: { command: 'echo one; sleep 0.01; echo two' } },
    ],
  },
  { text: ['And'], calls: [{ id: '', name: 'list_files', arguments: {} }] },
  { text: ['That', ' is', ' all.'] },
];
const RUNS = runs(25, 200);

interface WireMessage {
  readonly role: string;
  readonly content: unknown;
  readonly tool_calls?: readonly { readonly id: string }[];
  readonly tool_call_id?: string;
}

/** Runs one turn in a new conversation and stops it at this moment. */
async function stopAt(walk: Walked, moment: number): Promise<{ log: Walked['log']; moments: number }> {
  const { earshot } = walk.headless;
  walk.server.restart(...SCRIPT);
  const opened = await earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  const { log } = opened.value;
  let stopped: Promise<void> | undefined;
  const end = eachMoment(walk, log, (now) => {
    if (now === moment) stopped = earshot.stop(log.id);
  });
  await earshot.send(log.id, 'Look.');
  await earshot.settled(log.id);
  await stopped;
  return { log, moments: end() };
}

test(`the log opens, replays and can be continued after a stop at any of ${RUNS} random moments`, async () => {
  const walk = await beginWalk([]);
  const { earshot } = walk.headless;
  const whole = await stopAt(walk, -1);
  expect(whole.log.state.transcript.items.at(-1)).toMatchObject({ type: 'answer', text: 'That is all.' });
  const outcomes = new Set<string>();
  const check = async (moment: number) => {
    const { log } = await stopAt(walk, moment);
    const before = log.state.transcript.items;
    await earshot.close(log.id);

    const again = await earshot.open(log.id);
    if (!again.ok) throw new Error(again.failure.message);
    const reopened = again.value.log;
    expect(reopened.damage).toEqual([]);
    expect(reopened.state.turn).toMatchObject({ isOpen: false, unanswered: [] });
    expect(reopened.state.transcript.items).toEqual(before);
    outcomes.add(await lastOutcome(walk, log.id));

    const sent = walk.server.requests.length;
    walk.server.restart({ text: ['Here I am.'] });
    await earshot.send(log.id, 'Go on.');
    await earshot.settled(log.id);
    expect(reopened.state.transcript.items.at(-1)).toMatchObject({ type: 'answer', text: 'Here I am.' });
    const { messages } = JSON.parse(walk.server.requests[sent]?.body ?? '') as { messages: WireMessage[] };
    expectWellFormed(messages);
    await earshot.close(log.id);
  };
  await fc.assert(fc.asyncProperty(fc.integer({ min: 0, max: whole.moments - 1 }), check), { numRuns: RUNS });
  // Both cases occurred: some stops were in time, the last ones too late.
  expect(outcomes).toContain('stopped');
  expect(walk.headless.errors).toEqual([]);
}, 600_000);

async function lastOutcome({ headless }: Walked, id: string): Promise<string> {
  const lines = (await headless.events(id)).trimEnd().split('\n');
  const events = lines.map((line) => JSON.parse(line) as LogEvent);
  expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
  const ends = events.filter((event) => event.type === 'turn_ended');
  expect(ends).toHaveLength(1);
  return ends[0]?.outcome ?? '';
}

/** Checks a rule of every endpoint: each call is followed by exactly one result. */
function expectWellFormed(messages: readonly WireMessage[]): void {
  let awaited: string[] = [];
  for (const { role, tool_calls = [], tool_call_id = '' } of messages) {
    if (role === 'tool') {
      expect(awaited).toContain(tool_call_id);
      awaited = awaited.filter((id) => id !== tool_call_id);
      continue;
    }
    expect(awaited).toEqual([]);
    awaited = tool_calls.map(({ id }) => id);
  }
  expect(awaited).toEqual([]);
}
