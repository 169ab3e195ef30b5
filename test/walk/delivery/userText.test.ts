// Messages written during a turn: queued or interrupting, never lost, never filtered, never an approval.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  begin,
  done,
  eventsOf,
  handleEnded,
  headChanged,
  holdApproval,
  makePipe,
  nextEvent,
  occurrences,
  publish,
  run,
  streamed,
} from '../../support/walk/deliveryWalks.ts';
import { beginWalk, type Walked } from '../../support/walk/walking.ts';

const golden = (name: string) => `./golden/${name}.golden.txt`;
const all = { settings: { 'approvals.mode': 'all' } };

const texts = (walk: Walked) => walk.log.state.pending.queuedMessages.map(({ content }) => content);

describe('a queued message', () => {
  test('is delivered after the next tool result, apart from the block', async () => {
    const walk = await beginWalk([{ calls: [run('a', 'cat pipe')] }, done], all);
    const { earshot, frontend } = walk.headless;
    const pipe = makePipe(walk, 'pipe');
    const started = frontend.nextDrawn('tool_started');
    await begin(walk);
    await started;
    await publish(walk, headChanged('switched to main'));
    expect(await earshot.queue(walk.id, 'Also look at b.txt.')).toEqual({ ok: true, value: 'queued' });
    expect(texts(walk)).toEqual(['Also look at b.txt.']);
    await pipe.end();
    await earshot.settled(walk.id);
    expect(texts(walk)).toEqual([]);
    expect(walk.log.state.transcript.items.map((item) => ('meanwhile' in item ? item.text : item.type))).toEqual([
      'request',
      'tool',
      'Also look at b.txt.',
      'answer',
    ]);
    await walk.golden(golden('queued-with-tool-result'));
  });

  test('written while the last answer streams begins a user turn at once, with what is pending', async () => {
    const walk = await beginWalk([{ text: ['I am', ' almost'], hang: true }, done]);
    const { earshot } = walk.headless;
    await begin(walk);
    await streamed(walk);
    await earshot.queue(walk.id, 'First more.');
    await publish(walk, headChanged('switched to main'));
    await earshot.queue(walk.id, 'Second more.');
    walk.server.release();
    await earshot.settled(walk.id);
    await walk.golden(golden('queued-while-last-answer'));
  });

  test('returns to the composer after a stop, and the next request does not contain it', async () => {
    const walk = await beginWalk([{ calls: [run('a', 'cat pipe')] }, done], all);
    const { earshot, frontend } = walk.headless;
    makePipe(walk, 'pipe');
    const started = frontend.nextDrawn('tool_started');
    await begin(walk);
    await started;
    const attachments = [{ type: 'file_content', path: 'a.txt', content: 'one' }] as const;
    await earshot.queue(walk.id, 'And this.', { attachments });
    await earshot.stop(walk.id);
    expect(frontend.returned).toMatchObject([{ content: 'And this.', attachments }]);
    await walk.go('Now something else.');
    expect(occurrences(walk, 1, 'And this.')).toBe(0);
    await walk.golden(golden('queued-stopped'));
  });

  test('stays in the log without a front end and is delivered with the next request', async () => {
    const walk = await beginWalk([{ text: ['I am'], hang: true }, done]);
    const { earshot, frontend } = walk.headless;
    frontend.keepsReturned = false;
    await begin(walk);
    await streamed(walk);
    await earshot.queue(walk.id, 'And this.');
    await earshot.stop(walk.id);
    await walk.go('Go on.');
    expect(walk.messages(1).slice(-2)).toEqual([
      { role: 'user', content: 'Go on.' },
      { role: 'user', content: 'And this.' },
    ]);
    await walk.golden(golden('queued-without-front-end'));
  });

  test('returns to the composer when the conversation is opened after a restart', async () => {
    const walk = await beginWalk([{ calls: [run('a', 'cat pipe')] }], all);
    makePipe(walk, 'pipe');
    const started = walk.headless.frontend.nextDrawn('tool_started');
    await begin(walk);
    await started;
    await walk.headless.earshot.queue(walk.id, 'Every word.');
    const next = await walk.headless.restart();
    try {
      await next.earshot.open(walk.id);
      expect(next.frontend.returned).toMatchObject([{ content: 'Every word.' }]);
      expect(next.earshot.get(walk.id)?.log.state.pending.queuedMessages).toEqual([]);
      await walk.golden(golden('queued-window-closed'), { headless: next });
    } finally {
      await next.earshot.shutDown();
    }
  });

  test('longer than any cap is delivered whole, regardless of budget and settings', async () => {
    const settings = { 'approvals.mode': 'all', 'notifications.enable': false, 'notifications.tokenBudget': 300 };
    const walk = await beginWalk([{ calls: [run('a', 'cat pipe')] }, done], { settings });
    const { earshot, frontend } = walk.headless;
    const pipe = makePipe(walk, 'pipe');
    const started = frontend.nextDrawn('tool_started');
    await begin(walk);
    await started;
    const long = `${'漢字 and more <b>]]> '.repeat(2000)}the end`;
    await earshot.queue(walk.id, long);
    await pipe.end();
    await earshot.settled(walk.id);
    const [response] = await eventsOf(walk, 'tool_call_response');
    expect(response?.notifications).toMatchObject({ text: '', user: [long] });
    expect(walk.messages(1).at(-1)).toEqual({ role: 'user', content: long });
    await walk.golden(golden('queued-long'));
  });

  test('with an image stores the bytes by their hash and sends them after the result', async () => {
    const walk = await beginWalk([{ calls: [run('a', 'cat pipe')] }, done, done], all);
    const { earshot, frontend } = walk.headless;
    const pipe = makePipe(walk, 'pipe');
    const started = frontend.nextDrawn('tool_started');
    await begin(walk);
    await started;
    const bytes = Buffer.from('89504e470d0a1a0a', 'hex');
    const image = { type: 'image', mediaType: 'image/png', bytes, name: 'shot.png' } as const;
    await earshot.queue(walk.id, 'Like this:', { attachments: [image] });
    await pipe.end();
    await earshot.settled(walk.id);
    const url = `data:image/png;base64,${bytes.toString('base64')}`;
    expect(walk.messages(1).at(-1)).toEqual({
      role: 'user',
      content: [
        { type: 'text', text: 'Like this:\n\nAttached image: shot.png' },
        { type: 'image_url', image_url: { url } },
      ],
    });
    await walk.go('Thanks.');
    expect(walk.server.requests[2]?.body.split(url)).toHaveLength(2);
    await walk.golden(golden('queued-image'));
  });

  test('can be withdrawn until it is carried, and not after', async () => {
    const walk = await beginWalk([{ calls: [run('a', 'cat pipe')] }, done], all);
    const { earshot, frontend } = walk.headless;
    const pipe = makePipe(walk, 'pipe');
    const started = frontend.nextDrawn('tool_started');
    await begin(walk);
    await started;
    await earshot.queue(walk.id, 'One.');
    await earshot.queue(walk.id, 'Two.');
    const [one, two] = walk.log.state.pending.queuedMessages;
    expect(await earshot.withdrawMessage(walk.id, one?.id ?? '')).toMatchObject({
      ok: true,
      value: { content: 'One.' },
    });
    await pipe.end();
    await earshot.settled(walk.id);
    expect(await earshot.withdrawMessage(walk.id, two?.id ?? '')).toMatchObject({
      ok: false,
      failure: { code: 'carried' },
    });
    expect([occurrences(walk, 1, 'One.'), occurrences(walk, 1, 'Two.')]).toEqual([0, 1]);
    await walk.golden(golden('queued-withdrawn'));
  });

  test('does not answer an open approval and is delivered after it', async () => {
    const walk = await beginWalk([{ calls: [run('a', 'echo one')] }, done]);
    const { earshot } = walk.headless;
    const held = holdApproval(walk);
    await begin(walk);
    const answer = await held;
    await earshot.queue(walk.id, 'Yes, approve. Approved! y');
    expect(await earshot.interrupt(walk.id, 'Approve it.')).toMatchObject({
      ok: false,
      failure: { code: 'asked' },
    });
    expect(await eventsOf(walk, 'approval')).toEqual([]);
    answer({ action: 'reject', reason: 'not now' });
    await earshot.settled(walk.id);
    await walk.golden(golden('queued-approval-open'));
  });

  test('starts a turn if no turn is running any more', async () => {
    const walk = await beginWalk([done]);
    expect(await walk.headless.earshot.queue(walk.id, 'Hello.')).toEqual({ ok: true, value: 'started' });
    await walk.headless.earshot.settled(walk.id);
    expect(walk.messages(0)).toEqual([{ role: 'user', content: 'Hello.' }]);
    await walk.golden(golden('queued-idle'));
  });
});

describe('an interrupting message', () => {
  test('before the first token leaves no answer, and the request follows', async () => {
    const walk = await beginWalk([{ hang: true }, done]);
    await begin(walk);
    await walk.server.request(0);
    await walk.headless.earshot.interrupt(walk.id, 'Wait, something else.');
    await walk.headless.earshot.settled(walk.id);
    await walk.golden(golden('interrupt-before-first-token'));
  });

  test('during a call’s arguments keeps the text as truncated and drops the call', async () => {
    const half = { index: 0, id: 'a', type: 'function', function: { name: 'run_command', arguments: '{"comm' } };
    const chunk = { choices: [{ index: 0, delta: { tool_calls: [half] }, finish_reason: null }] };
    const walk = await beginWalk([
      { text: ['I will run', ' it.'], raw: `data: ${JSON.stringify(chunk)}\n\n`, hang: true },
      done,
    ]);
    await begin(walk);
    await streamed(walk, ' it.');
    await publish(walk, headChanged('switched to main'));
    await walk.headless.earshot.interrupt(walk.id, 'No, do not run it.');
    await walk.headless.earshot.settled(walk.id);
    await walk.golden(golden('interrupt-in-arguments'));
  });

  test('during tool calls cancels them, and the request follows with all that is pending', async () => {
    const walk = await beginWalk([{ calls: [run('a', 'cat pipe'), run('b', 'echo quick')] }, done], all);
    const { earshot } = walk.headless;
    makePipe(walk, 'pipe');
    const quick = nextEvent(walk.log, 'tool_call_response', ({ id }) => id === 'b');
    await begin(walk);
    await quick;
    await publish(walk, headChanged('switched to main'));
    await earshot.queue(walk.id, 'Before.');
    await earshot.interrupt(walk.id, 'Enough of that.');
    await earshot.settled(walk.id);
    await walk.golden(golden('interrupt-tools'));
  });

  test('during a retry wait does not shorten it and is part of the retry', async () => {
    const walk = await beginWalk([
      { refuse: { status: 429, message: 'slow down', headers: { 'retry-after': '7' } } },
      done,
    ]);
    const { earshot, frontend } = walk.headless;
    const retrying = frontend.nextDrawn('retrying');
    await begin(walk);
    await retrying;
    await earshot.interrupt(walk.id, 'Never mind.');
    walk.clock.advance(6999);
    expect(walk.server.requests).toHaveLength(1);
    walk.clock.advance(1);
    await earshot.settled(walk.id);
    await walk.golden(golden('interrupt-rate-limited'));
  });

  test('sent twice and then stopped is neither lost nor sent', async () => {
    const walk = await beginWalk([{ hang: true }, { hang: true }]);
    const { earshot, frontend } = walk.headless;
    await begin(walk);
    await walk.server.request(0);
    await earshot.interrupt(walk.id, 'One.');
    await walk.server.request(1);
    await earshot.queue(walk.id, 'Two.');
    await earshot.stop(walk.id);
    expect(frontend.returned.map(({ content }) => content)).toEqual(['Two.']);
    expect(walk.messages(1)).toEqual([
      { role: 'user', content: 'Hello.' },
      { role: 'user', content: 'One.' },
    ]);
    await walk.golden(golden('interrupt-then-stopped'));
  });
});

test('an endpoint without image support gets a text instead, and that is remembered', async () => {
  const walk = await beginWalk([done, done]);
  walk.server.refuseIf((body) =>
    JSON.stringify(body).includes('image_url') ? { status: 400, message: 'image input is not supported' } : undefined,
  );
  const image = { type: 'image', mediaType: 'image/png', bytes: Buffer.from('x'), name: 'shot.png' } as const;
  await walk.headless.earshot.send(walk.id, 'Look.', { attachments: [image] });
  await walk.headless.earshot.settled(walk.id);
  await walk.go('And?');
  const content = 'Look.\n\nAttached image: shot.png\n\n(shot.png is not shown: this model takes no images.)';
  expect(walk.messages(1)).toEqual([{ role: 'user', content }]);
  expect(walk.server.requests).toHaveLength(3);
});

test('a mentioned file stays in its place in the sentence, is attached whole and counts as seen', async () => {
  const walk = await beginWalk([done]);
  await writeFile(join(walk.headless.folder, 'a.txt'), 'one ``` two\n');
  await walk.headless.earshot.send(walk.id, 'Compare @a.txt with b.', {
    attachments: [{ type: 'file', path: 'a.txt' }],
  });
  await walk.headless.earshot.settled(walk.id);
  const content = 'Compare @a.txt with b.\n\nAttached: a.txt\n````\none ``` two\n\n````';
  expect(walk.messages(0)).toEqual([{ role: 'user', content }]);
  const hash = walk.headless.ports.snapshots.hash(Buffer.from('one ``` two\n'));
  expect(walk.log.state.seen.get('a.txt')).toEqual({ hash });
  expect(await walk.headless.ports.snapshots.get(hash)).toBeDefined();
});

test('a file that cannot be attached is named, and nothing changes', async () => {
  const walk = await beginWalk([]);
  const { earshot } = walk.headless;
  const before = await walk.headless.events(walk.id);
  const svg = { type: 'image', mediaType: 'image/svg+xml', bytes: Buffer.from('<svg/>'), name: 'a.svg' } as const;
  expect(await earshot.send(walk.id, 'Look.', { attachments: [svg] })).toMatchObject({
    ok: false,
    failure: {
      code: 'image_type',
      message: expect.stringContaining('attachments.0: a.svg is image/svg+xml') as string,
    },
  });
  const missing = { type: 'file', path: 'nowhere.txt' } as const;
  expect(await earshot.queue(walk.id, 'Look.', { attachments: [missing] })).toMatchObject({
    ok: false,
    failure: { message: expect.stringContaining('nowhere.txt') as string },
  });
  expect(await walk.headless.events(walk.id)).toBe(before);
});

test('a handle that ends while a message is queued does not wake the model before it', async () => {
  const walk = await beginWalk([{ text: ['One'], hang: true }, done]);
  const { earshot } = walk.headless;
  await begin(walk);
  await streamed(walk);
  await publish(walk, handleEnded(walk, 'build'));
  await earshot.queue(walk.id, 'What now?');
  walk.server.release();
  await earshot.settled(walk.id);
  expect((await eventsOf(walk, 'turn_started')).map(({ source }) => source)).toEqual(['user', 'user']);
  await walk.golden(golden('queued-before-handle-ended'));
});
