// Critical notifications: what they interrupt, what they do not interrupt, and their limits.
import { describe, expect, test } from 'vitest';
import { ABORT_EVERY, MOST_IN_A_ROW } from '../../../src/core/notify/activation.ts';
import {
  begin,
  callOutcomes,
  done,
  eventsOf,
  headChanged,
  holdApproval,
  holdQuestion,
  makePipe,
  nextEvent,
  occurrences,
  publish,
  run,
  streamed,
} from '../../support/walk/deliveryWalks.ts';
import { beginWalk, type Walked, type WalkOptions } from '../../support/walk/walking.ts';

const golden = (name: string) => `./golden/${name}.golden.txt`;
const critical = { 'notifications.levels': { 'git.head_changed': 'critical' } };
const options = (more: object = {}): WalkOptions => ({ settings: { ...critical, ...more } });
const switched = (name = 'main') => headChanged(`switched to ${name}`, { subject: `git:${name}` });

const heldBack = ({ headless, id }: Walked) => headless.earshot.get(id)?.heldBack;
const sources = async (walk: Walked) => (await eventsOf(walk, 'chat_request')).map(({ source }) => source);

test('while idle, a critical notification starts a system turn at once', async () => {
  const walk = await beginWalk([done, done], options());
  await walk.go();
  await publish(walk, switched());
  await walk.headless.earshot.settled(walk.id);
  expect(walk.log.state.usage.woken).toMatchObject({ input: 100, output: 10 });
  await walk.golden(golden('critical-idle'));
});

describe('streaming', () => {
  test('the answer is interrupted and kept, and the system request follows at once', async () => {
    const walk = await beginWalk([{ text: ['I think', ' that'], hang: true }, done], options());
    await begin(walk);
    await streamed(walk, ' that');
    await publish(walk, switched());
    await walk.headless.earshot.settled(walk.id);
    await walk.golden(golden('critical-streaming'));
  });

  test('an interruption does not use up retries', async () => {
    const busy = { refuse: { status: 503, message: 'loading' } };
    const walk = await beginWalk([busy, busy, { text: ['I'], hang: true }, busy, busy, busy, busy, done], options());
    const ended = walk.go();
    await streamed(walk, 'I');
    await publish(walk, switched());
    await ended;
    expect(await callOutcomes(walk)).toEqual([
      ...['failed', 'failed', 'aborted'],
      ...['failed', 'failed', 'failed', 'failed', 'succeeded'],
    ]);
    expect((await eventsOf(walk, 'turn_ended')).map(({ outcome }) => outcome)).toEqual(['done']);
    await walk.golden(golden('critical-keeps-retries'));
  });

  test('a second interruption within 30 s is held with a visible reason and delivered after that time', async () => {
    const walk = await beginWalk([{ text: ['I'], hang: true }, { text: ['Again'], hang: true }, done], options());
    await begin(walk);
    await walk.server.request(0);
    await streamed(walk);
    await publish(walk, switched('one'));
    await walk.server.request(1);
    await streamed(walk, 'Again');
    await publish(
      walk,
      headChanged('tool is critical too', { kind: { source: 'git', name: 'head_changed' }, subject: 'git:two' }),
    );
    expect(heldBack(walk)).toBe('aborted_lately');
    expect(walk.server.requests).toHaveLength(2);
    walk.clock.advance(ABORT_EVERY);
    await walk.headless.earshot.settled(walk.id);
    expect(heldBack(walk)).toBeUndefined();
    expect(walk.server.requests).toHaveLength(3);
    expect(await sources(walk)).toEqual(['user', 'system', 'system']);
    await walk.golden(golden('critical-twice-streaming'));
  });

  test('an interruption before the first token leaves no answer', async () => {
    const walk = await beginWalk([{ hang: true }, done], options());
    await begin(walk);
    await walk.server.request(0);
    await publish(walk, switched());
    await walk.headless.earshot.settled(walk.id);
    expect(walk.messages(1)).toMatchObject([{ role: 'user' }, { role: 'user' }]);
    expect(occurrences(walk, 1, 'switched to main')).toBe(1);
    await walk.golden(golden('critical-before-first-token'));
  });
});

test('while tools run, it is delivered with their result and interrupts nothing', async () => {
  const walk = await beginWalk([{ calls: [run('a', 'cat pipe')] }, done], options({ 'approvals.mode': 'all' }));
  const pipe = makePipe(walk, 'pipe');
  const started = walk.headless.frontend.nextDrawn('tool_started');
  await begin(walk);
  await started;
  await publish(walk, switched());
  await pipe.end();
  await walk.headless.earshot.settled(walk.id);
  await walk.golden(golden('critical-tools'));
});

test('with an approval open, it stays pending, approves nothing, and is delivered with the result', async () => {
  const walk = await beginWalk([{ calls: [run('a', 'echo one')] }, done], options());
  const held = holdApproval(walk);
  await begin(walk);
  const answer = await held;
  await publish(walk, switched());
  expect(walk.server.requests).toHaveLength(1);
  expect(walk.log.state.turn.unanswered).toHaveLength(1);
  answer({ action: 'approve' });
  await walk.headless.earshot.settled(walk.id);
  await walk.golden(golden('critical-approval-open'));
});

test('with a question open, it stays pending, answers nothing, and is delivered with the result', async () => {
  const calls = [{ id: 'a', name: 'ask_user', arguments: { question: 'Which one?' } }];
  const walk = await beginWalk([{ calls }, done], options());
  const held = holdQuestion(walk);
  await begin(walk);
  const answer = await held;
  await publish(walk, switched());
  expect(await walk.headless.earshot.interrupt(walk.id, 'This one.')).toMatchObject({ failure: { code: 'asked' } });
  expect(walk.server.requests).toHaveLength(1);
  answer('the left one');
  await walk.headless.earshot.settled(walk.id);
  await walk.golden(golden('critical-question-open'));
});

test('after five system turns in a row the next is held with a visible reason; a message of the user resets the count', async () => {
  const answers = Array.from({ length: MOST_IN_A_ROW + 3 }, () => done);
  const walk = await beginWalk(answers, options());
  const { earshot } = walk.headless;
  await walk.go();
  for (let number = 0; number < MOST_IN_A_ROW; number++) {
    const ended = nextEvent(walk.log, 'turn_ended');
    await publish(walk, switched(`b${number}`));
    walk.clock.advance(600_000);
    await ended;
    await earshot.settled(walk.id);
  }
  await publish(walk, switched('last'));
  walk.clock.advance(3_600_000);
  expect(heldBack(walk)).toBe('in_a_row');
  expect(walk.server.requests).toHaveLength(MOST_IN_A_ROW + 1);
  await walk.go('Go on.');
  expect(heldBack(walk)).toBeUndefined();
  expect(occurrences(walk, MOST_IN_A_ROW + 1, 'switched to last')).toBe(1);
  const woken = nextEvent(walk.log, 'turn_started');
  await publish(walk, switched('again'));
  expect(await woken).toMatchObject({ source: 'system' });
  await earshot.settled(walk.id);
  await walk.golden(golden('critical-five-in-a-row'));
});

test('during a rate-limit wait it does not shorten the wait and is part of the retry', async () => {
  const limited = { refuse: { status: 429, message: 'slow down', headers: { 'retry-after': '20' } } };
  const walk = await beginWalk([limited, done], options());
  const retrying = walk.headless.frontend.nextDrawn('retrying');
  await begin(walk);
  await retrying;
  await publish(walk, switched());
  walk.clock.advance(19_999);
  expect(walk.server.requests).toHaveLength(1);
  walk.clock.advance(1);
  await walk.headless.earshot.settled(walk.id);
  await walk.golden(golden('critical-rate-limited'));
});

test('in a conversation that is not shown it is delivered there without disturbing the other', async () => {
  const walk = await beginWalk([done, { text: ['Second'], hang: true }, done, done], options());
  const { earshot } = walk.headless;
  await walk.go();
  const other = await earshot.create();
  if (!other.ok) throw new Error(other.failure.message);
  await earshot.send(other.value.log.id, 'Work here.');
  await walk.server.request(1);
  const draft = headChanged('for the first only', { kind: { source: 'git', name: 'head_changed' } });
  const ended = nextEvent(walk.log, 'turn_ended');
  await earshot.publish(draft, walk.id);
  await ended;
  expect(earshot.get(other.value.log.id)?.running).toBe(true);
  expect(await sources(walk)).toEqual(['user', 'system']);
  walk.server.release();
  await earshot.settled(other.value.log.id);
  const [second] = other.value.log.state.messages.all;
  expect(second).toEqual({ role: 'user', content: 'Work here.' });
  await walk.golden(golden('critical-not-shown'), { others: [other.value.log.id] });
});

/** Of each request in the transcript: whether the user caused it by *Deliver Now*. */
function forced({ log }: Walked) {
  return log.state.transcript.items.flatMap((item) => (item.type === 'request' ? [item.forced] : []));
}

describe('Deliver now', () => {
  test('while idle delivers pending notifications in a turn of the user, regardless of limits', async () => {
    const walk = await beginWalk([{ text: ['I'], hang: true }, done], {
      settings: { 'notifications.activation': 'passive' },
    });
    const { earshot } = walk.headless;
    await begin(walk);
    await streamed(walk);
    await earshot.stop(walk.id);
    await publish(walk, switched());
    expect(earshot.get(walk.id)?.running).toBe(false);
    expect(await earshot.deliverNow(walk.id)).toEqual({ ok: true, value: undefined });
    await earshot.settled(walk.id);
    expect(walk.log.state.usage.woken).toMatchObject({ input: 0, output: 0, cached: 0, written: 0, cost: 0 });
    expect(forced(walk)).toEqual([undefined, true]);
    await walk.golden(golden('deliver-now'));
  });

  test('while streaming interrupts, even right after another interruption; with nothing pending it says so', async () => {
    const walk = await beginWalk([{ text: ['I'], hang: true }, { text: ['Again'], hang: true }, done], options());
    const { earshot } = walk.headless;
    await begin(walk);
    await streamed(walk);
    expect(await earshot.deliverNow(walk.id)).toMatchObject({ ok: false, failure: { code: 'nothing_pending' } });
    await publish(walk, switched('one'));
    await walk.server.request(1);
    await streamed(walk, 'Again');
    await publish(walk, headChanged('not critical', { kind: { source: 'file', name: 'workspace' }, level: 'info' }));
    expect(await earshot.deliverNow(walk.id)).toMatchObject({ ok: true });
    await earshot.settled(walk.id);
    expect(occurrences(walk, 2, 'not critical')).toBe(1);
    // The first interruption was made by a critical notification.
    expect(forced(walk)).toEqual([undefined, undefined, true]);
    await walk.golden(golden('deliver-now-streaming'));
  });
});
