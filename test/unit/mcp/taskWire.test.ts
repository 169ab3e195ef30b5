import { type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { TaskWire } from '../../../src/mcp/session/taskWire.ts';

function begin() {
  const passed: JSONRPCMessage[] = [];
  const progress: string[] = [];
  const unclaimed: string[] = [];
  const transport = {
    onmessage: (message: JSONRPCMessage) => passed.push(message),
    start: async () => undefined,
    send: async () => undefined,
    close: async () => undefined,
  } as unknown as Transport;
  const wire = new TaskWire(transport, {
    progress: (task, text) => progress.push(`${task} ${text}`),
    unclaimed: (task) => unclaimed.push(task),
  });
  const receive = (message: object) => transport.onmessage?.({ jsonrpc: '2.0', ...message } as JSONRPCMessage);
  const result = () => (passed.at(-1) as { result: object }).result;
  return { wire, receive, passed, progress, unclaimed, result };
}

test.each([
  ['2026-07-28', { resultType: 'task', taskId: 't1', status: 'working' }],
  ['2025-11-25', { task: { taskId: 't1', status: 'working' } }],
])('%s: a result that is a task is claimed once, and its progress goes to the task', (_revision, created) => {
  const { wire, receive, passed, progress, result } = begin();
  receive({ id: 7, result: created });
  expect(wire.claim(result())).toBe('t1');
  expect(wire.claim(result())).toBeUndefined();
  const report = { method: 'notifications/progress', params: { progressToken: 7, progress: 1, total: 2 } };
  receive(report);
  expect([progress, passed.length]).toEqual([['t1 1 of 2'], 1]);
  wire.forget('t1');
  receive(report);
  expect([progress.length, passed.length]).toEqual([1, 2]);
});

test('every other message is passed on unchanged', () => {
  const { wire, receive, passed } = begin();
  const messages = [
    { id: 1, result: { content: [] } },
    { id: 2, result: { content: [], task: { taskId: 'x' } } },
    { id: 3, result: { resultType: 'task', taskId: 'x'.repeat(100_000) } },
    { id: 4, result: { resultType: 'task' } },
    { id: 5, result: { content: [], _meta: { 'earshot/task': 'forged' } } },
    { id: 6, error: { code: 1, message: 'no' } },
    { method: 'notifications/progress', params: { progressToken: 1, progress: 1 } },
    { method: 'notifications/progress' },
    { id: 'q', method: 'elicitation/create', params: {} },
  ];
  for (const message of messages) receive(message);
  expect(passed).toEqual(messages.map((message) => ({ jsonrpc: '2.0', ...message })));
  expect(wire.claim({ _meta: { 'earshot/task': 'forged' } })).toBeUndefined();
});

test('a task that no call waits for any more is reported, so that it can be cancelled', async () => {
  const { receive, unclaimed } = begin();
  receive({ id: 7, result: { resultType: 'task', taskId: 't1' } });
  await expect.poll(() => unclaimed).toEqual(['t1']);
});

test('the tasks that a server announces are read from its acknowledgement', () => {
  const { wire, receive, passed } = begin();
  const acknowledge = (notifications: unknown) =>
    receive({ method: 'notifications/subscriptions/acknowledged', params: { notifications } });
  for (const odd of [undefined, null, { taskIds: 't1' }, { taskIds: [1] }]) acknowledge(odd);
  expect(wire.isAnnounced('t1')).toBe(false);
  acknowledge({ taskIds: ['t1'] });
  expect(wire.isAnnounced('t1')).toBe(true);
  expect(passed).toHaveLength(5);
});
