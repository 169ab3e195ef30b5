// Projected messages: what an API returned, queued messages apart from blocks, and logs of earlier versions.
import { expect, test } from 'vitest';
import { forkEvents } from '../../../../../src/core/conversation/fork.ts';
import { exportJson, exportMarkdown } from '../../../../../src/core/conversation/export.ts';
import { type Carried, type EventDraft, type LogEvent, type WireOrigin } from '../../../../../src/protocol/event.ts';
import { call, folded, numbered, request, result, started, turnStarted } from '../../../../support/log/events.ts';

const origin: WireOrigin = {
  api: 'messages',
  provider: 'p',
  model: 'm',
  items: [{ type: 'thinking', signature: 's' }],
};
const answered: EventDraft = { type: 'model_call', model: 'm', outcome: 'succeeded', origin };
const begun = [started, turnStarted, request('Go.')];
const originsOf = (events: readonly LogEvent[]) =>
  folded(events).messages.all.flatMap((message) => (message.role === 'assistant' ? [message.origin] : []));

test('the origin belongs to the answer that its model call ends', () => {
  const first: EventDraft = { type: 'chat_response', message: 'One.' };
  const events = numbered(...begun, first, call('a'), answered, result('a'), call('b'), answered, result('b'));
  expect(originsOf(events)).toEqual([origin, origin]);
});

test('a call that failed, or was made for a title or by a subagent, gives no origin', () => {
  const half: EventDraft = { type: 'chat_response', message: 'Half', truncated: true };
  const failed: EventDraft = { type: 'model_call', model: 'm', outcome: 'aborted', origin };
  expect(originsOf(numbered(...begun, half, failed))).toEqual([undefined]);
  const plain: EventDraft = { type: 'model_call', model: 'm', outcome: 'succeeded' };
  const title: EventDraft = { ...answered, purpose: 'title' };
  const subagent: EventDraft = { ...answered, subagent: 'c' };
  expect(originsOf(numbered(...begun, { type: 'chat_response', message: 'Whole.' }, plain, title, subagent))).toEqual([
    undefined,
  ]);
});

test('if any event of an answer is lost, its origin is not used, since it names lost calls', () => {
  const text: EventDraft = { type: 'chat_response', message: 'One.' };
  const events = numbered(...begun, text, call('a'), call('b'), answered, result('a'), result('b'));
  expect(originsOf(events)).toEqual([origin]);
  for (const seq of [4, 5, 6]) expect(originsOf(events.filter((event) => event.seq !== seq))).toEqual([undefined]);
  expect(originsOf(events.filter((event) => event.seq !== 7))).toEqual([undefined]);
  // A lost result is replaced, so the calls are all answered.
  expect(originsOf(events.filter((event) => event.seq !== 8))).toEqual([origin]);
});

test('messages that a compaction keeps have no origin', () => {
  const compaction: EventDraft = { type: 'compaction', summary: 'Short.', through: 3 };
  const events = numbered(...begun, call('a'), answered, result('a'), compaction, call('b'), answered);
  expect(originsOf(events)).toEqual([undefined, origin]);
});

test('a fork and an export contain the origin', () => {
  const events = numbered(...begun, call('a'), answered, result('a'));
  const forked = forkEvents({ id: 'c', events, through: 6, now: '2026-01-02T03:04:05.000Z', ulid: () => 'u' });
  if (!forked.ok) throw new Error(forked.failure.message);
  expect(originsOf(forked.value)).toEqual([origin]);
  expect(JSON.parse(exportJson({ id: 'c', events }))).toMatchObject({
    events: expect.arrayContaining([expect.objectContaining({ type: 'model_call', origin })]) as unknown,
  });
});

const carrier = (more: Partial<Carried>): EventDraft => ({
  type: 'tool_call_response',
  id: 'a',
  content: 'result',
  is_error: false,
  notifications: {
    ...{ format: 'xml', text: '', through: 0, user_text: [], shown: [], merged: [], counted: [], filtered: [] },
    ...more,
  },
});
const lastOf = (draft: EventDraft) => folded(numbered(...begun, call('a'), answered, draft)).messages.all.at(-1);

test('queued messages stand apart from the block', () => {
  const user = ['One.', 'Two.'];
  expect(lastOf(carrier({ text: '<block>', user }))).toEqual({
    ...{ role: 'tool', call: 'a', content: 'result' },
    ...{ block: { format: 'xml', text: '<block>' }, queued: user },
  });
  expect(lastOf(carrier({ user }))).toEqual({ role: 'tool', call: 'a', content: 'result', queued: user });
});

test('in a log of an earlier version the block contains them, and a developer’s block counts as XML', () => {
  const text = '<user_message>One.</user_message>';
  expect(lastOf(carrier({ text }))).toEqual({
    ...{ role: 'tool', call: 'a', content: 'result' },
    block: { format: 'xml', text },
  });
  expect(lastOf(carrier({ format: 'developer', text }))).toMatchObject({ block: { format: 'xml', text } });
  expect(lastOf(carrier({ format: 'developer', text, user: [] }))).toMatchObject({ block: { format: 'developer' } });
});

test('queued messages of a carrier whose call is lost are still delivered', () => {
  const events = numbered(...begun, call('a'), answered, carrier({ user: ['One.'] }));
  const damaged = events.filter(({ type }) => type !== 'tool_call_request');
  expect(folded(damaged).messages.all.at(-1)).toMatchObject({ role: 'user', queued: ['One.'] });
});

test('an export prints a queued message once, where it was written', () => {
  const queued: EventDraft = { type: 'user_text_queued', content: 'Also this.' };
  const events = numbered(...begun, queued, { type: 'turn_ended', outcome: 'stopped' }, turnStarted, {
    ...request('Next.'),
    notifications: { ...carriedUser('event-4'), user: ['Also this.'] },
  } as EventDraft);
  expect(exportMarkdown({ id: 'c', events }).split('Also this.')).toHaveLength(2);
});

function carriedUser(id: string): Carried {
  return { format: 'xml', text: '', through: 0, user_text: [id], shown: [], merged: [], counted: [], filtered: [] };
}
