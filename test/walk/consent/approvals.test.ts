// Approvals, end to end: the user's answer is carried out, is in the log, and is still valid after a restart.
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type ApprovalAnswer } from '../../../src/core/ports/ports.ts';
import { realFileSystem } from '../../../src/node/files/fileSystem.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { createPermissions } from '../../../src/storage/permissions.ts';
import { type ScriptedAnswer } from '../../support/models/scriptedServer.ts';
import { recordingLogger } from '../../support/recordingLogger.ts';
import { beginWalk, type Walked } from '../../support/walk/walking.ts';

const hello: ScriptedAnswer = { text: ['Done.'] };
const run = (id: string, command: string) => ({ id, name: 'run_command', arguments: { command } });
const read = (id: string, path: string) => ({ id, name: 'read_file', arguments: { path } });
const golden = (name: string) => `./golden/${name}.golden.txt`;

async function eventsOf<T extends LogEvent['type']>({ headless, id }: Walked, type: T) {
  const lines = (await headless.events(id)).trimEnd().split('\n');
  const events = lines.map((line) => JSON.parse(line) as LogEvent);
  return events.filter((event): event is Extract<LogEvent, { type: T }> => event.type === type);
}

function answering(walk: Walked, ...answers: Omit<ApprovalAnswer, 'by'>[]): void {
  walk.headless.frontend.answer = async () => {
    const answer = answers.shift();
    if (answer === undefined) throw new Error('asked more often than expected');
    return { ...answer, by: 'user' };
  };
}

describe('the answer', () => {
  test('approve runs the call', async () => {
    const walk = await beginWalk([{ calls: [run('a', 'echo one')] }, hello]);
    answering(walk, { action: 'approve' });
    await walk.go();
    await walk.golden(golden('approve'));
  });

  test('reject does not run the call, and the model gets the reason', async () => {
    const walk = await beginWalk([{ calls: [run('a', 'touch made')] }, hello]);
    answering(walk, { action: 'reject', reason: 'not in this folder' });
    await walk.go();
    await expect(readFile(join(walk.headless.folder, 'made'))).rejects.toThrow();
    await walk.golden(golden('reject'));
  });

  test('modify runs the call as the user changed it', async () => {
    const walk = await beginWalk([{ calls: [run('a', 'echo one')] }, hello]);
    answering(walk, { action: 'modify', arguments: { command: 'echo two' } });
    await walk.go();
    await walk.golden(golden('modify'));
  });

  test('modify with invalid arguments asks again with the problem; the model is not notified', async () => {
    const walk = await beginWalk([{ calls: [run('a', 'echo one')] }, hello]);
    answering(walk, { action: 'modify', arguments: { comand: 'echo two' } }, { action: 'approve' });
    await walk.go();
    expect(walk.headless.frontend.asked.map(({ problem }) => problem)).toEqual([
      undefined,
      expect.stringContaining('command') as string,
    ]);
    expect((await eventsOf(walk, 'approval')).map(({ action }) => action)).toEqual(['approve']);
    expect((await eventsOf(walk, 'tool_call_response'))[0]?.content).toContain('one');
  });

  test.each([
    ['Plan mode', { settings: { mode: 'plan' } }, 'Plan mode'],
    ['an untrusted workspace', { trusted: false }, 'not trusted'],
  ])('modify cannot turn a call that reads into one that does more, in %s', async (_, options, problem) => {
    const settings = { 'approvals.mode': 'ask', ...('settings' in options && options.settings) };
    const list = { id: 'a', name: 'handle', arguments: { action: 'list' } };
    const walk = await beginWalk([{ calls: [list] }, hello], { ...options, settings });
    const more = { action: 'apply', name: 'x', text: 'touch made' };
    answering(walk, { action: 'modify', arguments: more }, { action: 'reject' });
    await walk.go();
    expect(walk.headless.frontend.asked.at(-1)?.problem).toContain(problem);
    expect((await eventsOf(walk, 'approval')).map(({ action }) => action)).toEqual(['reject']);
  });

  test('always skips the approval for the same call, but not for a broader one', async () => {
    const calls = ['npm -v', 'npm  "-v"', 'npm -v; touch made'];
    const answers = calls.map((command, index) => ({ calls: [run(`c${index}`, command)] }));
    const folder = await import('node:fs/promises').then(({ mkdtemp }) => mkdtemp('/tmp/earshot-rules-'));
    const open = () => createPermissions({ files: realFileSystem, folder, logger: recordingLogger([]) });
    const permissions = open();
    const walk = await beginWalk([...answers, hello], { ports: { permissions } });
    answering(walk, { action: 'approve', always: { scope: 'folder' } }, { action: 'reject' });
    await walk.go();
    expect(walk.headless.frontend.asked.map(({ call }) => call.id)).toEqual(['c0', 'c2']);
    expect((await eventsOf(walk, 'approval')).map(({ by, always }) => [by, always])).toEqual([
      ['user', true],
      ['policy', undefined],
      ['user', undefined],
    ]);
    const next = open();
    await next.ready;
    expect(await next.has('words:["npm","-v"]', 'another')).toBe(true);
    await realFileSystem.remove(folder);
  });
});

test('a file outside the workspace is read only after approval', async () => {
  const walk = await beginWalk([
    { calls: [read('a', '../outside.txt')] },
    { calls: [read('b', '../outside.txt')] },
    hello,
  ]);
  await writeFile(join(walk.headless.folder, '..', 'outside.txt'), 'far away\n');
  answering(walk, { action: 'approve' }, { action: 'reject' });
  await walk.go();
  const [let_in, kept_out] = await eventsOf(walk, 'tool_call_response');
  expect(let_in?.content).toBe('far away\n');
  expect(kept_out?.content).toBe('The user rejected this call: no reason given.');
  expect(walk.headless.frontend.asked[0]).toMatchObject({ reason: '../outside.txt is outside the workspace.' });
});

test('a file in .earshotignore is not listed, and not read without approval', async () => {
  const calls = [{ id: 'a', name: 'list_files', arguments: {} }];
  const walk = await beginWalk([{ calls }, { calls: [read('b', 'keys/one.txt')] }, hello]);
  const { folder } = walk.headless;
  await mkdir(join(folder, 'keys'));
  await writeFile(join(folder, 'keys', 'one.txt'), 'secret');
  await writeFile(join(folder, 'plain.txt'), '');
  await writeFile(join(folder, '.earshotignore'), 'keys/\n');
  answering(walk, { action: 'reject' });
  await walk.go();
  const [listed, refused] = await eventsOf(walk, 'tool_call_response');
  expect(listed?.content).toContain('plain.txt');
  expect(listed?.content).not.toContain('keys');
  expect(refused?.is_error).toBe(true);
});

test('two open approvals can be answered in any order', async () => {
  const walk = await beginWalk([{ calls: [run('a', 'echo one'), run('b', 'echo two')] }, hello]);
  const open = new Map<string, (answer: ApprovalAnswer) => void>();
  const both = new Promise<void>((resolve) => {
    walk.headless.frontend.answer = ({ call }) =>
      new Promise((answer) => {
        open.set(call.id, answer);
        if (open.size === 2) resolve();
      });
  });
  const ended = walk.go();
  await both;
  const responded = new Promise<void>((resolve) => {
    const listening = walk.log.onDidAppend(({ event }) => {
      if (event.type !== 'tool_call_response') return;
      listening.dispose();
      resolve();
    });
  });
  open.get('b')?.({ action: 'approve', by: 'user' });
  await responded;
  expect(walk.server.requests).toHaveLength(1);
  open.get('a')?.({ action: 'reject', by: 'user' });
  await ended;
  expect((await eventsOf(walk, 'tool_call_response')).map(({ id, is_error }) => [id, is_error])).toEqual([
    ['b', false],
    ['a', true],
  ]);
});

test('after a restart, a call that ran without approval does not run again, and an open approval is asked for again', async () => {
  const calls = [run('auto', 'cat pipe'), run('asked', 'echo ../x')];
  const walk = await beginWalk([{ calls }, hello], { settings: { 'approvals.commands': ['cat pipe'] } });
  const { headless, id } = walk;
  execFileSync('mkfifo', [join(headless.folder, 'pipe')]);
  const waiting = new Promise<void>((resolve) => {
    headless.frontend.answer = (_request, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('cancelled')), { once: true });
        resolve();
      });
  });
  const started = headless.frontend.nextDrawn('tool_started');
  await headless.earshot.send(id, 'Hello.');
  await Promise.all([waiting, started]);

  const next = await headless.restart();
  try {
    await next.earshot.open(id);
    await next.earshot.settled(id);
    const responses = await eventsOf({ ...walk, headless: next }, 'tool_call_response');
    expect(responses.map(({ id: call }) => call)).toEqual(['auto', 'asked']);
    expect(responses[0]?.content).toContain('Interrupted; may have run.');
    expect(next.frontend.asked.map(({ call }) => call.id)).toEqual(['asked']);
  } finally {
    await next.earshot.shutDown();
  }
});
