// What the model did about delivered notifications: four ways of touching the subject within two cycles, refused edits,
// forks, and sums.
import { expect, test } from 'vitest';
import { NotificationUse, sumUses } from '../../../../src/core/frontend/notificationUse.ts';
import { type EventDraft } from '../../../../src/protocol/event.ts';
import { type Notification } from '../../../../src/protocol/notification.ts';
import { numbered, queued, request, result, started, succeededCall, turnStarted } from '../../../support/log/events.ts';

const about = (id: string, subject: string, kind = 'file.changed', more: Partial<Notification> = {}): Notification => {
  const [source = '', name = ''] = kind.split('.');
  const at = '2026-01-02T03:04:05.000Z';
  return {
    id,
    kind: { source, name },
    level: 'info',
    message: `${subject} changed.`,
    subject,
    origin: 'editor',
    at,
    ...more,
  };
};
const carrier = (...shown: string[]): EventDraft => {
  const lists = { user_text: [], shown, merged: [], counted: [], filtered: [] };
  return {
    ...{ type: 'chat_request', content: 'Go.', source: 'user' },
    notifications: { format: 'xml', text: '<block>', through: 0, ...lists },
  };
};
const calls = (id: string, name: string, args: Record<string, unknown>): EventDraft[] => [
  { type: 'tool_call_request', id, name, arguments: args },
  succeededCall,
];
const answered = (message: string): EventDraft[] => [{ type: 'chat_response', message }, succeededCall];
const response = (id: string, more: object = {}): EventDraft => ({
  ...{ type: 'tool_call_response', id, content: '', is_error: false },
  ...more,
});
/** A cycle that has nothing to do with anything. */
const idle = (id: string) => [...calls(id, 'list_files', { path: 'docs' }), response(id)];

function use(...drafts: EventDraft[]) {
  const projection = new NotificationUse();
  for (const event of numbered(started, turnStarted, ...drafts)) projection.fold(event);
  return projection.kinds;
}
const touched = (...drafts: EventDraft[]) => {
  const [kind] = use(queued(about('n', 'file:src/a.ts')), carrier('n'), ...drafts);
  const { followed, used, read, edited, ran, answered: told, refused } = kind ?? {};
  return { followed, used, read, edited, ran, answered: told, refused };
};
const none = { followed: 1, used: 0, read: 0, edited: 0, ran: 0, answered: 0, refused: 0 };

test('a delivered notification is used if one of the next two cycles reads, edits, runs or names its file', () => {
  const seen = [{ path: 'src/a.ts', hash: 'h' }];
  expect(touched(...calls('c', 'read_file', { path: 'src/a.ts' }), response('c', { seen }))).toEqual({
    ...none,
    used: 1,
    read: 1,
  });
  const changes = [{ path: 'src/a.ts', before: 'h', after: 'i' }];
  expect(touched(...calls('c', 'edit_file', { path: 'src/a.ts' }), response('c', { changes }))).toEqual({
    ...none,
    used: 1,
    edited: 1,
  });
  const command = { command: 'npx tsc src/a.ts' };
  const failedRun = response('c', { is_error: true });
  expect(touched(...calls('c', 'run_command', command), failedRun)).toEqual({ ...none, used: 1, ran: 1 });
  expect(touched(...answered('I saw that `a.ts` is another now.'))).toEqual({ ...none, used: 1, answered: 1 });
  // Several ways count once.
  expect(touched(...idle('d'), ...answered('In src/a.ts.'), ...answered('src/a.ts'))).toEqual({
    ...none,
    used: 1,
    answered: 1,
  });
});

test('what comes in the third cycle, what fails and what has a similar name is no use', () => {
  expect(touched(...idle('c'), ...idle('d'), ...answered('src/a.ts'))).toEqual(none);
  expect(touched(...calls('c', 'read_file', { path: 'src/a.ts' }), response('c', { is_error: true }))).toEqual(none);
  expect(touched(...calls('c', 'read_file', { path: 'src/a.tsx' }), response('c'))).toEqual(none);
  expect(touched(...answered('schema.ts and a.tsx'))).toEqual(none);
  expect(touched()).toEqual({ ...none, followed: 0 });
  // An attempt that failed is no cycle, and a title is none of the conversation.
  const attempts: EventDraft[] = [
    { type: 'model_call', model: 'm', outcome: 'failed' },
    { type: 'model_call', model: 'm', outcome: 'succeeded', purpose: 'title' },
  ];
  expect(touched(...attempts, ...attempts)).toEqual({ ...none, followed: 0 });
  expect(touched(...attempts, ...idle('c'), ...attempts, ...answered('src/a.ts'))).toMatchObject({ used: 1 });
});

test('an edit that was refused because the file was not known as it is counts against the notification', () => {
  const stale = response('c', { is_error: true, failure: 'stale' });
  expect(touched(...calls('c', 'edit_file', { path: 'src/a.ts' }), stale)).toEqual({ ...none, refused: 1 });
  expect(touched(...calls('c', 'edit_file', { path: 'src/b.ts' }), stale)).toEqual(none);
});

test('subjects that are no files: tasks, commands, servers, senders and the files of a git operation', () => {
  const kinds = use(
    queued(about('t', 'task:build', 'task.ended')),
    queued(about('h', 'handle:job', 'tool.failed')),
    queued(about('m', 'mcp:kettle', 'mcp.reconnected')),
    queued(about('s', 'message:1', 'message.received', { data: { from: 'amber-finch' } })),
    queued(about('g', 'git:.', 'git.head_changed', { data: { files: [{ path: 'src/b.ts', hash: 'h' }] } })),
    queued(about('r', 'rest:.', 'time.due', { message: 'x'.repeat(1000) })),
    carrier('t', 'h', 'm', 's', 'g', 'r'),
    ...calls('1', 'run_task', { name: 'build' }),
    response('1'),
    ...calls('2', 'handle', { name: 'job' }),
    response('2'),
    ...calls('3', 'kettle__boil', {}),
    response('3'),
  );
  const touches = new Map(kinds.map((one) => [one.source, [one.read, one.ran, one.answered]]));
  expect(Object.fromEntries(touches)).toEqual({
    task: [0, 1, 0],
    tool: [1, 0, 0],
    // The third cycle began with its call.
    mcp: [0, 0, 0],
    message: [0, 0, 0],
    git: [0, 0, 0],
    time: [0, 0, 0],
  });
  // Most tokens first.
  expect(kinds[0]).toMatchObject({ source: 'time', delivered: 1, followed: 1 });
  const git = use(
    queued(about('g', 'git:.', 'git.head_changed', { data: { files: [{ path: 'src/b.ts', hash: 'h' }] } })),
    carrier('g'),
    ...answered('Then b.ts is another.'),
  );
  expect(git).toMatchObject([{ used: 1, answered: 1 }]);
});

test('withdrawn, merged and counted ones are not delivered; the carrier of a result does not count as its use', () => {
  const events: EventDraft[] = [
    queued(about('a', 'file:src/a.ts')),
    queued(about('b', 'file:src/a.ts')),
    queued(about('w', 'file:src/a.ts')),
    { type: 'notification_withdrawn', ids: ['w'], reason: 'it is as it was' },
    ...calls('c', 'read_file', { path: 'src/a.ts' }),
    result('c', 9, ['b'], { merged: ['a'] }),
  ];
  const [kind] = use(request('Go.'), ...events);
  expect(kind).toMatchObject({ delivered: 1, followed: 0, used: 0 });
});

test('a fork counts only what is its own, and sums have every conversation once', () => {
  const first = [queued(about('n', 'file:src/a.ts')), carrier('n'), ...answered('src/a.ts')];
  const fork: EventDraft = { type: 'forked', from: 'c', through: 6 };
  expect(use(...first, fork)).toEqual([]);
  const second = [queued(about('m', 'file:src/b.ts')), carrier('m'), ...answered('Nothing.')];
  const own = use(...first, fork, ...second);
  expect(own).toMatchObject([{ delivered: 1, followed: 1, used: 0 }]);
  const both = sumUses([use(...first), own]);
  expect(both).toMatchObject([{ source: 'file', name: 'changed', delivered: 2, followed: 2, used: 1, answered: 1 }]);
  expect(both[0]?.tokens).toBe((own[0]?.tokens ?? 0) + (use(...first)[0]?.tokens ?? 0));
});

test('names are searched as they are, whatever they contain', () => {
  const hostile = about('n', 'file:src/(a+)+$[.ts', 'file.changed', { scopes: [`file:${'['.repeat(4000)}`] });
  expect(use(queued(hostile), carrier('n'), ...answered('In src/(a+)+$[.ts.'))).toMatchObject([{ answered: 1 }]);
  expect(use(queued(hostile), carrier('n'), ...answered('a'.repeat(100_000)))).toMatchObject([{ used: 0 }]);
});
