// Other delivery points, on the wire and in the log: tool results, the next request, forks, compaction, another model.
import { describe, expect, test } from 'vitest';
import { Library } from '../../../src/core/library.ts';
import { type Model } from '../../../src/core/ports/ports.ts';
import { CAREFUL } from '../../../src/models/profile.ts';
import { createEndpointMemory } from '../../../src/models/endpointMemory.ts';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { FORMATS } from '../../../src/protocol/event.ts';
import { startScriptedServer } from '../../support/models/scriptedServer.ts';
import {
  begin,
  done,
  eventsOf,
  headChanged,
  holdApproval,
  makePipe,
  nextEvent,
  occurrences,
  publish,
  run,
} from '../../support/walk/deliveryWalks.ts';
import { beginWalk, type Walked } from '../../support/walk/walking.ts';

const golden = (name: string) => `./golden/${name}.golden.txt`;
const all = { 'approvals.mode': 'all' };

/** A turn with one command, which ends when `end` is called. */
async function duringCommand(walk: Walked, command: string): Promise<{ end(): Promise<void> }> {
  const pipe = makePipe(walk, 'pipe');
  const started = walk.headless.frontend.nextDrawn('tool_started');
  walk.server.restart({ calls: [run('a', command)] }, done);
  await begin(walk);
  await started;
  return {
    end: async () => {
      await pipe.end();
      await walk.headless.earshot.settled(walk.id);
    },
  };
}

describe('the result that completes a batch delivers pending notifications', () => {
  test('if it succeeded', async () => {
    const walk = await beginWalk([], { settings: all });
    const { end } = await duringCommand(walk, 'cat pipe');
    await publish(walk, headChanged('switched to main'));
    await end();
    await walk.golden(golden('result-succeeded'));
  });

  test('if it failed', async () => {
    const walk = await beginWalk([], { settings: all });
    const { end } = await duringCommand(walk, 'cat pipe; exit 3');
    await publish(walk, headChanged('switched to main'));
    await end();
    await walk.golden(golden('result-failed'));
  });

  test('if it was rejected', async () => {
    const walk = await beginWalk([{ calls: [run('a', 'echo one')] }, done]);
    const held = holdApproval(walk);
    await begin(walk);
    const answer = await held;
    await publish(walk, headChanged('switched to main'));
    answer({ action: 'reject', reason: 'no' });
    await walk.headless.earshot.settled(walk.id);
    await walk.golden(golden('result-rejected'));
  });

  test('if it is the last of three, including what arrived between their results', async () => {
    const walk = await beginWalk([{ calls: ['one', 'two', 'three'].map((name) => run(name, `cat ${name}`)) }, done], {
      settings: all,
    });
    const pipes = ['one', 'two', 'three'].map((name) => ({ name, pipe: makePipe(walk, name) }));
    const approved = pipes.map(({ name }) => nextEvent(walk.log, 'approval', (one) => one.tool_call_id === name));
    await begin(walk);
    await Promise.all(approved);
    for (const { name, pipe } of pipes) {
      await publish(walk, headChanged(`before ${name} ended`));
      const ended = nextEvent(walk.log, 'tool_call_response', ({ id }) => id === name);
      await pipe.end(`${name}\n`);
      await ended;
    }
    await walk.headless.earshot.settled(walk.id);
    const responses = await eventsOf(walk, 'tool_call_response');
    expect(responses.map(({ notifications }) => notifications?.shown.length)).toEqual([undefined, undefined, 3]);
    expect(walk.messages(1)).toMatchObject([
      { role: 'user' },
      { role: 'assistant' },
      { role: 'tool', tool_call_id: 'one', content: 'one\n(exit code 0)' },
      { role: 'tool', tool_call_id: 'two', content: 'two\n(exit code 0)' },
      {
        role: 'tool',
        tool_call_id: 'three',
        content: `three\n(exit code 0)\n\n${responses[2]?.notifications?.text ?? 'nothing'}`,
      },
    ]);
    for (const { name } of pipes) expect(occurrences(walk, 1, `before ${name} ended`)).toBe(1);
    await walk.golden(golden('result-of-three'));
  });

  test('and merges sixty changed files into one notification that names them all', async () => {
    const walk = await beginWalk([], { settings: all });
    const { end } = await duringCommand(walk, 'cat pipe');
    const names = Array.from({ length: 60 }, (_, index) => `src/module${index}/index.ts`);
    const held = names.map((name) => walk.headless.earshot.subscribe(walk.id, { scope: `file:${name}` }));
    for (const name of names) {
      const kind = { source: 'file', name: 'changed' };
      const more = { kind, subject: `file:${name}`, scopes: [`file:${name}`] };
      await publish(
        walk,
        headChanged(`${name} changed on disk since you read it (+1 −0), too much to show here.`, more),
      );
    }
    await end();
    for (const one of held) one.dispose();
    const [response] = await eventsOf(walk, 'tool_call_response');
    const text = response?.notifications?.text ?? '';
    expect(text.length).toBeLessThan(4000);
    for (const name of names) expect(text).toContain(name);
    expect(response?.notifications).toMatchObject({ shown: { length: 1 }, merged: { length: 59 } });
    expect(occurrences(walk, 1, text)).toBe(1);
    await walk.golden(golden('sixty-files'));
  });

  test.each(FORMATS)('in the format %s', async (format) => {
    const walk = await beginWalk([], { settings: { ...all, 'notifications.format': format } });
    const { end } = await duringCommand(walk, 'cat pipe');
    await publish(walk, headChanged('switched to main'));
    await walk.headless.earshot.queue(walk.id, 'And then?');
    await end();
    await walk.golden(golden(`format-${format}`));
  });
});

test('the user’s next request delivers what was queued while idle', async () => {
  const walk = await beginWalk([done, done]);
  await walk.go();
  await publish(walk, headChanged('switched to main'));
  await walk.go('And now?');
  await walk.golden(golden('next-request'));
});

test('a fork copies pending notifications; queued messages stay in the original', async () => {
  const walk = await beginWalk([done, done, done]);
  const { earshot } = walk.headless;
  // A title that arrived later would become the fork point.
  const titled = [
    nextEvent(walk.log, 'title_set'),
    nextEvent(walk.log, 'model_call', (one) => one.purpose === 'title'),
  ];
  await walk.go();
  await Promise.all(titled);
  await publish(walk, headChanged('switched to main'));
  await walk.log.append({ type: 'user_text_queued', content: 'only here' });
  const forked = await new Library(walk.headless.ports, earshot).fork(walk.id);
  if (!forked.ok) throw new Error(forked.failure.message);
  const opened = await earshot.open(forked.value);
  if (!opened.ok) throw new Error(opened.failure.message);
  for (const id of [forked.value, walk.id]) {
    await earshot.send(id, 'Go on.');
    await earshot.settled(id);
  }
  expect([1, 2].map((request) => occurrences(walk, request, 'switched to main'))).toEqual([1, 1]);
  expect([1, 2].map((request) => occurrences(walk, request, 'only here'))).toEqual([0, 1]);
  expect(walk.messages(1).at(-1)).toMatchObject({
    content: expect.stringMatching(/^<notification [\s\S]*switched to main\]\]><\/notification>\n\nGo on\.$/) as string,
  });
  await walk.golden(golden('fork'), { others: [forked.value] });
});

test('a compaction repeats once that a build still fails', async () => {
  const failing = headChanged('The task npm: build failed with exit code 2.', {
    kind: { source: 'task', name: 'ended' },
    level: 'error',
    subject: 'task:npm: build',
    scopes: ['task:npm: build'],
  });
  const overflow = { status: 400, message: 'too long', code: 'context_length_exceeded' };
  const walk = await beginWalk([done, done, { refuse: overflow }, { text: ['Goal: fix it.'] }, done]);
  await walk.go('Begin.');
  await publish(walk, failing);
  await walk.go('Go on.');
  await publish(walk, headChanged('switched to main'));
  await walk.go('Still there?');
  expect(occurrences(walk, 4, 'npm: build failed with exit code 2')).toBe(1);
  await walk.golden(golden('after-compaction'));
});

test('switching model and profile keeps the history, in the form of each endpoint', async () => {
  const parts = await startScriptedServer({ calls: [run('a', 'cat pipe')] }, done);
  const strict = await startScriptedServer(done, done);
  try {
    const memory = createEndpointMemory();
    const base = memory.get(parts.baseUrl, 'm');
    await memory.learn(parts.baseUrl, 'm', { ...base, profile: { ...base.profile, toolContent: 'parts' } });
    await memory.learn(strict.baseUrl, 'n', { ...base, profile: CAREFUL });
    const models: Record<string, Model> = {
      m: createChatModel({ baseUrl: parts.baseUrl, model: 'm', memory, apiKey: async () => 'k' }),
      n: createChatModel({ baseUrl: strict.baseUrl, model: 'n', memory, apiKey: async () => 'k' }),
    };
    let chosen = 'm';
    const walk = await beginWalk([], { settings: all, ports: { model: () => models[chosen] as Model } });
    const { earshot, frontend } = walk.headless;
    const pipe = makePipe(walk, 'pipe');
    const started = frontend.nextDrawn('tool_started');
    await begin(walk);
    await started;
    await publish(walk, headChanged('switched to main'));
    // Switched between the call and its result: the next cycle uses the other model.
    chosen = 'n';
    await pipe.end();
    await earshot.settled(walk.id);
    await walk.go('Who are you?');
    const block = (await eventsOf(walk, 'tool_call_response'))[0]?.notifications?.text ?? 'nothing';
    const bodies = [...parts.requests, ...strict.requests].map(({ body }) => JSON.parse(body) as Body);
    expect(bodies.map(({ model }) => model)).toEqual(['m', 'n', 'n']);
    expect(bodies[1]?.messages.at(-1)).toMatchObject({ role: 'tool', content: `read\n(exit code 0)\n\n${block}` });
    chosen = 'm';
    await walk.go('And you?');
    const last = JSON.parse(parts.requests[1]?.body ?? '') as Body;
    expect(last.messages.find(({ role }) => role === 'tool')?.content).toEqual([
      { type: 'text', text: 'read\n(exit code 0)' },
      { type: 'text', text: block },
    ]);
    expect((await eventsOf(walk, 'turn_ended')).map(({ outcome }) => outcome)).toEqual(['done', 'done', 'done']);
    const [first, fourth] = parts.requests;
    await walk.golden(golden('another-model'), {
      requests: [first, ...strict.requests, fourth].filter((one) => one !== undefined),
    });
  } finally {
    await parts.stop();
    await strict.stop();
  }
});

interface Body {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}
