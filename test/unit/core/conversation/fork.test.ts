// A fork has the history up to the end of a cycle and what was pending there; an export has everything but the key.
import { expect, test } from 'vitest';
import { exportJson, exportMarkdown } from '../../../../src/core/conversation/export.ts';
import { forkEvents, forkPoints } from '../../../../src/core/conversation/fork.ts';
import {
  call,
  folded,
  numbered,
  queued,
  request,
  result,
  started,
  succeededCall,
  turnStarted,
} from '../../../support/log/events.ts';
import { notificationOf } from '../../../support/log/memoryStorage.ts';

const events = numbered(
  started,
  turnStarted,
  request('Do it.'),
  call('c1'),
  call('c2'),
  succeededCall, // 6: two calls are open
  queued(notificationOf('n1', 'a.ts')),
  result('c1'),
  result('c2', 8, ['n1']), // the end of the cycle
  queued(notificationOf('n2', 'b.ts')),
  queued(notificationOf('n3', 'c.ts')),
  { type: 'chat_response', message: 'Done.' },
  succeededCall, // 13
  { type: 'turn_ended', outcome: 'done' }, // 14
  { type: 'notification_withdrawn', ids: ['n3'], reason: 'as it was' },
  request('And the key is the-secret-key?'),
);
const deps = { id: 'origin', events, now: '2026-02-02T02:02:02.000Z', ulid: () => 'new-id' };

test('fork points are the ends of cycles, newest first', () => {
  expect(forkPoints(events)).toEqual([14, 13, 9]);
});

test('a fork has every event up to its point, names its origin and keeps the key', () => {
  const forked = forkEvents({ ...deps, through: 14 });
  if (!forked.ok) throw new Error(forked.failure.message);
  expect(forked.value.slice(0, 14)).toEqual(events.slice(0, 14));
  expect(forked.value.slice(14)).toMatchObject([
    { seq: 15, type: 'forked', from: 'origin', through: 14 },
    { seq: 16, type: 'title_set', title: 'Do it. (fork)' },
    { seq: 17, type: 'notification_withdrawn', ids: ['n3'], reason: 'as it was' },
  ]);
  const state = folded(forked.value);
  expect(state.turn.key).toBe('the-secret-key');
  expect(state.summary.forkedFrom).toBe('origin');
  // A notification withdrawn later in the original is withdrawn in the fork too.
  expect(state.pending.notifications.map(({ id }) => id)).toEqual(['n2']);
});

test('a fork inside a turn ends the turn; a fork inside a cycle is refused', () => {
  const forked = forkEvents({ ...deps, through: 9 });
  if (!forked.ok) throw new Error(forked.failure.message);
  expect(forked.value.at(-1)).toMatchObject({ type: 'turn_ended', outcome: 'stopped' });
  expect(folded(forked.value).turn.isOpen).toBe(false);
  expect(folded(forked.value).messages.all).toEqual(folded(events.slice(0, 9)).messages.all);
  expect(forkEvents({ ...deps, through: 8 })).toMatchObject({ ok: false, failure: { code: 'not_a_cycle_end' } });
  expect(forkEvents({ ...deps, through: 99 })).toMatchObject({ ok: false });
});

test('exports show messages, calls and delivered notifications, and mask the key', () => {
  const markdown = exportMarkdown({ id: 'origin', events });
  expect(markdown).toContain('# Do it.');
  expect(markdown).toContain('## You\n\nDo it.');
  expect(markdown).toContain(
    '<details>\n<summary>Read file: a.ts</summary>\n\n```json\n{\n  "path": "a.ts"\n}\n```\n\n**Result:**\n\n```\nresult of ',
  );
  expect(markdown).toContain(
    '<summary>Notifications delivered to the model</summary>\n\n```xml\n<block of n1>\n```\n\n</details>',
  );
  expect(markdown).toContain('And the key is •••?');
  const json = exportJson({ id: 'origin', events });
  const parsed = JSON.parse(json) as { conversation: string; title: string; events: { seq: number }[] };
  expect(parsed).toMatchObject({ conversation: 'origin', title: 'Do it.' });
  expect(parsed.events.map(({ seq }) => seq)).toEqual(events.map(({ seq }) => seq));
  expect(markdown + json).not.toContain('the-secret-key');
});

test('an exported code fence is longer than any fence in its content', () => {
  const tricky = numbered(started, call('c'), {
    type: 'tool_call_response',
    id: 'c',
    content: 'a\n````\nb',
    is_error: true,
  });
  expect(exportMarkdown({ id: 'x', events: tricky })).toContain(
    '**Failed:**\n\n`````\na\n````\nb\n`````\n\n</details>',
  );
});

test('the cycles of one turn are exported below one heading, and a call without result says so', () => {
  const said = (message: string) => ({ type: 'chat_response', message }) as const;
  const turn = numbered(started, request('Go.'), said('One.'), call('a'), result('a'), said('Two.'), call('b'));
  const markdown = exportMarkdown({ id: 'x', events: turn });
  expect(markdown.match(/^## .*/gm)).toEqual(['## You', '## Earshot']);
  expect(markdown.match(/<summary>.*/g)).toEqual([
    '<summary>Read file: a.ts</summary>',
    '<summary>Read file: a.ts (no result)</summary>',
  ]);
});
