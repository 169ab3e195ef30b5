// Messages to the chat page: none before it is ready, then a snapshot, then deltas without gaps that lead to the same
// state.
import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Clock } from '../../../../src/base/clock.ts';
import { toDisposable } from '../../../../src/base/disposable.ts';
import { Requests } from '../../../../src/core/client/requests.ts';
import { ChatFrontend } from '../../../../src/core/frontend/chatFrontend.ts';
import { emptyChatHead } from '../../../../src/core/frontend/chatHead.ts';
import { type ApprovalAnswer } from '../../../../src/core/ports/ports.ts';
import { type TranscriptItem } from '../../../../src/protocol/transcript.ts';
import { type ToPage } from '../../../../src/protocol/webview.ts';
import { wholeText } from '../../../../src/webview/growing.ts';
import { initialState, type PageItem, type PageState, reduce } from '../../../../src/webview/state.ts';

const head = emptyChatHead({ version: '1', hostVersion: '2' }, { label: 'm', detail: 'd' });

let timers: (() => void)[];
let frontend: ChatFrontend;
let requests: Requests;
let posted: ToPage[];
const clock: Clock = {
  now: () => 0,
  monotonic: () => 0,
  after: (_milliseconds, run) => {
    const held = toDisposable(() => {
      timers = timers.filter((timer) => timer !== fire);
    });
    const fire = () => {
      held.dispose();
      run();
    };
    timers.push(fire);
    return held;
  },
};
const tick = () => {
  for (const timer of timers) timer();
};

const fail = (error: unknown): never => {
  throw error;
};
/** Returns whether the answer was accepted. */
const answerCall = (action: ApprovalAnswer['action'], conversation = 'c') =>
  requests.answer({ type: 'approval', conversation, id: 't', answer: { action, by: 'user' } }).ok;

beforeEach(() => {
  timers = [];
  posted = [];
  requests = new Requests(fail);
  frontend = new ChatFrontend(clock, head, requests);
  frontend.show('c', []);
});
afterEach(() => frontend.dispose());

const tool = (state: 'running' | 'done'): TranscriptItem => ({
  type: 'tool',
  id: 't',
  name: 'run_command',
  arguments: {},
  state,
  output: '',
});
const appended = (item: TranscriptItem) => frontend.appended('c', { items: [item] } as never);

test('nothing is posted before the page is ready; then a snapshot of the whole state', () => {
  frontend.setHead({ running: true });
  frontend.render('c', { type: 'answer_started', id: 'a' });
  frontend.render('c', { type: 'answer_text', id: 'a', field: 'text', text: 'Hel' });
  tick();
  frontend.attach((message) => posted.push(message));
  expect(posted).toMatchObject([
    { type: 'snapshot', state: { running: true, items: [{ id: 'a', text: 'Hel', streaming: true }] } },
  ]);
});

test('changes within one flush interval are posted together, in order', () => {
  frontend.attach((message) => posted.push(message));
  frontend.render('c', { type: 'answer_started', id: 'a' });
  for (const text of ['x', 'y', 'z']) frontend.render('c', { type: 'answer_text', id: 'a', field: 'text', text });
  frontend.render('other', { type: 'answer_text', id: 'a', field: 'text', text: 'not mine' });
  tick();
  expect(posted.slice(1)).toMatchObject([
    { type: 'delta', changes: [{ type: 'item' }, { type: 'text', text: 'xyz' }] },
  ]);
});

test('an approval is shown while it is open, answered once, and closed when the turn is stopped', async () => {
  frontend.attach((message) => posted.push(message));
  appended(tool('running'));
  const stopped = new AbortController();
  const request = { conversation: 'c', call: { id: 't', name: 'run_command', arguments: {} } };
  const answer = requests.approve(request, stopped.signal);
  tick();
  expect(requests.all.length).toBe(1);
  expect(posted.at(-1)).toMatchObject({ changes: [{}, { item: { id: 't', state: 'approval' } }] });
  expect(answerCall('approve')).toBe(true);
  expect(answerCall('reject')).toBe(false);
  expect(await answer).toEqual({ action: 'approve', by: 'user' });
  const second = requests.approve(request, stopped.signal);
  stopped.abort();
  await expect(second).rejects.toThrow('cancelled');
  expect(requests.all.length).toBe(0);
});

test('an answer that names its conversation never reaches a call of another one with the same id', async () => {
  const { signal } = new AbortController();
  const call = { id: 't', name: 'run_command', arguments: {} };
  const [own, other] = ['c', 'other'].map((conversation) => requests.approve({ conversation, call }, signal));
  frontend.show('other', []);
  expect(answerCall('approve')).toBe(true);
  expect(await own).toMatchObject({ action: 'approve' });
  expect(answerCall('approve')).toBe(false);
  expect(requests.all).toMatchObject([{ conversation: 'other' }]);
  expect(answerCall('reject', 'other')).toBe(true);
  expect(await other).toMatchObject({ action: 'reject' });
});

test('a call is shown while the model writes it, and removed when the answer ends', () => {
  let page: PageState = initialState;
  frontend.attach((message) => (page = reduce(page, message)));
  frontend.render('c', { type: 'answer_started', id: 'a' });
  for (const text of ['{"path": "src', '/a.ts"}'])
    frontend.render('c', { type: 'call_text', answer: 'a', index: 0, name: 'edit_file', text });
  tick();
  expect(shown(page)).toContainEqual(
    expect.objectContaining({ type: 'tool', name: 'edit_file', state: 'writing', output: '{"path": "src/a.ts"}' }),
  );
  frontend.render('c', { type: 'answer_ended', id: 'a' });
  tick();
  expect(shown(page)).toEqual([]);
});

test('whenever the page connects, deltas lead to the same state as a new snapshot', () => {
  const step = fc.oneof(
    fc.record({ type: fc.constant('text' as const), text: fc.string() }),
    fc.record({
      type: fc.constantFrom(
        'start' as const,
        'end' as const,
        'tool' as const,
        'done' as const,
        'output' as const,
        'write' as const,
        'tick' as const,
        'attach' as const,
      ),
    }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const one = new ChatFrontend(clock, head, new Requests(fail));
      one.show('c', []);
      let page: PageState = initialState;
      const attach = () => one.attach((message) => (page = reduce(page, message)));
      attach();
      for (const current of steps) {
        if (current.type === 'text')
          one.render('c', { type: 'answer_text', id: 'a', field: 'text', text: current.text });
        else if (current.type === 'start') one.render('c', { type: 'answer_started', id: 'a' });
        else if (current.type === 'end') one.render('c', { type: 'answer_ended', id: 'a' });
        else if (current.type === 'tool') one.appended('c', { items: [tool('running')] } as never);
        else if (current.type === 'done') one.appended('c', { items: [tool('done')] } as never);
        else if (current.type === 'output') one.render('c', { type: 'tool_output', call: 't', text: 'o' });
        else if (current.type === 'write')
          one.render('c', { type: 'call_text', answer: 'a', index: 0, name: 'edit_file', text: '{"path"' });
        else if (current.type === 'tick') tick();
        else attach();
      }
      tick();
      const followed = shown(page);
      expect(page.connection).toBe('live');
      attach();
      expect(followed).toEqual(shown(page));
      one.dispose();
    }),
  );
});

function shown(state: PageState): unknown[] {
  return state.items.chunks.flat().map((item: PageItem) => {
    if (item.type === 'answer') return { ...item, text: wholeText(item.text), reasoning: wholeText(item.reasoning) };
    return item.type === 'tool' ? { ...item, output: wholeText(item.output) } : item;
  });
}

test('the composer gets the focus at once, or with the next page if none is ready or it is about to be replaced', () => {
  const focused = () => posted.splice(0).filter(({ type }) => type === 'focus_composer').length;
  const attach = () => frontend.attach((message) => posted.push(message));
  frontend.focusComposer();
  attach();
  expect(posted.map(({ type }) => type)).toEqual(['snapshot', 'focus_composer']);
  posted = [];
  frontend.focusComposer();
  expect(focused()).toBe(1);
  frontend.focusNextPage();
  // The old page is still attached and gets this request, although it is about to be replaced.
  frontend.focusComposer();
  expect(focused()).toBe(1);
  attach();
  expect(focused()).toBe(1);
  attach();
  expect(focused()).toBe(0);
});
