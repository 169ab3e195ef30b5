// Approvals, questions and retries on the chat page, which are not in the log.
import { expect, test } from 'vitest';
import { Requests } from '../../../../src/core/client/requests.ts';
import { ChatFrontend } from '../../../../src/core/frontend/chatFrontend.ts';
import { emptyChatHead } from '../../../../src/core/frontend/chatHead.ts';
import { type ApprovalAnswer } from '../../../../src/core/ports/ports.ts';
import { type TranscriptItem } from '../../../../src/protocol/transcript.ts';
import { type Change, type ToPage } from '../../../../src/protocol/webview.ts';
import { initialState, reduce } from '../../../../src/webview/state.ts';
import { createManualClock } from '../../../support/manualClock.ts';

const head = emptyChatHead({ version: '1', hostVersion: '2' }, { label: 'm', detail: 'd' });

function begin() {
  const clock = createManualClock();
  const requests = new Requests((error) => expect(error).toBeUndefined());
  const frontend = new ChatFrontend(clock, head, requests);
  const posted: ToPage[] = [];
  frontend.attach((message) => posted.push(message));
  const tool: TranscriptItem = {
    type: 'tool',
    id: 'a',
    name: 'run_command',
    arguments: { command: 'x' },
    state: 'running',
    output: '',
  };
  frontend.show('c', [tool]);
  const changes = (): readonly Change[] => {
    clock.advance(1000);
    const last = posted.at(-1);
    return last?.type === 'delta' ? last.changes : [];
  };
  const answer = (action: ApprovalAnswer['action'], more: Partial<ApprovalAnswer> = {}) =>
    requests.answer({ type: 'approval', conversation: 'c', id: 'a', answer: { action, by: 'user', ...more } });
  const reply = (text: string) => requests.answer({ type: 'question', id: 'q', answer: { answer: text, by: 'user' } });
  return { frontend, requests, answer, reply, changes };
}

test('a retry shows a notice with its delay, which is removed when the request is sent', () => {
  const { frontend, changes } = begin();
  const failure = { code: 'rate_limited', message: 'It is busy.' } as const;
  frontend.render('c', { type: 'retrying', id: 'r', seconds: 4, failure });
  expect(changes()).toEqual([
    {
      type: 'item',
      item: {
        type: 'notice',
        id: 'r',
        level: 'warning',
        text: 'It is busy.',
        failure: 'The endpoint limits the rate of requests.',
        nextStep: 'Trying again in 4 s.',
      },
    },
  ]);
  frontend.render('c', { type: 'retrying_ended', id: 'r' });
  expect(changes()).toEqual([{ type: 'removed', id: 'r' }]);
  frontend.dispose();
});

test('an open approval shows its reason, the scope of *always*, and the problem of the last answer', async () => {
  const { frontend, requests, answer, changes } = begin();
  const call = { id: 'a', name: 'run_command', arguments: { command: 'x' } };
  const { signal } = new AbortController();
  const asked = { conversation: 'c', call, reason: 'it is outside.', always: 'x' };
  const asking = requests.approve(asked, signal);
  expect(changes()).toMatchObject([
    { item: { state: 'approval', approval: { reason: 'it is outside.', always: 'x' } } },
  ]);
  answer('modify', { arguments: {} });
  expect(await asking).toEqual({ action: 'modify', arguments: {}, by: 'user' });
  const again = requests.approve({ ...asked, problem: 'command: missing' }, signal);
  expect(changes().at(-1)).toMatchObject({ item: { approval: { problem: 'command: missing' } } });
  answer('approve');
  await again;
  expect(changes().at(-1)).toMatchObject({ item: { state: 'running' } });
  frontend.dispose();
});

test('a question can be answered once while it is open in this window; otherwise it is only shown', async () => {
  const { frontend, requests, reply, changes } = begin();
  const question = { id: 'q', text: 'Which?', several: false, options: ['x', 'y'] };
  const tool = { type: 'tool', id: 'a', name: 'ask_user', arguments: {}, state: 'running', output: '' } as const;
  frontend.show('c', [{ ...tool, question }]);
  expect(reply('x').ok).toBe(false);
  const { signal } = new AbortController();
  const asked = { conversation: 'c', id: 'q', call: 'a', text: 'Which?', options: ['x', 'y'] };
  const answer = requests.ask({ ...asked, problem: 'answer: wrong' }, signal);
  expect(changes()).toMatchObject([
    { item: { state: 'question', question: { options: ['x', 'y'], problem: 'answer: wrong' } } },
  ]);
  expect(requests.all).toMatchObject([{ type: 'question', conversation: 'c' }]);
  expect(reply('y').ok).toBe(true);
  expect(reply('x').ok).toBe(false);
  expect(await answer).toEqual({ answer: 'y', by: 'user' });
  expect(changes().at(-1)).toMatchObject({ item: { state: 'running' } });

  const stopped = new AbortController();
  const given = requests.ask(asked, stopped.signal);
  stopped.abort();
  await expect(given).rejects.toThrow('cancelled');
  expect(requests.all).toEqual([]);
  frontend.dispose();
});

test('whichever comes first, page, card or request: the page shows the open approval, and once', () => {
  const steps = ['show', 'card', 'ask', 'attach'] as const;
  const orders = steps.flatMap((one) =>
    steps.flatMap((two) => steps.flatMap((three) => steps.map((four) => [one, two, three, four] as const))),
  );
  for (const order of orders.filter((one) => new Set(one).size === steps.length)) {
    const clock = createManualClock();
    const requests = new Requests((error) => expect(error).toBeUndefined());
    const frontend = new ChatFrontend(clock, head, requests);
    let page = initialState;
    let logged: TranscriptItem[] = [];
    const stop = new AbortController();
    const call = { id: 'a', name: 'run_command', arguments: {} };
    const card: TranscriptItem = { type: 'tool', ...call, state: 'running', output: '' };
    const act = {
      show: () => frontend.show('c', logged),
      card: () => {
        logged = [card];
        frontend.appended('c', { items: [card], event: { type: 'tool_call_request' } } as never);
      },
      ask: () => void requests.approve({ conversation: 'c', call }, stop.signal).catch(() => undefined),
      attach: () => frontend.attach((message) => (page = reduce(page, message))),
    };
    const states = () => {
      clock.advance(1000);
      return page.items.chunks.flat().map((item) => ('state' in item ? item.state : item.type));
    };
    for (const step of order) act[step]();
    expect(states(), order.join(', ')).toEqual(['approval']);
    stop.abort();
    expect(states(), order.join(', ')).toEqual(['running']);
    frontend.dispose();
  }
});
