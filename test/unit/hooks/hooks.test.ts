// Hooks as processes: their input, the meaning of their answers, approval by hash, and hooks that fail.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type HookMoment } from '../../../src/core/ports/hooks.ts';
import { readHookAnswer } from '../../../src/hooks/hookAnswer.ts';
import { runHookProcess } from '../../../src/hooks/hookProcess.ts';
import { type ConfiguredHook, createHooks, type HookApproval } from '../../../src/hooks/hooks.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { hooksSchema } from '../../../src/protocol/outside/hooks.ts';
import { createManualClock } from '../../support/manualClock.ts';
import { recordingLogger } from '../../support/recordingLogger.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'earshot-hooks-'));
});
afterEach(() => rm(folder, { recursive: true }));

const never = new AbortController().signal;
const moment: HookMoment = {
  event: 'before_tool',
  conversation: 'c1',
  tool: 'run_command',
  input: { tool_name: 'run_command', tool_input: { command: 'ls' } },
};

function shell(script: string, more: Partial<ConfiguredHook & { matcher: string }> = {}): ConfiguredHook {
  const { matcher, event = 'before_tool', workspace = false } = more;
  const hook = { command: ['sh', '-c', script], timeout: 60, ...(matcher !== undefined && { matcher }) };
  return { event, workspace, hook };
}

function hooksOf(
  configured: readonly ConfiguredHook[],
  more: { trusted?: boolean; approves?: boolean; roots?: readonly string[] } = {},
) {
  const notices: string[] = [];
  const asked: HookApproval[] = [];
  const keys = new Set<string>();
  const hooks = createHooks({
    clock: realClock,
    logger: recordingLogger([]),
    configured: () => configured,
    folder: () => folder,
    roots: () => more.roots ?? [folder],
    isTrusted: () => more.trusted ?? true,
    mode: () => 'agent',
    approved: {
      has: async (key) => keys.has(key),
      add: async (key) => void keys.add(key),
    },
    approve: async (approval) => {
      asked.push(approval);
      return more.approves ?? true;
    },
    notice: (text) => notices.push(text),
  });
  return { hooks, notices, asked, run: (at = moment) => hooks.run(at, never) };
}

describe('an answer', () => {
  const json = (value: unknown) => ({ code: 0, stdout: JSON.stringify(value), stderr: '' });
  const specific = (output: object) => json({ hookSpecificOutput: output });

  test.each([
    ['exit code 2 refuses with stderr', { code: 2, stdout: 'x', stderr: ' No.\n' }, { refused: 'No.' }],
    ['exit code 2 without a reason', { code: 2, stdout: '', stderr: '' }, { refused: 'no reason given.' }],
    ['deny', specific({ permissionDecision: 'deny', permissionDecisionReason: 'No.' }), { refused: 'No.' }],
    ['block', json({ decision: 'block', reason: 'No.' }), { refused: 'No.' }],
    ['continue: false', json({ continue: false, stopReason: 'Enough.' }), { refused: 'Enough.' }],
    ['ask', specific({ permissionDecision: 'ask', permissionDecisionReason: 'Sure?' }), { ask: 'Sure?' }],
    ['allow approves nothing', specific({ permissionDecision: 'allow', updatedInput: { command: 'rm' } }), {}],
    ['approve approves nothing', json({ decision: 'approve' }), {}],
    ['a message for the user', json({ systemMessage: 'Hi.' }), { message: 'Hi.' }],
    ['plain text', { code: 0, stdout: 'All good.', stderr: '' }, {}],
    ['nothing', { code: 0, stdout: '', stderr: 'noise' }, {}],
  ])('of %s', (_what, end, expected) => {
    expect(readHookAnswer('before_tool', 'guard', end)).toEqual({ added: [], ...expected });
  });

  test.each([
    ['broken JSON', { code: 0, stdout: '{"decision":', stderr: '' }],
    ['JSON of another shape', json({ decision: 7 })],
    ['another exit code', { code: 1, stdout: '{"decision":"block"}', stderr: 'Traceback' }],
  ])('of %s has no effect and is a problem', (_what, end) => {
    const answer = readHookAnswer('before_tool', 'guard', end);
    expect(answer.refused).toBeUndefined();
    expect(answer.problem).toBeDefined();
  });

  test('adds context, bounded; text on stdout is context only for user_prompt', () => {
    const answer = readHookAnswer('after_tool', 'guard', specific({ additionalContext: 'x'.repeat(20_000) }));
    expect(answer.added[0]?.text.length).toBe(10_001);
    const plain = { code: 0, stdout: ' Today is Monday.\n', stderr: '' };
    expect(readHookAnswer('user_prompt', 'day', plain).added).toEqual([{ hook: 'day', text: 'Today is Monday.' }]);
    expect(readHookAnswer('after_tool', 'day', plain).added).toEqual([]);
  });
});

test('a hook gets the moment in the format of Claude Code, in the workspace folder, without the keys of models', async () => {
  const keys = ['EARSHOT_API_KEY', 'EARSHOT_API_KEY_WORK'];
  for (const name of keys) process.env[name] = 'secret';
  const { run } = hooksOf([shell('cat > input.json; env > env.txt')]);
  expect(await run()).toEqual({ added: [] });
  expect(JSON.parse(await readFile(join(folder, 'input.json'), 'utf8'))).toEqual({
    session_id: 'c1',
    transcript_path: '',
    cwd: folder,
    permission_mode: 'default',
    hook_event_name: 'PreToolUse',
    tool_name: 'run_command',
    tool_input: { command: 'ls' },
  });
  const env = await readFile(join(folder, 'env.txt'), 'utf8');
  expect(env).toContain(`CLAUDE_PROJECT_DIR=${folder}`);
  expect(env).not.toContain('secret');
  for (const name of keys) Reflect.deleteProperty(process.env, name);
});

test('with several folders a hook gets the folder of the call, and runs where its command was approved', async () => {
  const second = join(folder, 'second');
  await mkdir(second);
  await writeFile(join(second, 'guard.sh'), 'echo Not approved. >&2; exit 2');
  await writeFile(join(folder, 'guard.sh'), 'pwd >> where.txt; cat >> inputs.txt; echo >> inputs.txt');
  const hook = { command: ['sh', 'guard.sh'], timeout: 60 };
  const guard = { event: 'before_tool', workspace: true, hook } as const;
  const { run, asked } = hooksOf([guard], { roots: [folder, second] });
  await run();
  for (const place of [second, join(folder, 'elsewhere')]) {
    expect(await run({ ...moment, folder: place })).toEqual({ added: [] });
  }
  const inputs = (await readFile(join(folder, 'inputs.txt'), 'utf8')).trim().split('\n');
  expect(inputs.map((input) => (JSON.parse(input) as { cwd: string }).cwd)).toEqual([second, folder]);
  expect(await readFile(join(folder, 'where.txt'), 'utf8')).toBe(`${folder}\n${folder}\n`);
  expect(asked).toHaveLength(1);
});

test('the reasons and contexts of several hooks are all used, and a hook that approves changes nothing', async () => {
  const { run } = hooksOf([
    shell('echo \'{"hookSpecificOutput":{"permissionDecision":"allow","additionalContext":"A."}}\''),
    shell('echo One. >&2; exit 2'),
    shell('echo Two. >&2; exit 2'),
  ]);
  const { refused, added } = await run();
  expect(refused).toBe('One.\nTwo.');
  expect(added.map(({ text }) => text)).toEqual(['A.']);
});

test.each([
  ['run_command', true],
  ['read_file', false],
  ['write_file|run_*', true],
  ['run_.*', true],
  ['*', true],
  ['', true],
  ['(a+)+$', false],
])('the matcher %j fits run_command: %s', (matcher, expected) => {
  const { hooks } = hooksOf([shell('exit 0', { matcher })]);
  expect(hooks.has('before_tool', 'run_command')).toBe(expected);
  expect(hooks.has('after_tool', 'run_command')).toBe(false);
});

test('hooks of the workspace run only after approval, and again only after approval when a file changes', async () => {
  await writeFile(join(folder, 'guard.sh'), 'echo No. >&2; exit 2');
  const guard: ConfiguredHook = {
    event: 'before_tool',
    workspace: true,
    hook: { command: ['sh', 'guard.sh'], timeout: 60 },
  };
  const { run, asked } = hooksOf([guard]);
  expect(await run()).toEqual({ added: [] });
  expect(asked[0]?.files.map(({ path }) => path.split('/').at(-1))).toContain('guard.sh');
  expect((await run()).refused).toBe('No.');
  await writeFile(join(folder, 'guard.sh'), 'echo changed > ran.txt; exit 2');
  expect(await run()).toEqual({ added: [] });
  await expect(readFile(join(folder, 'ran.txt'))).rejects.toThrow();
  expect(asked).toHaveLength(2);
});

test('a workspace hook that the user refuses is asked for once and never runs; an untrusted workspace has no hooks', async () => {
  const one = shell('touch ran.txt', { workspace: true });
  const { run, asked } = hooksOf([one], { approves: false });
  await run();
  await run();
  expect(asked).toHaveLength(1);
  await expect(readFile(join(folder, 'ran.txt'))).rejects.toThrow();
  expect(hooksOf([shell('exit 2')], { trusted: false }).hooks.has('before_tool')).toBe(false);
});

test.each([
  ['crashes', 'echo oops >&2; exit 7', 'it ended with exit code 7: oops'],
  ['is killed', 'kill -9 $$', 'it was ended by SIGKILL'],
  ['floods', 'exec yes', 'it wrote more than 1 MB'],
])('a hook that %s has no effect, and the user is notified once', async (_how, script, problem) => {
  const { run, notices } = hooksOf([shell(script)]);
  expect(await run()).toEqual({ added: [] });
  await run();
  expect(notices).toEqual([expect.stringContaining(problem)]);
});

test('a program that does not exist is a problem', async () => {
  const { run, notices } = hooksOf([
    { event: 'before_tool', workspace: false, hook: { command: ['./absent'], timeout: 60 } },
  ]);
  expect(await run()).toEqual({ added: [] });
  expect(notices).toEqual([expect.stringContaining('was not found')]);
});

test('a hook that takes too long, or whose turn is stopped, is ended with everything that it started', async () => {
  const clock = createManualClock();
  const script = 'sleep 1000 & echo $! > child.pid; wait';
  const start = { program: '/bin/sh', args: ['-c', script], folder, input: '{}', seconds: 5, clock, mark: 'm1' };
  const running = runHookProcess({ ...start, signal: never });
  clock.advance(5000);
  expect(await running).toMatchObject({ ok: false, failure: { message: 'it took longer than 5 s.' } });
  const stopped = new AbortController();
  const stopping = runHookProcess({ ...start, signal: stopped.signal });
  stopped.abort();
  expect(await stopping).toMatchObject({ ok: false, failure: { message: 'the turn was stopped.' } });
});

test('a burst of notifications runs one hook at a time and passes on at most twenty', async () => {
  const { hooks } = hooksOf([shell('echo x >> runs.txt', { event: 'notification' })]);
  const notified: HookMoment = { event: 'notification', conversation: 'c1', input: { message: 'm' } };
  await Promise.all(Array.from({ length: 50 }, () => hooks.run(notified, never)));
  expect((await readFile(join(folder, 'runs.txt'), 'utf8')).split('\n')).toHaveLength(21);
});

test('settings: unknown events and fields are refused, the time limit has a default', () => {
  expect(hooksSchema.parse({ turn_end: [{ command: ['x'] }] })).toEqual({
    turn_end: [{ command: ['x'], timeout: 60 }],
  });
  for (const bad of [
    { on_fire: [] },
    { turn_end: [{ command: [] }] },
    { turn_end: [{ command: ['x'], approve: true }] },
  ]) {
    expect(hooksSchema.safeParse(bad).success).toBe(false);
  }
});
