// The page's reducer: snapshots, deltas, gaps, unknown ids, screen reader announcements, and immutable states.
import { describe, expect, it } from 'vitest';
import { type TranscriptItem } from '../../../src/protocol/transcript.ts';
import { type Change, type ChatState } from '../../../src/protocol/webview.ts';
import { wholeText } from '../../../src/webview/growing.ts';
import { initialState, itemById, type PageItem, type PageState, reduce } from '../../../src/webview/state.ts';

const answer = (id: string, text: string, streaming = true): TranscriptItem => ({
  type: 'answer',
  id,
  text,
  reasoning: '',
  streaming,
  truncated: false,
});
const tool = (id: string, state: 'approval' | 'running' | 'done'): TranscriptItem => ({
  type: 'tool',
  id,
  name: 'run_command',
  arguments: { command: 'npm test' },
  state,
  output: '',
});

function chat(items: readonly TranscriptItem[]): ChatState {
  return {
    conversation: 'c',
    draft: '',
    controls: { mode: 'agent', approvals: 'reads', sendKey: 'enter', currency: 'USD' },
    others: [],
    version: '0.1.0',
    hostVersion: '1.139.1',
    model: { label: 'Guide', detail: 'offline, no AI' },
    title: '',
    running: false,
    canSend: true,
    pending: { count: 0, worst: null, entries: [] },
    heldBack: null,
    queued: [],
    attachments: [],
    meter: null,
    obstacles: [],
    todo: [],
    handles: [],
    due: [],
    items,
  };
}

function live(items: readonly TranscriptItem[], number = 7): PageState {
  return reduce(initialState, { type: 'snapshot', number, state: chat(items) });
}

function applyChanges(state: PageState, ...changes: readonly Change[]): PageState {
  return reduce(state, { type: 'delta', number: state.number + 1, changes });
}

function plain(item: PageItem | undefined): unknown {
  if (item?.type === 'answer') return { ...item, text: wholeText(item.text), reasoning: wholeText(item.reasoning) };
  return item?.type === 'tool' ? { ...item, output: wholeText(item.output) } : item;
}

function shown(state: PageState): unknown[] {
  return state.items.chunks.flat().map(plain);
}

describe('message numbers', () => {
  it('ignores deltas before the first snapshot', () => {
    const state = reduce(initialState, {
      type: 'delta',
      number: 1,
      changes: [{ type: 'item', item: answer('a', '') }],
    });
    expect(state).toBe(initialState);
  });

  it('applies a snapshot and the deltas that follow it', () => {
    const state = applyChanges(
      live([answer('a', 'x')]),
      { type: 'text', id: 'a', field: 'text', text: 'y' },
      { type: 'text', id: 'a', field: 'reasoning', text: 'because' },
      { type: 'head', head: { running: true } },
      { type: 'item', item: tool('t', 'running') },
      { type: 'text', id: 't', field: 'output', text: 'out' },
    );
    expect(shown(state)).toEqual([
      { ...answer('a', 'xy'), reasoning: 'because' },
      { ...tool('t', 'running'), output: 'out' },
    ]);
    expect(state.head?.running).toBe(true);
    expect(state.head?.version).toBe('0.1.0');
    expect(state.number).toBe(8);
  });

  it.each([7, 9, 6])('asks for a snapshot when %i follows 7 and ignores deltas until it arrives', (number) => {
    const before = live([answer('a', 'x')]);
    const gap = reduce(before, { type: 'delta', number, changes: [{ type: 'removed', id: 'a' }] });
    expect(gap.snapshotRequests).toBe(before.snapshotRequests + 1);
    expect(shown(gap)).toEqual([answer('a', 'x')]);
    const ignored = reduce(gap, { type: 'delta', number: 8, changes: [{ type: 'removed', id: 'a' }] });
    expect(ignored).toBe(gap);
    const again = reduce(ignored, { type: 'snapshot', number: 20, state: chat([answer('b', 'z')]) });
    expect(shown(applyChanges(again, { type: 'text', id: 'b', field: 'text', text: '!' }))).toEqual([
      answer('b', 'z!'),
    ]);
    expect(again.snapshotRequests).toBe(gap.snapshotRequests);
  });
});

describe('items', () => {
  it('replaces an item with the same id in place', () => {
    const state = applyChanges(live([tool('t', 'running'), answer('a', 'x')]), {
      type: 'item',
      item: tool('t', 'done'),
    });
    expect(shown(state)).toEqual([tool('t', 'done'), answer('a', 'x')]);
  });

  it('finds later items after one was removed', () => {
    const items = Array.from({ length: 100 }, (_, index) => answer(`a${index}`, `${index}`));
    const removed = applyChanges(live(items), { type: 'removed', id: 'a10' }, { type: 'removed', id: 'nobody' });
    const state = applyChanges(removed, { type: 'text', id: 'a99', field: 'text', text: '!' });
    expect(state.items.length).toBe(99);
    expect(itemById(state, 'a10')).toBeUndefined();
    expect(plain(itemById(state, 'a99'))).toEqual(answer('a99', '99!'));
  });

  it.each([
    { type: 'text', id: 'nobody', field: 'text', text: 'x' },
    { type: 'text', id: 'a', field: 'output', text: 'x' },
  ] as const)('asks for a snapshot when text arrives for an unknown id or field: $id $field', (change) => {
    const before = live([answer('a', 'x')]);
    const state = applyChanges(before, change);
    expect([state.connection, state.snapshotRequests]).toEqual(['waiting', before.snapshotRequests + 1]);
  });

  it('does not modify older states', () => {
    const first = live([answer('a', 'x')]);
    const second = applyChanges(first, { type: 'text', id: 'a', field: 'text', text: 'y' });
    const other = applyChanges(
      first,
      { type: 'text', id: 'a', field: 'text', text: 'z' },
      { type: 'item', item: answer('b', '') },
    );
    expect([first, second, other].map(shown)).toEqual([
      [answer('a', 'x')],
      [answer('a', 'xy')],
      [answer('a', 'xz'), answer('b', '')],
    ]);
    expect(itemById(second, 'b')).toBeUndefined();
  });

  it('replaces one chunk for one change among 5,000 items', () => {
    const before = live(Array.from({ length: 5000 }, (_, index) => answer(`a${index}`, 'x')));
    const after = applyChanges(before, { type: 'text', id: 'a4999', field: 'text', text: 'y' });
    const changed = after.items.chunks.filter((chunk, index) => chunk !== before.items.chunks[index]);
    expect(changed.length).toBe(1);
    expect(changed[0]?.length).toBeLessThanOrEqual(32);
  });
});

describe('the screen reader announcement', () => {
  it('announces an answer once, when it is complete', () => {
    let state = applyChanges(live([]), { type: 'item', item: answer('a', '') });
    for (const text of ['Hello', ' there']) state = applyChanges(state, { type: 'text', id: 'a', field: 'text', text });
    expect(state.announcement).toEqual({ serial: 0, text: '' });
    state = applyChanges(state, { type: 'item', item: answer('a', 'Hello there', false) });
    expect(state.announcement).toEqual({ serial: 1, text: 'Earshot answered: Hello there' });
    state = applyChanges(state, { type: 'item', item: answer('a', 'Hello there', false) });
    expect(state.announcement.serial).toBe(1);
  });

  it('announces a new approval, but nothing from a snapshot', () => {
    const state = live([tool('t', 'approval')]);
    expect(state.announcement.serial).toBe(0);
    expect(applyChanges(state, { type: 'item', item: tool('u', 'approval') }).announcement.text).toBe(
      'Approval needed: Run npm test',
    );
  });
});

it('a text that is returned right after another conversation was shown belongs to that one', () => {
  const snapshot = (conversation: string) => ({
    ...{ type: 'snapshot' as const, number: 1 },
    state: { ...chat([]), conversation, draft: '' },
  });
  let state = reduce(initialState, snapshot('one'));
  state = reduce(state, { type: 'restore_draft', text: 'of one' });
  state = reduce(state, snapshot('two'));
  state = reduce(state, { type: 'restore_draft', text: 'of two' });
  const ofShown = state.returned.filter(({ serial }) => serial === state.draft.serial);
  expect(ofShown.map(({ text }) => text)).toEqual(['of two']);
});

it('collects returned drafts and counts focus requests', () => {
  let state = reduce(initialState, { type: 'restore_draft', text: 'one' });
  state = reduce(state, { type: 'restore_draft', text: 'two' });
  state = reduce(state, { type: 'focus_composer' });
  expect([state.returned.map(({ text }) => text), state.focusRequests]).toEqual([['one', 'two'], 1]);
});
