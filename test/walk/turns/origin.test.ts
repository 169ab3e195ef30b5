// What an API returned is stored with its answer, survives a restart, and never makes an answer fail.
import { expect, test } from 'vitest';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { type ScriptedAnswer } from '../../support/models/scriptedServer.ts';
import { done, run } from '../../support/walk/deliveryWalks.ts';
import { beginWalk, type Walked } from '../../support/walk/walking.ts';

const all = { settings: { 'approvals.mode': 'all' } };

async function originsOf(walk: Walked): Promise<unknown[]> {
  const events = (await walk.headless.events(walk.id))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as LogEvent);
  return events.flatMap((event) => (event.type === 'model_call' && event.purpose !== 'title' ? [event.origin] : []));
}

async function afterOne(answer: ScriptedAnswer): Promise<Walked> {
  const walk = await beginWalk([answer, done], all);
  await walk.go();
  return walk;
}

const assistant = (walk: Walked) =>
  walk.messages(walk.server.requests.length - 1).find((message) => (message as { role: string }).role === 'assistant');

test('reasoning goes back in its field, also after a restart', async () => {
  const walk = await beginWalk([{ reasoning: ['Hm.'], calls: [run('a', 'echo one')] }, done, done], all);
  await walk.go();
  expect(assistant(walk)).toMatchObject({ reasoning_content: 'Hm.' });
  const before = walk.log.state.messages.all;
  const next = await walk.headless.restart();
  try {
    const opened = await next.earshot.open(walk.id);
    if (!opened.ok) throw new Error(opened.failure.message);
    expect(opened.value.log.state.messages.all).toEqual(before);
    await next.earshot.send(walk.id, 'Again.');
    await next.earshot.settled(walk.id);
    expect(assistant(walk)).toMatchObject({ reasoning_content: 'Hm.' });
  } finally {
    await next.earshot.shutDown();
  }
});

test('an answer that was cut has no origin', async () => {
  const walk = await afterOne({ reasoning: ['Hm.'], calls: [run('a', 'echo one')], finish: 'length' });
  expect(await originsOf(walk)).toEqual([undefined, undefined]);
  expect(assistant(walk)).not.toHaveProperty('reasoning_content');
});

test('output that is nested too deep is left out, and the turn goes on', async () => {
  let deep: unknown = 'end';
  for (let level = 0; level < 200; level += 1) deep = { deep };
  const deltas = [{ reasoning_details: [{ type: 'odd', deep }] }];
  const walk = await afterOne({ deltas, calls: [run('a', 'echo one')] });
  expect(await originsOf(walk)).toEqual([undefined, undefined]);
  expect(walk.server.requests).toHaveLength(2);
});

test('output of more than 8 MB is left out, and the turn goes on', async () => {
  const deltas = Array.from({ length: 9 }, (_, index) => ({
    reasoning_details: [{ type: 'reasoning.encrypted', data: 'x'.repeat(1024 * 1024), index }],
  }));
  const walk = await afterOne({ deltas, calls: [run('a', 'echo one')] });
  expect(await originsOf(walk)).toEqual([undefined, undefined]);
  expect(walk.server.requests).toHaveLength(2);
});

test('signatures stay with their calls if ids are missing or used twice', async () => {
  const extra = (name: string) => ({ google: { thought_signature: name } });
  const calls = ['', 'a', 'a'].map((id, index) => ({ ...run(id, `echo ${index}`), extra: extra(`s${index}`) }));
  const walk = await afterOne({ calls });
  const { tool_calls: sent } = assistant(walk) as { tool_calls: { id: string; extra_content: unknown }[] };
  expect(sent.map((call) => call.extra_content)).toEqual([extra('s0'), extra('s1'), extra('s2')]);
  expect(new Set(sent.map(({ id }) => id)).size).toBe(3);
});
