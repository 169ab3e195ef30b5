// Every kind of endpoint failure, end to end: the log, the requests, and what the user saw.
import { describe, expect, test } from 'vitest';
import { type ScriptedAnswer } from '../../support/models/scriptedServer.ts';
import { beginWalk, type Walked } from '../../support/walk/walking.ts';

const golden = (name: string) => `./golden/${name}.golden.txt`;

async function eventsOf({ headless, id }: Walked) {
  const lines = (await headless.events(id)).trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as { readonly type: string });
}

const hello: ScriptedAnswer = { text: ['Hello', ' there.'] };

describe('a transient failure is retried visibly', () => {
  test.each([
    ['408', { refuse: { status: 408, message: 'timed out' } }],
    ['409', { refuse: { status: 409, message: 'conflict' } }],
    ['429', { refuse: { status: 429, message: 'slow down' } }],
    ['500', { refuse: { status: 500, message: 'broken' } }],
    ['503', { refuse: { status: 503, message: 'loading the model' } }],
    ['connection-reset', { reset: true }],
    ['cut-before-any-output', { cut: true }],
    ['broken-before-any-output', { broken: true }],
    ['malformed-before-any-output', { raw: 'data: {"choices":[{"delta":{"content":"He\n\n' }],
    ['error-in-the-stream', { raw: 'data: {"error":{"message":"upstream died","code":502}}\n\n' }],
  ] satisfies [string, ScriptedAnswer][])('%s', async (name, fault) => {
    const walk = await beginWalk([fault, fault, hello]);
    await walk.go();
    expect(walk.server.requests).toHaveLength(3);
    await walk.golden(golden(`retried-${name}`));
  });

  test('Retry-After takes precedence over our own delay', async () => {
    const refuse = { status: 429, message: 'slow down', headers: { 'retry-after': '7' } };
    const walk = await beginWalk([{ refuse }, { refuse: { ...refuse, headers: { 'retry-after-ms': '2500' } } }, hello]);
    await walk.go();
    await walk.golden(golden('retry-after'));
  });

  test('a Retry-After of an hour ends the turn with a message instead of waiting', async () => {
    const walk = await beginWalk([
      { refuse: { status: 429, message: 'slow down', headers: { 'retry-after': '3600' } } },
    ]);
    await walk.go();
    expect(walk.server.requests).toHaveLength(1);
    await walk.golden(golden('retry-after-an-hour'));
  });

  test('five failed attempts end the turn', async () => {
    const walk = await beginWalk(Array.from({ length: 6 }, () => ({ refuse: { status: 503, message: 'overloaded' } })));
    await walk.go();
    expect(walk.server.requests).toHaveLength(5);
    await walk.golden(golden('retried-five-times'));
  });
});

describe('an answer without text and calls is repeated once, at once', () => {
  test.each([
    ['empty', {}],
    ['reasoning-only', { reasoning: ['Let me see.'] }],
  ] satisfies [string, ScriptedAnswer][])('%s', async (name, empty) => {
    const walk = await beginWalk([empty, hello, empty, empty]);
    await walk.go();
    expect(walk.server.requests).toHaveLength(2);
    expect(walk.server.requests[1]?.body).toBe(walk.server.requests[0]?.body);
    // If it is empty again, the user is notified.
    await walk.go('Once more.');
    expect(walk.server.requests).toHaveLength(4);
    await walk.golden(golden(`repeated-${name}`));
  });

  test('not if the model reached its limit', async () => {
    const walk = await beginWalk([{ reasoning: ['Let me see'], finish: 'length' }]);
    await walk.go();
    expect(walk.server.requests).toHaveLength(1);
    await walk.golden(golden('reasoning-until-the-limit'));
  });
});

describe('the finish reason', () => {
  test.each(['content_filter', 'sensitive'])(
    '%s is a refusal that the user sees, and is not retried',
    async (finish) => {
      const walk = await beginWalk([{ text: ['I'], finish }]);
      await walk.go();
      expect(await eventsOf(walk)).toContainEqual(
        expect.objectContaining({
          type: 'turn_ended',
          failure: expect.objectContaining({ code: 'content_refused' }) as object,
        }),
      );
      expect(walk.server.requests).toHaveLength(1);
    },
  );

  test.each(['error', 'network_error'])('%s before any output is retried', async (finish) => {
    const walk = await beginWalk([{ finish }, hello]);
    await walk.go();
    expect(await eventsOf(walk)).toContainEqual(expect.objectContaining({ type: 'turn_ended', outcome: 'done' }));
    expect(walk.server.requests).toHaveLength(2);
  });

  test.each([
    ['length', { prompt_tokens: 127_990, completion_tokens: 0 }],
    ['model_context_window_exceeded', { prompt_tokens: 10, completion_tokens: 0 }],
  ])('%s without output in a full window compacts the conversation', async (finish, usage) => {
    const walk = await beginWalk([hello, hello, { finish, usage }, { text: ['A summary.'] }, hello]);
    await walk.go();
    await walk.go();
    await walk.go('More.');
    const types = (await eventsOf(walk)).map(({ type }) => type);
    expect(types.filter((type) => type === 'compaction')).toHaveLength(1);
    expect(walk.server.requests).toHaveLength(5);
  });

  test.each(['end', 'function_call', 'eos'])('%s is a normal end', async (finish) => {
    const walk = await beginWalk([{ text: ['Hello.'], finish }]);
    await walk.go();
    expect(await eventsOf(walk)).toContainEqual(expect.objectContaining({ type: 'turn_ended', outcome: 'done' }));
  });
});

describe('a failure after shown output keeps the output and is not retried', () => {
  test.each([
    ['cut', { text: ['Half an'], cut: true }],
    ['broken', { text: ['Half', ' an'], broken: true }],
    ['broken-after-reasoning', { reasoning: ['Let me see'], broken: true }],
    ['too-large', { text: ['Half an'], raw: `data: ${'x'.repeat(17 * 1024 * 1024)}` }],
    ['malformed', { text: ['Half an'], raw: 'data: not json\n\n' }],
    ['error', { text: ['Half an'], raw: 'data: {"error":{"message":"upstream died"}}\n\n' }],
    ['cut-after-reasoning', { reasoning: ['Let me see'], cut: true }],
  ] satisfies [string, ScriptedAnswer][])('%s', async (name, fault) => {
    const walk = await beginWalk([fault, hello]);
    await walk.go();
    expect(walk.server.requests).toHaveLength(1);
    // The user continues, and the model sees its earlier output.
    await walk.go('Go on.');
    await walk.golden(golden(`shown-${name}`));
  });
});

describe('a permanent failure is shown at once with the next step', () => {
  test.each([
    ['400', { refuse: { status: 400, message: 'messages: bad' } }],
    ['401', { refuse: { status: 401, message: 'no such key' } }],
    ['403', { refuse: { status: 403, message: 'not for you' } }],
    ['404', { refuse: { status: 404, message: 'no such model' } }],
    ['no-quota', { refuse: { status: 429, message: 'pay first', code: 'insufficient_quota' } }],
  ] satisfies [string, ScriptedAnswer][])('%s', async (name, fault) => {
    const walk = await beginWalk([fault, fault]);
    await walk.go();
    await walk.golden(golden(`refused-${name}`));
  });
});

test('a stream event that is too large is reported and not retried, even if no output was shown', async () => {
  const walk = await beginWalk([{ raw: `data: ${'x'.repeat(17 * 1024 * 1024)}\n\n` }, hello]);
  await walk.go();
  expect(walk.server.requests).toHaveLength(1);
  await walk.golden(golden('refused-too-large'));
});

test('an endless answer is cut off and not retried; its text is kept, its calls are not', async () => {
  const text = 'word '.repeat(200_000);
  const walk = await beginWalk([
    { text: Array.from({ length: 6 }, () => text), calls: [{ id: 'c', name: 'list_files', arguments: {} }] },
    hello,
  ]);
  await walk.go();
  expect(walk.server.requests).toHaveLength(1);
  const events = await eventsOf(walk);
  expect(events.find(({ type }) => type === 'chat_response')).toMatchObject({
    message: text.repeat(4),
    truncated: true,
  });
  expect(events.find(({ type }) => type === 'tool_call_request')).toBeUndefined();
  const failure = { code: 'answer_too_long', message: expect.stringContaining('4,194,304 characters') as unknown };
  expect(events.at(-1)).toMatchObject({ type: 'turn_ended', outcome: 'error', failure });
});

test('endless arguments are cut off', async () => {
  const input = JSON.stringify({ path: 'x'.repeat(5_000_000) });
  const walk = await beginWalk([{ calls: [{ id: 'c', name: 'list_files', arguments: input }] }]);
  await walk.go();
  expect(walk.server.requests).toHaveLength(1);
  const events = await eventsOf(walk);
  expect(events.map(({ type }) => type)).not.toContain('tool_call_request');
  expect(events.at(-1)).toMatchObject({ type: 'turn_ended', failure: { code: 'answer_too_long' } });
});

test('an idle stream times out and is retried if no output was shown', async () => {
  const walk = await beginWalk([{ hang: true }, hello], { settings: { idleTimeout: 60 } });
  const { headless, server, clock, id } = walk;
  const retrying = headless.frontend.nextDrawn('retrying');
  await headless.earshot.send(id, 'Hello.');
  await server.request(0);
  clock.advance(59_000);
  expect(server.requests).toHaveLength(1);
  clock.advance(1_000);
  const { seconds } = await retrying;
  await Promise.resolve();
  clock.advance(seconds * 1000);
  await headless.earshot.settled(id);
  await walk.golden(golden('idle'));
});

test('an answer that reached its token limit is kept and marked as truncated', async () => {
  const walk = await beginWalk([{ text: ['As long as it'], finish: 'length' }]);
  await walk.go();
  await walk.golden(golden('limit'));
});

test('retry after a refused request sends the same messages again in a new turn', async () => {
  const walk = await beginWalk([{ refuse: { status: 401, message: 'no key' } }, hello]);
  await walk.go();
  const { headless, id, server } = walk;
  expect(headless.earshot.get(id)?.log.state.transcript.items.at(-1)).toMatchObject({
    type: 'notice',
    action: { label: 'Set API Key', message: { type: 'set_api_key' } },
  });
  expect(await headless.earshot.retry(id)).toEqual({ ok: true, value: undefined });
  await headless.earshot.settled(id);
  const [first, second] = server.requests.map(({ body }) => (JSON.parse(body) as { messages: unknown[] }).messages);
  expect(second).toEqual(first);
  expect(headless.earshot.get(id)?.log.state.transcript.items.at(-1)).toMatchObject({ text: 'Hello there.' });
  expect(await headless.earshot.retry(id)).toMatchObject({ ok: false, failure: { code: 'nothing' } });
});
