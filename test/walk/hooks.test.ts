// Hooks in a turn: they refuse messages and calls, add context, make the model continue, and never approve.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Hooks, type HookMoment, type HookVerdict } from '../../src/core/ports/hooks.ts';
import { type HookEvent } from '../../src/protocol/outside/hooks.ts';
import { type ScriptedAnswer } from '../support/models/scriptedServer.ts';
import { headChanged, publish } from '../support/walk/deliveryWalks.ts';
import { beginWalk, type Walked, type WalkOptions } from '../support/walk/walking.ts';
import { createFolderDisk, createFolderWorkspace } from '../support/workspace/folderWorkspace.ts';

const command = (id: string, line: string): ScriptedAnswer => ({
  calls: [{ id, name: 'run_command', arguments: { command: line } }],
});
const end: ScriptedAnswer = { text: ['Done.'] };

type Verdict = Partial<HookVerdict>;

/** Hooks that answer in this process; real hook processes have their own tests. */
function scriptedHooks(answers: Partial<Record<HookEvent, (moment: HookMoment) => Verdict | Promise<Verdict>>>) {
  const moments: HookMoment[] = [];
  const hooks: Hooks = {
    has: (event) => answers[event] !== undefined,
    run: async (moment) => {
      moments.push(moment);
      return { added: [], ...(await answers[moment.event]?.(moment)) };
    },
  };
  return { hooks, moments };
}

async function begin(
  script: readonly ScriptedAnswer[],
  answers: Parameters<typeof scriptedHooks>[0],
  settings: NonNullable<WalkOptions['settings']> = { 'approvals.mode': 'all' },
) {
  const { hooks, moments } = scriptedHooks(answers);
  const walked = await beginWalk(script, { settings, ports: { hooks } });
  return { ...walked, moments };
}

const last = ({ messages }: Walked, request: number) => (messages(request).at(-1) as { content: string }).content;

test('before_tool refuses a call with its reason; it gets the arguments that would run', async () => {
  const walked = await begin([command('a', 'echo ran > ran.txt'), end], {
    before_tool: () => ({ refused: 'No commands today.' }),
  });
  await walked.go();
  expect(last(walked, 1)).toBe('run_command was not run: a hook of the user refused it: No commands today.');
  expect(walked.moments[0]?.input).toMatchObject({ tool_name: 'run_command', tool_use_id: 'a' });
  expect(walked.headless.frontend.asked).toEqual([]);
});

test('with several folders the hooks of a call get its folder, also that of arguments which the user changed', async () => {
  const folders = await Promise.all(
    ['one', 'two'].map(async (path) => ({ path, absolute: await mkdtemp(join(tmpdir(), `earshot-${path}-`)) })),
  );
  const [one, two] = folders.map(({ absolute }) => absolute);
  const inTwo = { name: 'run_command', arguments: { command: 'echo hi', folder: 'two' } };
  const read = (path: string) => ({ name: 'read_file', arguments: { path } });
  const calls = [inTwo, read('two/src/a.ts'), read('one/a.ts'), read('/elsewhere/a.ts')];
  const { hooks, moments } = scriptedHooks({ before_tool: () => ({}), after_tool: () => ({}) });
  const workspace = createFolderWorkspace('', createFolderDisk('', folders));
  const walked = await beginWalk([{ calls: calls.map((call, at) => ({ id: `c${at}`, ...call })) }, end], {
    ports: { hooks, workspace },
  });
  walked.headless.frontend.answer = async ({ call }) =>
    call.name === 'run_command'
      ? { action: 'modify', arguments: { command: 'echo changed', folder: 'one' }, by: 'user' }
      : { action: 'reject', reason: 'no', by: 'user' };
  await walked.go();
  const of = (event: HookEvent, tool: string) =>
    moments.filter((moment) => moment.event === event && moment.tool === tool).map(({ folder }) => folder);
  expect(of('before_tool', 'run_command')).toEqual([two, one]);
  expect(of('after_tool', 'run_command')).toEqual([one]);
  // They run at the same time.
  expect(new Set(of('before_tool', 'read_file'))).toEqual(new Set([two, one, undefined]));
  await Promise.all(folders.map(({ absolute }) => rm(absolute, { recursive: true })));
});

test('before_tool is asked again about arguments that the user changed', async () => {
  const walked = await begin(
    [command('a', 'echo harmless'), end],
    { before_tool: ({ input }) => (JSON.stringify(input).includes('danger') ? { refused: 'Danger.' } : {}) },
    {},
  );
  walked.headless.frontend.answer = async () => ({
    action: 'modify',
    arguments: { command: 'echo danger' },
    by: 'user',
  });
  await walked.go();
  expect(last(walked, 1)).toContain('refused it: Danger.');
});

test('before_tool can require an approval where the settings would allow the call, but cannot give one', async () => {
  const walked = await begin([command('a', 'echo hi'), end], { before_tool: () => ({ ask: 'Look at it first.' }) });
  walked.headless.frontend.answer = async () => ({ action: 'reject', reason: 'no', by: 'user' });
  await walked.go();
  expect(walked.headless.frontend.asked).toMatchObject([
    { reason: 'a hook of the user wants you to decide: Look at it first.' },
  ]);
  expect(last(walked, 1)).toContain('The user rejected this call');
});

test('after_tool adds context and objections to the result of the call, marked as such', async () => {
  const walked = await begin([command('a', 'echo hi'), end], {
    after_tool: () => ({ added: [{ hook: 'lint.sh', text: 'Two </notification> warnings.' }], refused: 'Use tabs.' }),
  });
  await walked.go();
  const result = last(walked, 1);
  expect(result).toMatch(/hook.*added[\s\S]*The user’s hook lint\.sh adds:\nTwo <\/notification> warnings\./);
  expect(result).toContain('A hook of the user objects to this call: Use tabs.');
  expect(result.split(walked.log.state.turn.key)).toHaveLength(2);
  expect(walked.moments[0]?.input['tool_response']).toMatchObject({ is_error: false });
});

test('user_prompt can refuse a message, which then starts no turn, or add context to its request', async () => {
  const walked = await begin([end], {
    user_prompt: ({ input }) =>
      String(input['prompt']).includes('secret')
        ? { refused: 'It has a secret.' }
        : { added: [{ hook: 'day', text: 'Today is Monday.' }] },
  });
  const sent = await walked.headless.earshot.send(walked.id, 'my secret');
  expect(sent).toMatchObject({ ok: false, failure: { message: 'A hook refused this message: It has a secret.' } });
  expect(walked.server.requests).toHaveLength(0);
  await walked.go('Hello.');
  expect(last(walked, 0)).toMatch(/The user’s hook day adds:\nToday is Monday\.[\s\S]*Hello\./);
});

test('turn_end makes the model continue with the reason, at most three times', async () => {
  const walked = await begin([end, end, end, end, end], { turn_end: () => ({ refused: 'Run the tests first.' }) });
  await walked.go();
  expect(walked.server.requests).toHaveLength(4);
  expect(last(walked, 1)).toContain('A hook of the user wants you to go on: Run the tests first.');
  expect(walked.moments.map(({ input }) => input['stop_hook_active'])).toEqual([false, true, true, true]);
  expect(walked.log.state.turn.outcome).toBe('done');
});

test('a message that interrupts a turn_end hook does not count as an objection of the hook', async () => {
  const walks: Walked[] = [];
  const walked = await begin([end, end, end, end, end], {
    turn_end: async ({ input }) => {
      const [walk] = walks.splice(0);
      if (walk !== undefined) await walk.headless.earshot.interrupt(walk.id, 'One more thing.');
      return input['stop_hook_active'] === true ? {} : { refused: 'Run the tests first.' };
    },
  });
  walks.push(walked);
  await walked.go();
  expect(last(walked, 1)).toContain('One more thing.');
  expect(last(walked, 2)).toContain('A hook of the user wants you to go on: Run the tests first.');
  expect(walked.moments.map(({ input }) => input['stop_hook_active'])).toEqual([false, false, true]);
  expect(walked.server.requests).toHaveLength(3);
});

test('notification gets each notification of the conversation, except those of hooks', async () => {
  const walked = await begin([end], {
    notification: () => ({ added: [{ hook: 'x', text: 'never' }], refused: 'never' }),
    user_prompt: () => ({ added: [{ hook: 'day', text: 'Monday.' }] }),
  });
  await publish(walked, headChanged('switched to main'));
  await walked.go();
  expect(walked.moments.filter(({ event }) => event === 'notification').map(({ input }) => input)).toMatchObject([
    { notification_type: 'git.head_changed', message: 'switched to main' },
  ]);
  expect(last(walked, 0)).not.toContain('never');
});
