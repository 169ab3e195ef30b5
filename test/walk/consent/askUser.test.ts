// Questions to the user, end to end: asked once, answered only by the user, asked again after a restart.
import { expect, test } from 'vitest';
import { type InquiryAnswer, type InquiryRequest } from '../../../src/core/ports/ports.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { type ScriptedAnswer } from '../../support/models/scriptedServer.ts';
import { beginWalk, type Walked } from '../../support/walk/walking.ts';

const done: ScriptedAnswer = { text: ['Done.'] };
const ask = (id: string, values: object): ScriptedAnswer => ({ calls: [{ id, name: 'ask_user', arguments: values }] });
const tea = { question: 'Which tea?', options: ['assam', 'sencha', 'rooibos'] };

async function eventsOf<T extends LogEvent['type']>({ headless, id }: Walked, ...types: T[]) {
  const lines = (await headless.events(id)).trimEnd().split('\n');
  const events = lines.map((line) => JSON.parse(line) as LogEvent);
  return events.filter((event): event is Extract<LogEvent, { type: T }> => types.includes(event.type as T));
}

async function result(walk: Walked): Promise<{ content: string; is_error: boolean }> {
  const [response] = await eventsOf(walk, 'tool_call_response');
  return { content: response?.content ?? '', is_error: response?.is_error ?? false };
}

/** Leaves every question open; resolves with the first one. */
function leaveOpen({ headless }: Pick<Walked, 'headless'>): Promise<InquiryRequest> {
  return new Promise((resolve) => {
    headless.frontend.answerQuestion = (request, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('cancelled')), { once: true });
        resolve(request);
      });
  });
}

test.each([
  ['text', { question: 'Why?' }, 'Because of the rain.', 'The user answered:\nBecause of the rain.'],
  ['one option', tea, 'sencha', 'The user chose: “sencha”.'],
  ['text instead of an option', tea, 'none, water', 'The user wrote instead of an option:\nnone, water'],
  ['several options', { ...tea, several: true }, ['assam', 'rooibos'], 'The user chose: “assam”, “rooibos”.'],
  [
    'several options and text',
    { ...tea, several: true },
    ['assam', 'milk'],
    'The user chose: “assam”.\nThe user wrote instead of an option:\nmilk',
  ],
  ['skipped', tea, ' ', expect.stringContaining('The user gave no answer.') as string],
])('%s: the answer is in the log and in the model’s result', async (_, values, answer, content) => {
  const walk = await beginWalk([ask('a', values), done]);
  walk.headless.frontend.answerQuestion = async () => ({ answer, by: 'user' });
  await walk.go();
  expect(await result(walk)).toEqual({ content, is_error: false });
  const [request, response] = await eventsOf(walk, 'inquiry_request', 'inquiry_response');
  expect(request).toMatchObject({ ...values, tool_call_id: 'a' });
  expect(response).toMatchObject({ id: request?.id, answer, by: 'user' });
  expect(walk.messages(1).at(-1)).toMatchObject({ role: 'tool', tool_call_id: 'a' });
  expect(walk.headless.frontend.asked).toEqual([]);
});

test('ask_user needs no approval in any mode and is available in Plan mode', async () => {
  const settings = { 'approvals.mode': 'ask', mode: 'plan' };
  const walk = await beginWalk([ask('a', tea), done], { settings });
  walk.headless.frontend.answerQuestion = async () => ({ answer: 'assam', by: 'user' });
  await walk.go();
  expect(walk.headless.frontend.asked).toEqual([]);
  expect(await eventsOf(walk, 'approval')).toEqual([]);
  expect(walk.server.requests[0]?.body).toContain('"ask_user"');
});

test.each([
  ['no question', {}, 'question: '],
  ['an empty question', { question: '  ' }, 'question: '],
  ['a single option', { question: 'a', options: ['x'] }, 'options: '],
  ['a duplicate option', { question: 'a', options: ['x', 'y', 'x'] }, 'options: “x” is there twice.'],
  ['several without options', { question: 'a', several: true }, 'several: there are no options'],
])('%s is refused with its reason, and the user is not asked', async (_, values, fault) => {
  const walk = await beginWalk([ask('a', values), done]);
  await walk.go();
  const { content, is_error } = await result(walk);
  expect(content).toContain(fault);
  expect(is_error).toBe(true);
  expect(walk.headless.frontend.questions).toEqual([]);
  expect(await eventsOf(walk, 'inquiry_request')).toEqual([]);
});

test('an answer of the wrong form asks again with the problem; the model is not notified', async () => {
  const walk = await beginWalk([ask('a', { ...tea, several: true }), done]);
  const answers: InquiryAnswer[] = [
    { answer: 'assam', by: 'user' },
    { answer: ['assam'], by: 'user' },
  ];
  walk.headless.frontend.answerQuestion = async () => answers.shift() ?? { answer: [], by: 'user' };
  await walk.go();
  expect(walk.headless.frontend.questions.map(({ problem }) => problem)).toEqual([
    undefined,
    'Several may be chosen, so a list is wanted.',
  ]);
  expect(await eventsOf(walk, 'inquiry_request', 'inquiry_response')).toHaveLength(2);
});

test('stop cancels the question, and it is not asked again', async () => {
  const walk = await beginWalk([ask('a', tea), done]);
  const asked = leaveOpen(walk);
  await walk.headless.earshot.send(walk.id, 'Hello.');
  await asked;
  await walk.headless.earshot.stop(walk.id);
  expect(await result(walk)).toEqual({ content: 'Cancelled by the user.', is_error: true });
  const [end] = await eventsOf(walk, 'turn_ended');
  expect(end?.outcome).toBe('stopped');
  expect(await eventsOf(walk, 'inquiry_response')).toEqual([]);
  expect(walk.log.state.turn.openInquiries).toEqual([]);
  expect(walk.headless.errors).toEqual([]);
});

test('a notification does not answer the question; it is delivered with the answer', async () => {
  const walk = await beginWalk([ask('a', tea), done]);
  const open = Promise.withResolvers<InquiryAnswer>();
  const asked = new Promise<void>((resolve) => {
    walk.headless.frontend.answerQuestion = () => {
      resolve();
      return open.promise;
    };
  });
  await walk.headless.earshot.send(walk.id, 'Hello.');
  await asked;
  const at = new Date(walk.clock.now()).toISOString();
  const kind = { source: 'task', name: 'ended' };
  await walk.headless.earshot.publish({ kind, level: 'critical', message: 'sencha', origin: 'process', at });
  expect(walk.log.state.turn.openInquiries).toHaveLength(1);
  expect(await eventsOf(walk, 'tool_call_response')).toEqual([]);
  open.resolve({ answer: 'assam', by: 'user' });
  await walk.headless.earshot.settled(walk.id);
  const [response] = await eventsOf(walk, 'tool_call_response');
  expect(response?.content).toBe('The user chose: “assam”.');
  expect(response?.notifications?.shown).toHaveLength(1);
});

test('a question open when the window ends is asked again once, and its answer continues the turn', async () => {
  const walk = await beginWalk([ask('a', tea), done]);
  const asked = leaveOpen(walk);
  await walk.headless.earshot.send(walk.id, 'Hello.');
  const { id } = await asked;
  const next = await walk.headless.restart();
  try {
    next.frontend.answerQuestion = async () => ({ answer: 'rooibos', by: 'user' });
    await next.earshot.open(walk.id);
    await next.earshot.settled(walk.id);
    const after = { ...walk, headless: next };
    expect(next.frontend.questions.map((question) => question.id)).toEqual([id]);
    expect(await eventsOf(after, 'inquiry_request')).toHaveLength(1);
    expect(await result(after)).toEqual({ content: 'The user chose: “rooibos”.', is_error: false });
    expect((await eventsOf(after, 'turn_ended')).map(({ outcome }) => outcome)).toEqual(['done']);
  } finally {
    await next.earshot.shutDown();
  }
});

test('an answer on disk when the window ended is used, and the question is not asked again', async () => {
  const walk = await beginWalk([ask('a', tea), done]);
  const asked = leaveOpen(walk);
  await walk.headless.earshot.send(walk.id, 'Hello.');
  const { id } = await asked;
  await walk.log.append({ type: 'inquiry_response', id, answer: 'assam', by: 'user' });
  const next = await walk.headless.restart();
  try {
    await next.earshot.open(walk.id);
    await next.earshot.settled(walk.id);
    expect(next.frontend.questions).toEqual([]);
    expect(await result({ ...walk, headless: next })).toMatchObject({ content: 'The user chose: “assam”.' });
  } finally {
    await next.earshot.shutDown();
  }
});
