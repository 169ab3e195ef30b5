// The repeats projection: a shown state counts as known until something may have changed it.
import { expect, test } from 'vitest';
import { type EventDraft } from '../../../../../src/protocol/event.ts';
import { type Notification } from '../../../../../src/protocol/notification.ts';
import { call, folded, numbered, queued, result } from '../../../../support/log/events.ts';

const good = (id: string, name = 'build'): Notification => ({
  id,
  kind: { source: 'task', name: 'ended' },
  level: 'info',
  message: id,
  subject: `task:${name}`,
  origin: 'process',
  at: '2026-01-02T03:04:05.000Z',
  data: { state: 'succeeded' },
});
const bad = (id: string): Notification => {
  const { data: _, ...rest } = good(id);
  return { ...rest, level: 'error' };
};
const callOf = (id: string, name: string): EventDraft => ({ type: 'tool_call_request', id, name, arguments: {} });
const changes = [{ path: 'a.ts', before: 'h1', after: 'h2' }];
const compaction = { type: 'compaction', through: 4, text: 'All of it.', seen: [] } as unknown as EventDraft;

const isKnown = (...events: EventDraft[]) => folded(numbered(...events)).repeats.isRepeat(good('next'));

test.each<[string, boolean, EventDraft[]]>([
  ['nothing was delivered', false, [call('c'), result('c')]],
  ['it was queued, not shown', false, [queued(good('a'))]],
  ['it was shown', true, [call('c'), queued(good('a')), result('c', 2, ['a'])]],
  ['it was shown for another subject', false, [call('c'), queued(good('a', 'test')), result('c', 2, ['a'])]],
  ['it was only counted', false, [call('c'), queued(good('a')), result('c', 2, [], { counted: ['a'] })]],
  ['settings filtered it', false, [call('c'), queued(good('a')), result('c', 2, [], { filtered: ['a'] })]],
  [
    'a failure was delivered after it',
    false,
    [call('c'), queued(good('a')), result('c', 2, ['a']), call('d'), queued(bad('b')), result('d', 5, ['b'])],
  ],
  [
    'a failure before it was merged into it',
    true,
    [call('c'), queued(bad('a')), queued(good('b')), result('c', 3, ['b'], { merged: ['a'] })],
  ],
  [
    'several subjects were listed as one',
    false,
    [call('c'), queued(good('a', 'test')), queued(good('b')), result('c', 3, ['b'], { merged: ['a'] })],
  ],
  [
    'the model has edited a file since',
    false,
    [call('c'), queued(good('a')), result('c', 2, ['a']), call('d'), { ...result('d'), changes } as EventDraft],
  ],
  [
    'it was queued before the edit whose result shows it',
    false,
    [call('c'), queued(good('a')), { ...result('c', 2, ['a']), changes } as EventDraft],
  ],
  [
    'it was queued before an edit, and another result shows it',
    false,
    [call('c'), call('d'), queued(good('a')), { ...result('c'), changes } as EventDraft, result('d', 4, ['a'])],
  ],
  [
    'it was queued after the edit',
    true,
    [call('c'), { ...result('c'), changes } as EventDraft, call('d'), queued(good('a')), result('d', 4, ['a'])],
  ],
  [
    'the model has run the task itself since',
    false,
    [call('c'), queued(good('a')), result('c', 2, ['a']), callOf('d', 'run_task'), result('d')],
  ],
  [
    'the model has run a command since',
    false,
    [call('c'), queued(good('a')), result('c', 2, ['a']), callOf('d', 'run_command'), result('d')],
  ],
  [
    'the model has only read since',
    true,
    [call('c'), queued(good('a')), result('c', 2, ['a']), call('d'), result('d')],
  ],
  ['it was compacted since', false, [call('c'), queued(good('a')), result('c', 2, ['a']), compaction]],
  [
    'it was queued behind the carrier and shown by the next one',
    true,
    [call('c'), queued(bad('a')), queued(good('b')), result('c', 2, ['a']), call('d'), result('d', 3, ['b'])],
  ],
])('%s: isKnown is %s', (_, known, events) => {
  expect(isKnown(...events)).toBe(known);
});

/** A state that counts as known before anything was shown. */
const usual = (id: string, name = 'build'): Notification => ({
  ...good(id, name),
  data: { state: 'succeeded', usually: 'succeeded' },
});
const isAssumed = (...events: EventDraft[]) => folded(numbered(...events)).repeats.isRepeat(usual('next'));

test.each<[string, boolean, EventDraft[]]>([
  ['nothing has happened', true, []],
  ['the model has only read', true, [call('c'), result('c')]],
  ['a failure is pending', true, [call('c'), queued(bad('a'))]],
  ['a failure was shown', false, [call('c'), queued(bad('a')), result('c', 2, ['a'])]],
  ['a failure was only counted', false, [call('c'), queued(bad('a')), result('c', 2, [], { counted: ['a'] })]],
  ['the model has edited a file', false, [call('c'), { ...result('c'), changes } as EventDraft]],
  ['the model has run a command', false, [callOf('c', 'run_command'), result('c')]],
  ['the conversation was compacted', false, [call('c'), result('c'), compaction]],
])('the usual state when %s: isRepeat is %s', (_, assumed, events) => {
  expect(isAssumed(...events)).toBe(assumed);
});
