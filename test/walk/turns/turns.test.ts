// How a turn handles the model's output, valid or not: tool calls, compaction, schemas, modes, titles, limits.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { type ScriptedAnswer } from '../../support/models/scriptedServer.ts';
import { beginWalk, type Walked } from '../../support/walk/walking.ts';

const golden = (name: string) => `./golden/${name}.golden.txt`;
const hello: ScriptedAnswer = { text: ['Done.'] };
const read = (id: string, path: string) => ({ id, name: 'read_file', arguments: { path } });

async function eventsOf<T extends LogEvent['type']>({ headless, id }: Walked, type: T) {
  const lines = (await headless.events(id)).trimEnd().split('\n');
  const events = lines.map((line) => JSON.parse(line) as LogEvent);
  return events.filter((event): event is Extract<LogEvent, { type: T }> => event.type === type);
}

describe('calls', () => {
  test.each([
    ['broken JSON', 'broken-json', [{ id: 'a', name: 'read_file', arguments: '{"path": "a.txt' }]],
    ['arguments that are a list', 'arguments-no-object', [{ id: 'a', name: 'read_file', arguments: '["a.txt"]' }]],
    ['arguments that do not fit', 'arguments-wrong', [{ id: 'a', name: 'read_file', arguments: { file: 'a.txt' } }]],
    ['an unknown tool', 'unknown-tool', [{ id: 'a', name: 'no_such_tool', arguments: {} }]],
    ['no id at all', 'no-id', [read('', 'a.txt')]],
  ])('with %s are answered so that the model can correct them', async (_name, file, calls) => {
    const walk = await beginWalk([{ calls }, { calls: [read('z', 'a.txt')] }, hello]);
    await writeFile(join(walk.headless.folder, 'a.txt'), 'one\n');
    await writeFile(join(walk.headless.folder, 'b.txt'), 'two\n');
    await walk.go();
    await walk.golden(golden(file));
  });

  test('with a duplicate id both run, and the second gets a generated id', async () => {
    const walk = await beginWalk([{ calls: [read('a', 'a.txt'), read('a', 'b.txt')] }, hello]);
    await writeFile(join(walk.headless.folder, 'a.txt'), 'one\n');
    await writeFile(join(walk.headless.folder, 'b.txt'), 'two\n');
    await walk.go();
    const responses = await eventsOf(walk, 'tool_call_response');
    expect(responses.find(({ id }) => id === 'a')?.content).toBe('one\n');
    expect(responses.find(({ id }) => id.startsWith('call_'))?.content).toBe('two\n');
  });

  test('with an id of an earlier turn get a generated id', async () => {
    const walk = await beginWalk([{ calls: [read('a', 'a.txt')] }, hello, { calls: [read('a', 'a.txt')] }, hello]);
    await walk.go();
    await walk.go('Again.');
    const [first, second] = await eventsOf(walk, 'tool_call_response');
    expect(first?.id).toBe('a');
    expect(second?.id).toMatch(/^call_/);
  });

  test('run in parallel, and all are answered before the next request', async () => {
    const commands = ['cat one', 'cat two'].map((command, index) => ({
      id: `c${index}`,
      name: 'run_command',
      arguments: { command },
    }));
    const walk = await beginWalk([{ calls: commands }, hello], { settings: { 'approvals.mode': 'all' } });
    const { execFileSync } = await import('node:child_process');
    for (const pipe of ['one', 'two']) execFileSync('mkfifo', [join(walk.headless.folder, pipe)]);
    const answered = new Promise<void>((resolve) => {
      const listening = walk.log.onDidAppend(({ event }) => {
        if (event.type !== 'tool_call_response') return;
        listening.dispose();
        resolve();
      });
    });
    const ended = walk.go();
    await writeFile(join(walk.headless.folder, 'two'), 'second\n');
    await answered;
    expect(walk.server.requests).toHaveLength(1);
    await writeFile(join(walk.headless.folder, 'one'), 'first\n');
    await ended;
    expect((await eventsOf(walk, 'tool_call_response')).map(({ id }) => id)).toEqual(['c1', 'c0']);
  });
});

describe('a conversation that is too long', () => {
  const overflow = { status: 400, message: 'too long', code: 'context_length_exceeded' };
  const summary: ScriptedAnswer = { text: ['Goal: say done.'] };

  test('is compacted once and sent again', async () => {
    const walk = await beginWalk([{ text: ['First.'] }, { refuse: overflow }, summary, hello]);
    await walk.go('Begin.');
    await walk.go('Go on.');
    await walk.golden(golden('overflow'));
  });

  test('that stays too long after compaction ends with an error', async () => {
    const walk = await beginWalk([{ text: ['First.'] }, { refuse: overflow }, summary, { refuse: overflow }]);
    await walk.go('Begin.');
    await walk.go('Go on.');
    expect((await eventsOf(walk, 'turn_ended')).at(-1)).toMatchObject({
      outcome: 'error',
      failure: { code: 'context_overflow', nextStep: expect.stringContaining('new chat') as string },
    });
    expect(walk.server.requests).toHaveLength(4);
  });

  test('by the endpoint’s count is compacted before the next request, at 90 % of the window', async () => {
    const call = { calls: [read('a', 'a.txt')] };
    const below = { ...call, usage: { prompt_tokens: 8_500, completion_tokens: 10 } };
    const above = { calls: [read('b', 'a.txt')], usage: { prompt_tokens: 8_900, completion_tokens: 200 } };
    const walk = await beginWalk([below, above, summary, hello], { modelOptions: { contextWindow: 10_000 } });
    await writeFile(join(walk.headless.folder, 'a.txt'), 'short\n');
    await walk.go('Begin.');
    await walk.golden(golden('nearly-full'));
  });

  test('is replaced by the user’s messages if the model returns no summary', async () => {
    const walk = await beginWalk([
      { text: ['First.'] },
      { refuse: overflow },
      { refuse: { status: 500, message: 'no' } },
      hello,
    ]);
    await walk.go('Mind the gap.');
    await walk.go('Go on.');
    expect((await eventsOf(walk, 'compaction'))[0]?.summary).toContain('- Mind the gap.');
  });
});

describe('a structured answer', () => {
  const schema = { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] };

  test('is requested, validated and stored', async () => {
    const walk = await beginWalk([{ text: ['{"count"', ': 3}'] }]);
    await walk.go('How many?', { schema });
    const body = JSON.parse(walk.server.requests[0]?.body ?? '') as Record<string, unknown>;
    expect(body['response_format']).toEqual({ type: 'json_schema', json_schema: { name: 'answer', schema } });
    expect((await eventsOf(walk, 'chat_response'))[0]).toMatchObject({ message: '{"count": 3}', data: { count: 3 } });
  });

  test('that does not match its schema is requested once more', async () => {
    const walk = await beginWalk([{ text: ['{"count": "three"}'] }, { text: ['```json\n{"count": 3}\n```'] }]);
    await walk.go('How many?', { schema });
    await walk.golden(golden('schema-requested-again'));
  });

  test('that never matches ends the turn with an error, and a later turn has no schema', async () => {
    const walk = await beginWalk([{ text: ['three'] }, { text: ['three!'] }, hello]);
    await walk.go('How many?', { schema });
    await walk.go('Then in words.');
    const [failed, done] = await eventsOf(walk, 'turn_ended');
    expect(failed).toMatchObject({ outcome: 'error', failure: { code: 'schema' } });
    expect(done).toMatchObject({ outcome: 'done' });
    expect(walk.server.requests[2]?.body).not.toContain('response_format');
  });

  test('with an invalid schema is refused before the turn starts', async () => {
    const walk = await beginWalk([]);
    const sent = await walk.headless.earshot.send(walk.id, 'How many?', { schema: { $ref: 'http://elsewhere/x' } });
    expect(sent).toMatchObject({ ok: false, failure: { code: 'bad_schema' } });
    expect(walk.log.state.transcript.items).toEqual([]);
  });
});

test('in Plan mode all tools stay described, and calls that do more than read are refused', async () => {
  const calls = [{ id: 'a', name: 'run_command', arguments: { command: 'touch made' } }];
  const walk = await beginWalk([{ calls }, hello], { settings: { mode: 'plan', 'approvals.mode': 'all' } });
  await walk.go();
  const { tools } = JSON.parse(walk.server.requests[0]?.body ?? '') as { tools: { function: { name: string } }[] };
  expect(tools.map((tool) => tool.function.name)).toContain('run_command');
  expect(walk.server.requests[0]?.body).toContain('Plan mode is on');
  expect((await eventsOf(walk, 'tool_call_response'))[0]?.content).toContain('Plan mode');
  expect(walk.headless.frontend.asked).toEqual([]);
});

test('after its first answer a conversation gets a title, requested once', async () => {
  const walk = await beginWalk([hello, hello]);
  const titled = new Promise<void>((resolve) => {
    const listening = walk.log.onDidAppend(({ event }) => {
      if (event.type !== 'title_set') return;
      listening.dispose();
      resolve();
    });
  });
  await walk.go();
  await titled;
  await walk.go('More.');
  expect(walk.log.state.summary.title).toBe('A title');
  expect(walk.server.titleRequests).toHaveLength(1);
  expect(walk.log.state.usage.total).toMatchObject({ input: 300, output: 30, cached: 0 });
});

test('a token limit ends the turn with an error, and the user’s next message continues', async () => {
  // The scripted server counts 110 tokens for each answer.
  const calls = [read('a', 'a.txt')];
  const walk = await beginWalk([{ calls }, hello], { settings: { 'limits.tokens': 100 } });
  await writeFile(join(walk.headless.folder, 'a.txt'), 'one\n');
  await walk.go();
  expect(walk.server.requests.filter(({ body }) => !body.includes('title'))).toHaveLength(1);
  const [ended] = await eventsOf(walk, 'turn_ended');
  expect(ended).toMatchObject({ outcome: 'error', failure: { code: 'limit' } });
  await walk.go('Go on.');
  expect((await eventsOf(walk, 'turn_ended')).map(({ outcome }) => outcome)).toEqual(['error', 'done']);
});
