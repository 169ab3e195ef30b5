// One conversation as a remote client follows it, from the window's events on.
import { expect, test } from 'vitest';
import { RemoteConversation } from '../../../../src/core/client/remote/remoteFollow.ts';
import { numbered, request, started, turnStarted } from '../../../support/log/events.ts';

const events = numbered(started, turnStarted, request('Make tea.'), { type: 'turn_ended', outcome: 'stopped' });

function create(render: (partial: unknown) => void = () => undefined): RemoteConversation {
  return new RemoteConversation({ appended: () => undefined, render, changed: () => undefined });
}

/** Folds the events up to this number, as a subscription delivers them. */
function deliver(conversation: RemoteConversation, through: number): void {
  for (const { v: _, ...data } of events) {
    if (data.seq <= conversation.lastSeq || data.seq > through) continue;
    conversation.receive({ type: 'event', sub_id: 'c', conversation: 'c', seq: data.seq, data });
  }
}

test('a renewed subscription waits for the events that were missed', async () => {
  const conversation = create();
  const first = conversation.catchUp(2);
  deliver(conversation, 2);
  await first;
  expect(conversation.running).toBe(true);
  // The subscription ended, and the log has two more events.
  let isCaughtUp = false;
  const second = conversation.catchUp(4).then(() => {
    isCaughtUp = true;
  });
  deliver(conversation, 3);
  await new Promise((resolve) => setImmediate(resolve));
  expect(isCaughtUp).toBe(false);
  deliver(conversation, 4);
  await second;
  expect(conversation.running).toBe(false);
});

test('output of a call is kept until its result, whichever comes first, and the end of it after a reconnect', () => {
  const rendered: unknown[] = [];
  const conversation = create((partial) => rendered.push(partial));
  const receive = (more: object) =>
    conversation.receive({ type: 'event', sub_id: 'c', conversation: 'c', ...more } as never);
  const output = (offset: number, content: string) =>
    receive({
      partial: { response: 't', index: 0, offset },
      data: { type: 'tool_call_response', id: 't', content },
    });
  const logged = (seq: number, data: object) =>
    receive({ seq, data: { seq, event_id: `e${seq}`, timestamp: '2026-01-01T00:00:00Z', ...data } });
  output(0, 'one ');
  expect(rendered).toEqual([]);
  logged(1, { type: 'tool_call_request', id: 't', name: 'run_command', arguments: {} });
  output(4, 'two ');
  // The last 6 characters again, and new ones.
  output(2, 'e two three ');
  const texts = ['one ', 'two ', 'three '];
  expect(rendered).toEqual(texts.map((text) => ({ type: 'tool_output', call: 't', text })));
  expect(conversation.unfinished).toEqual([{ type: 'tool_output', call: 't', text: texts.join('') }]);
  logged(2, { type: 'tool_call_response', id: 't', content: 'all', is_error: false });
  output(14, 'late');
  expect(conversation.unfinished).toEqual([]);
  expect(rendered).toHaveLength(3);
});

test('a subscription without missed events does not wait', async () => {
  const conversation = create();
  await conversation.catchUp(0);
  deliver(conversation, 4);
  await conversation.catchUp(4);
});
