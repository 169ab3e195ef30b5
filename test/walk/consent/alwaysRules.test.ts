// Always rules, end to end: where they hold, which open requests they and a change of mode release, and their end.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Emitter } from '../../../src/base/emitter.ts';
import { type ApprovalAnswer, type ApprovalRequest } from '../../../src/core/ports/ports.ts';
import { realFileSystem } from '../../../src/node/files/fileSystem.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { readSettings, type Settings } from '../../../src/protocol/settings.ts';
import { createPermissions } from '../../../src/storage/permissions.ts';
import { type ScriptedAnswer } from '../../support/models/scriptedServer.ts';
import { recordingLogger } from '../../support/recordingLogger.ts';
import { beginWalk, type Walked } from '../../support/walk/walking.ts';

const done: ScriptedAnswer = { text: ['Done.'] };
const run = (id: string, command: string) => ({ id, name: 'run_command', arguments: { command } });
const write = (id: string, path: string) => ({ id, name: 'write_file', arguments: { path, content: 'new\n' } });

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'earshot-rules-'));
});
afterEach(() => rm(folder, { recursive: true }));

const openRules = () => createPermissions({ files: realFileSystem, folder, logger: recordingLogger([]) });

/** Settings that the test changes as a user would. */
function changingSettings(values: Partial<Settings>) {
  const changed = new Emitter<void>((error) => expect(error).toBeUndefined());
  let current = readSettings((name) => values[name]).settings;
  return {
    ports: { settings: () => current, onDidChangeSettings: changed.event },
    change(next: Partial<Settings>) {
      current = { ...current, ...next };
      changed.fire();
    },
  };
}

async function eventsOf<T extends LogEvent['type']>({ headless, id }: Walked, type: T) {
  const lines = (await headless.events(id)).trimEnd().split('\n');
  const events = lines.map((line) => JSON.parse(line) as LogEvent);
  return events.filter((event): event is Extract<LogEvent, { type: T }> => event.type === type);
}

/** Leaves requests open until the test answers; `all` resolves once this many are open. */
function keepOpen({ headless }: Walked, count: number) {
  const open = new Map<string, (answer: Omit<ApprovalAnswer, 'by'>) => void>();
  const withdrawn: string[] = [];
  const all = Promise.withResolvers<void>();
  headless.frontend.answer = ({ call }: ApprovalRequest, signal) =>
    new Promise((resolve, reject) => {
      open.set(call.id, (answer) => resolve({ ...answer, by: 'user' }));
      signal.addEventListener('abort', () => {
        withdrawn.push(call.id);
        reject(new Error('cancelled'));
      });
      if (open.size === count) all.resolve();
    });
  return {
    all: all.promise,
    withdrawn,
    answer: (id: string, answer: Omit<ApprovalAnswer, 'by'>) => open.get(id)?.(answer),
  };
}

test('Always for the conversation holds in it after a restart, and in no other; Always for the folder holds in all', async () => {
  const answers = ['a', 'b', 'c', 'd', 'e'].flatMap((id): ScriptedAnswer[] => [{ calls: [run(id, 'echo tea')] }, done]);
  const walk = await beginWalk(answers, { ports: { permissions: openRules() } });
  const { headless, id } = walk;
  const scopes = ['conversation', 'folder'] as const;
  const asked: string[] = [];
  const answerIn = (window: typeof headless) => {
    window.frontend.answer = async ({ call }) => {
      asked.push(call.id);
      return { action: 'approve', always: { scope: scopes[asked.length - 1] ?? 'folder' }, by: 'user' };
    };
  };
  answerIn(headless);
  await walk.go();
  const next = await headless.restart({ ports: { permissions: openRules() } });
  try {
    answerIn(next);
    const say = async (conversation: string) => {
      await next.earshot.send(conversation, 'Again.');
      await next.earshot.settled(conversation);
    };
    await next.earshot.open(id);
    await say(id);
    const others = [await next.earshot.create(), await next.earshot.create()];
    for (const other of others) {
      if (!other.ok) throw new Error(other.failure.message);
      await say(other.value.log.id);
    }
    expect(asked).toEqual(['a', 'c']);
  } finally {
    await next.earshot.shutDown();
  }
});

test('in the mode that asks for every call, an earlier Always does not let an edit run', async () => {
  const permissions = openRules();
  await permissions.add({ rule: 'tool:write_file', label: 'write_file' });
  const settings = { 'approvals.mode': 'ask' };
  const walk = await beginWalk([{ calls: [write('a', 'a.txt')] }, done], { settings, ports: { permissions } });
  walk.headless.frontend.answer = async () => ({ action: 'reject', by: 'user' });
  await walk.go();
  expect(walk.headless.frontend.asked.map(({ call, always }) => [call.id, always])).toEqual([['a', undefined]]);
  expect((await eventsOf(walk, 'tool_call_response'))[0]?.is_error).toBe(true);
});

test('Always answers the other open requests that it covers, and only those', async () => {
  const calls = [write('a', 'a.txt'), write('b', 'b.txt'), run('c', 'echo c'), write('d', '.env')];
  const walk = await beginWalk([{ calls }, done], { ports: { permissions: openRules() } });
  const { all, answer, withdrawn } = keepOpen(walk, 4);
  const ended = walk.go();
  await all;
  const released = new Promise<void>((resolve) => {
    const listening = walk.log.onDidAppend(({ event }) => {
      if (event.type !== 'tool_call_response' || event.id !== 'b') return;
      listening.dispose();
      resolve();
    });
  });
  answer('a', { action: 'approve', always: { scope: 'conversation' } });
  await released;
  expect(withdrawn).toEqual(['b']);
  answer('c', { action: 'reject' });
  answer('d', { action: 'reject' });
  await ended;
  const approvals = (await eventsOf(walk, 'approval')).map(({ tool_call_id, action, by }) => [
    tool_call_id,
    action,
    by,
  ]);
  expect(approvals.sort()).toEqual([
    ['a', 'approve', 'user'],
    ['b', 'approve', 'policy'],
    ['c', 'reject', 'user'],
    ['d', 'reject', 'user'],
  ]);
});

test('a change of mode answers the open requests that it covers', async () => {
  const { ports, change } = changingSettings({});
  const calls = [write('a', 'a.txt'), write('b', 'b.txt'), run('c', 'echo c')];
  const walk = await beginWalk([{ calls }, done], { ports });
  const { all, answer, withdrawn } = keepOpen(walk, 3);
  const ended = walk.go();
  await all;
  change({ 'approvals.mode': 'edits' });
  await expect.poll(() => withdrawn.toSorted(), { timeout: 20_000 }).toEqual(['a', 'b']);
  answer('c', { action: 'approve' });
  await ended;
  expect((await eventsOf(walk, 'tool_call_response')).map(({ is_error }) => is_error)).toEqual([false, false, false]);
});

test('Plan mode refuses a call that waits for approval', async () => {
  const { ports, change } = changingSettings({});
  const walk = await beginWalk([{ calls: [write('a', 'a.txt')] }, done], { ports });
  const { all } = keepOpen(walk, 1);
  const ended = walk.go();
  await all;
  change({ mode: 'plan' });
  await ended;
  expect((await eventsOf(walk, 'tool_call_response'))[0]?.content).toContain('Plan mode');
  expect(await eventsOf(walk, 'approval')).toEqual([]);
});

test('a revoked rule covers the next call no more', async () => {
  const permissions = openRules();
  const rule = { rule: 'tool:write_file', label: 'write_file' };
  await permissions.add(rule);
  const answers = [{ calls: [write('a', 'a.txt')] }, done, { calls: [write('b', 'b.txt')] }, done];
  const walk = await beginWalk(answers, { ports: { permissions } });
  walk.headless.frontend.answer = async () => ({ action: 'reject', by: 'user' });
  await walk.headless.earshot.send(walk.id, 'Go on.');
  await walk.headless.earshot.settled(walk.id);
  // In another window.
  await openRules().remove(rule);
  await walk.go();
  expect(walk.headless.frontend.asked.map(({ call }) => call.id)).toEqual(['b']);
});
