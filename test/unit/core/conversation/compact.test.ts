// Compaction: the summary repeats outstanding and pending notifications, and a call is never separated from its result.
import { expect, test } from 'vitest';
import { compactionDraft, safeCompactionPoint } from '../../../../src/core/conversation/compact.ts';
import { type EventDraft } from '../../../../src/protocol/event.ts';
import { type NotificationDraft } from '../../../../src/protocol/notification.ts';
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

const about = (source: string, name: string, level: NotificationDraft['level'], subject: string, message: string) => ({
  kind: { source, name },
  level,
  subject,
  message,
});

const build = (id: string, ok: boolean) =>
  queued(
    notificationOf(
      id,
      '',
      about('task', 'ended', ok ? 'info' : 'error', 'task:build', ok ? 'build ended with 0' : 'build failed\nlong log'),
    ),
  );
const fileChange = (id: string, path: string, hash: string, complete = false) =>
  queued(notificationOf(id, path, { message: `${path} changed (+1 −1):\n@@ diff`, data: { path, hash, complete } }));

/** A cycle that delivers everything queued so far. */
function carry(drafts: EventDraft[], ids: string[], more: object = {}): EventDraft[] {
  const name = `call-${drafts.length}`;
  const through = drafts.length + 2;
  return [...drafts, call(name), succeededCall, { ...result(name, through, ids), ...more }];
}

function textOf(drafts: EventDraft[]): string {
  const state = folded(numbered(...drafts));
  return compactionDraft(state, 'The summary.', drafts.length).summary;
}

const begin = [started, turnStarted, request('Go.')];

test('a delivered build failure is repeated with its first line', () => {
  const text = textOf(carry([...begin, build('n1', false)], ['n1']));
  expect(text).toBe(
    [
      'Summary of the conversation so far (the original is no longer shown):',
      'The summary.',
      'Reported earlier and still true, the last state of each:\n- task.ended at 03:04:05: build failed',
    ].join('\n\n'),
  );
});

test('a later success of the same subject removes the failure, and a later failure replaces it', () => {
  const failing = carry([...begin, build('n1', false)], ['n1']);
  expect(textOf(carry([...failing, build('n2', true)], ['n2']))).not.toContain('task.ended');
  const again = textOf(carry([...failing, build('n2', false)], ['n2']));
  expect(again.match(/task\.ended/g)).toHaveLength(1);
});

test('a pending success does not remove the failure and is listed as pending', () => {
  const text = textOf([...carry([...begin, build('n1', false)], ['n1']), build('n2', true)]);
  expect(text).toContain('- task.ended at 03:04:05: build failed');
  expect(text).toContain('Pending, delivered in full with the next result or request:\n- task.ended task:build');
});

test('a changed file is repeated until it is read, even if its diff was shown', () => {
  const changed = carry([...begin, fileChange('n1', 'a.ts', 'h2', true)], ['n1'], {
    seen: [{ path: 'a.ts', hash: 'h2' }],
  });
  expect(textOf(changed)).toContain('- file.changed at 03:04:05: a.ts changed (+1 −1)');
  expect(textOf(changed)).not.toContain('@@ diff');
  expect(textOf(carry(changed, [], { seen: [{ path: 'a.ts', hash: 'h2' }], notifications: undefined }))).not.toContain(
    'a.ts',
  );
});

test('a file restored to its last read version is not repeated', () => {
  const read = carry([...begin], [], { seen: [{ path: 'a.ts', hash: 'h1' }], notifications: undefined });
  const changed = carry([...read, fileChange('n1', 'a.ts', 'h2')], ['n1']);
  expect(textOf(changed)).toContain('a.ts changed');
  expect(textOf(carry([...changed, fileChange('n2', 'a.ts', 'h1', true)], ['n2']))).not.toContain('a.ts');
});

test('withdrawn and filtered notifications are not repeated; counted ones are', () => {
  const two = [...begin, build('n1', false), fileChange('n2', 'a.ts', 'h2'), fileChange('n3', 'b.ts', 'h3')];
  const withdrawn: EventDraft[] = [...two, { type: 'notification_withdrawn', ids: ['n2'], reason: 'reverted' }];
  const name = 'call-x';
  const drafts = [
    ...withdrawn,
    call(name),
    succeededCall,
    result(name, withdrawn.length + 2, [], { filtered: ['n1'], counted: ['n3'] }),
  ];
  const text = textOf(drafts);
  expect(text).not.toContain('task.ended');
  expect(text).not.toContain('a.ts');
  expect(text).toContain('b.ts changed');
});

test('notifications after the compacted range are not repeated; repeated ones stay until something resolves them', () => {
  const first = carry([...begin, build('n1', false)], ['n1']);
  const drafts = carry([...first, fileChange('n2', 'a.ts', 'h2')], ['n2']);
  const state = folded(numbered(...drafts));
  const compaction = compactionDraft(state, 'S', first.length);
  expect(compaction.summary).toContain('build failed');
  expect(compaction.summary).not.toContain('a.ts');
  const next = compactionDraft(folded(numbered(...drafts, compaction)), 'S2', drafts.length + 1);
  expect(next.summary).toContain('build failed');
});

test('of 1,000 outstanding notifications 40 are listed and the rest counted', () => {
  const ids = Array.from({ length: 1000 }, (_, index) => `n${index}`);
  const drafts = carry([...begin, ...ids.map((id) => fileChange(id, `${id}.ts`, id))], ids);
  const text = textOf(drafts);
  expect(text).toContain('- and 960 more: read_notifications lists them.');
  expect(text.length).toBeLessThan(10_000);
});

test('compaction ends at the end of a cycle, never inside one', () => {
  const point = (drafts: EventDraft[], keep?: number) => safeCompactionPoint(folded(numbered(...drafts)), keep);
  expect(point([started])).toBeUndefined();
  expect(point(begin)).toBe(3);
  expect(point([...begin, call('c1')])).toBeUndefined();
  expect(point([...begin, call('c1'), call('c2'), succeededCall, result('c1')])).toBeUndefined();
  const whole = [...begin, call('c1'), call('c2'), succeededCall, result('c1'), result('c2')];
  expect(point(whole)).toBe(8);
  // Keeping a result keeps its call too.
  expect([1, 2, 3].map((keep) => point(whole, keep))).toEqual([3, 3, 3]);
  expect(point(whole, 4)).toBeUndefined();
});

test('the model gets the summary and the kept messages; the transcript keeps the originals', () => {
  const whole = [...begin, call('c1'), succeededCall, result('c1'), request('And now?')];
  const state = folded(numbered(...whole));
  const through = safeCompactionPoint(state, 1) ?? 0;
  const after = folded(numbered(...whole, compactionDraft(state, 'S', through)));
  expect(after.messages.all.map((message) => message.role)).toEqual(['user', 'user']);
  expect(after.messages.all.at(-1)).toEqual({ role: 'user', content: 'And now?' });
  expect(after.transcript.items.length).toBeGreaterThanOrEqual(state.transcript.items.length);
});

test('a file whose content was compacted away is marked as compacted', () => {
  const read = carry([...begin], [], { seen: [{ path: 'a.ts', hash: 'h1' }], notifications: undefined });
  const state = folded(numbered(...read, { type: 'compaction', summary: 'S', through: read.length }));
  expect(state.seen.get('a.ts')).toEqual({ hash: 'h1', compacted: true });
});

test('running handles are listed, ended ones are not', () => {
  const handle = (name: string): EventDraft => ({
    type: 'handle_started',
    name,
    pid: 1,
    start_time: 't',
    tool_call_id: name,
  });
  const drafts = [started, turnStarted, request('Go.'), handle('server'), handle('build')];
  const ended = { handles: [{ name: 'build', state: 'stopped' }] };
  expect(textOf([...drafts, call('a'), succeededCall, { ...result('a'), ...ended } as EventDraft])).toContain(
    'Your running handles, as last reported: server. List the handles for their current state.',
  );
});
