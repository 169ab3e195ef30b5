// Conversations that are not shown: what happens in them meanwhile is complete when they are shown again.
import { expect, test } from 'vitest';
import { Activities } from '../../../../src/core/frontend/conversationActivity.ts';
import { type OpenRequest, Requests } from '../../../../src/core/client/requests.ts';
import { LiveTranscript } from '../../../../src/core/frontend/liveTranscript.ts';
import { type TranscriptItem } from '../../../../src/protocol/transcript.ts';
import { atTestEnd } from '../../../support/endings.ts';

const tool: TranscriptItem = {
  type: 'tool',
  id: 't',
  name: 'run_command',
  arguments: {},
  state: 'running',
  output: '',
};

function createTranscript(): LiveTranscript {
  const transcript = new LiveTranscript(new Requests(() => undefined), () => undefined);
  atTestEnd(async () => transcript.dispose());
  return transcript;
}

test('an answer and a tool’s output that grow in the background are complete when the conversation is shown again', () => {
  const transcript = createTranscript();
  transcript.show('a', []);
  transcript.render('a', { type: 'answer_started', id: '1' });
  transcript.render('a', { type: 'answer_text', id: '1', field: 'text', text: 'Hel' });
  transcript.show('b', []);
  expect(transcript.items).toEqual([]);
  transcript.render('a', { type: 'answer_text', id: '1', field: 'text', text: 'lo' });
  transcript.render('a', { type: 'tool_output', call: 't', text: 'one line' });
  transcript.show('a', [tool]);
  expect(transcript.items).toMatchObject([
    { id: 't', name: 'run_command', output: 'one line' },
    { id: '1', text: 'Hello', streaming: true },
  ]);
});

test('an answer that is in the log when the conversation is shown is not shown twice', () => {
  const transcript = createTranscript();
  transcript.show('b', []);
  transcript.render('a', { type: 'answer_started', id: '1' });
  transcript.render('a', { type: 'answer_text', id: '1', field: 'text', text: 'Hello' });
  const done: TranscriptItem = {
    type: 'answer',
    id: '1',
    text: 'Hello',
    reasoning: '',
    streaming: false,
    truncated: false,
  };
  transcript.appended('a', { items: [done], event: { type: 'chat_response' } } as never);
  transcript.show('a', [done]);
  expect(transcript.items).toEqual([done]);
});

test('activities: an approval takes precedence over running, and an unseen end stays until the conversation is shown', () => {
  const running = new Set(['a']);
  let open: OpenRequest[] = [];
  let shown = 'b';
  const live = (id: string) => ({
    running: running.has(id),
    log: { state: { summary: { title: `Title ${id}` }, choice: { current: {} } } },
  });
  const requests = {
    get all() {
      return open;
    },
  };
  const activities = new Activities({ get: (id) => live(id) as never, requests, shown: () => shown });
  activities.changed({ conversation: 'a' });
  expect(activities.others).toEqual([{ id: 'a', title: 'Title a', activity: 'running' }]);
  open = [{ type: 'approval', conversation: 'a', id: 'x' } as OpenRequest];
  expect(activities.activityOf('a')).toBe('approval');
  [open, running].forEach((one) => (Array.isArray(one) ? one.splice(0) : one.clear()));
  activities.changed({ conversation: 'a', folded: { event: { type: 'turn_ended', outcome: 'error' } } as never });
  expect(activities.others).toMatchObject([{ activity: 'failed' }]);
  shown = 'a';
  activities.seen('a');
  expect(activities.activityOf('a')).toBeUndefined();
});
