// run_task with tasks that are stopped, take too long or fail to start, and the notifications of their ends.
import { expect, test } from 'vitest';
import { Emitter } from '../../../../src/base/emitter.ts';
import { failed, succeeded } from '../../../../src/base/errors.ts';
import { type InspectedTask, type TaskEnd, type TaskInfo, type Tasks } from '../../../../src/core/ports/tasks.ts';
import { createTasksProducer } from '../../../../src/producers/tasks/tasks.ts';
import { type LogEvent } from '../../../../src/protocol/event.ts';
import { createRunTaskTool } from '../../../../src/tools/commands/runTask.ts';
import { createManualClock, type ManualClock } from '../../../support/manualClock.ts';
import { type ScriptedAnswer } from '../../../support/models/scriptedServer.ts';
import { recordingLogger } from '../../../support/recordingLogger.ts';
import { beginWalk, type Walked } from '../../../support/walk/walking.ts';

const watch: TaskInfo = { name: 'npm: watch', background: true };
const slow: TaskInfo = { name: 'slow', background: false };
const done: ScriptedAnswer = { text: ['Done.'] };
const call = (values: object): ScriptedAnswer => ({ calls: [{ id: 'a', name: 'run_task', arguments: values }] });

const inspected = (name: string, command: string): InspectedTask => ({
  fingerprint: command,
  isKnown: true,
  view: { name, command, facts: [], before: [] },
});

/** The editor's side of tasks, controlled by the test. `commands`: what the tasks run each time that they are read. */
function begin(answers: readonly ScriptedAnswer[], settings: Record<string, unknown> = {}, commands: string[] = []) {
  const clock = createManualClock();
  const ended = new Emitter<TaskEnd>((error) => expect(error).toBeUndefined());
  const acts: string[] = [];
  const started = Promise.withResolvers<void>();
  const finished = Promise.withResolvers<TaskEnd | undefined>();
  const tasks: Tasks = {
    list: async () => succeeded([slow, watch]),
    inspect: async ({ name }) => succeeded(inspected(name, commands.shift() ?? 'make')),
    run: async (task, { conversation, isApproved }) => {
      if (!isApproved(commands.shift() ?? 'make')) return failed('stale', 'The task has changed.');
      if (task === watch) return failed('running', 'The task “npm: watch” is running already.');
      acts.push(conversation);
      return succeeded({
        get finished() {
          started.resolve();
          return finished.promise;
        },
        output: () => 'so far',
        stop: () => acts.push('stop'),
        leave: () => acts.push('leave'),
      });
    },
    onDidEnd: ended.event,
  };
  const walk = beginWalk(answers, {
    settings,
    ports: {
      clock,
      tools: [createRunTaskTool({ tasks, clock })],
      producers: [createTasksProducer({ tasks, clock, logger: recordingLogger([]) })],
    },
  });
  return { walk, clock, ended, acts, started: started.promise };
}

async function eventsOf<T extends LogEvent['type']>({ headless, id }: Walked, type: T) {
  const lines = (await headless.events(id)).trimEnd().split('\n');
  const events = lines.map((line) => JSON.parse(line) as LogEvent);
  return events.filter((event): event is Extract<LogEvent, { type: T }> => event.type === type);
}

const end = (more: Partial<TaskEnd>): TaskEnd => ({
  task: slow,
  goesOn: false,
  milliseconds: 1234,
  problems: [],
  ...more,
});

test('a task that exceeds its limit continues without the call', async () => {
  const { walk, clock, acts, started } = begin([call({ name: 'slow', timeout_secs: 7 }), done]);
  const walked = await walk;
  await walked.headless.earshot.send(walked.id, 'Go on.');
  await started;
  clock.advance(7000);
  await walked.headless.earshot.settled(walked.id);
  expect(acts).toEqual([walked.id, 'leave']);
  const [response] = await eventsOf(walked, 'tool_call_response');
  expect(response).toMatchObject({ is_error: false });
  expect(response?.content).toBe(
    'so far\n(“slow” still runs after 7 s and continues; you will be notified when it ends.)',
  );
});

test('a task that changes between the approval and its start is asked for again with its new command', async () => {
  const read = ['make', 'make', 'make evil', 'make evil', 'make evil', 'make evil'];
  const { walk, acts } = begin([call({ name: 'watch' }), done], {}, read);
  const walked = await walk;
  const { frontend } = walked.headless;
  await walked.go();
  expect(frontend.asked.map(({ task, problem }) => [task?.command, problem])).toEqual([
    ['make', undefined],
    ['make evil', 'What this call would do has changed meanwhile. Review it again.'],
  ]);
  expect(acts).toEqual([]);
  expect((await eventsOf(walked, 'tool_call_response'))[0]?.content).toBe('The task “npm: watch” is running already.');
});

test('stopping the turn ends the task', async () => {
  const { walk, acts, started } = begin([call({ name: 'slow' }), done]);
  const walked = await walk;
  await walked.headless.earshot.send(walked.id, 'Go on.');
  await started;
  await walked.headless.earshot.stop(walked.id);
  expect(acts).toEqual([walked.id, 'stop']);
  expect((await eventsOf(walked, 'tool_call_response'))[0]?.content).toContain('Cancelled by the user.');
});

test('a name without its provider is accepted, and a running task is refused', async () => {
  const { walk } = begin([call({ name: 'Watch' }), done]);
  const walked = await walk;
  await walked.go();
  expect((await eventsOf(walked, 'tool_call_response'))[0]?.content).toBe('The task “npm: watch” is running already.');
});

test('restricted to its own tasks, a conversation is notified only of those it ran, under any of their names', async () => {
  const { walk, ended } = begin([call({ name: 'watch' }), done], { 'notifications.tasks': 'own' });
  const walked = await walk;
  ended.fire(end({ exitCode: 0 }));
  ended.fire(end({ task: watch, exitCode: 1 }));
  await walked.go();
  expect(await eventsOf(walked, 'notification_queued')).toEqual([]);
  ended.fire(end({ exitCode: 0 }));
  ended.fire(end({ task: watch, exitCode: 1 }));
  await walked.headless.earshot.shutDown();
  const queued = await eventsOf(walked, 'notification_queued');
  expect(queued.map(({ notification }) => [notification.subject, notification.level])).toEqual([
    ['task:npm: watch', 'error'],
  ]);
});

function round(ended: Emitter<TaskEnd>, clock: ManualClock, ...messages: string[]): void {
  const problem = { path: 'a.ts', line: 1, column: 2, severity: 'error' } as const;
  ended.fire(end({ task: watch, goesOn: true, problems: messages.map((message) => ({ ...problem, message })) }));
  clock.advance(3000);
}

function nextQueued({ log }: Walked): Promise<void> {
  return new Promise((resolve) => {
    const listening = log.onDidAppend(({ event }) => {
      if (event.type !== 'notification_queued') return;
      listening.dispose();
      resolve();
    });
  });
}

async function delivered(walked: Walked): Promise<(readonly [string, string | undefined])[]> {
  const queued = await eventsOf(walked, 'notification_queued');
  return queued.map(({ notification: { level, message } }) => [level, message.split('\n').at(-1)]);
}

test('a background task is reported when its problems change, not after each round', async () => {
  const { walk, ended, clock } = begin([done]);
  const walked = await walk;
  let queued = nextQueued(walked);
  round(ended, clock);
  round(ended, clock, 'x');
  round(ended, clock, 'x');
  await queued;
  await walked.go();
  queued = nextQueued(walked);
  round(ended, clock);
  round(ended, clock);
  await queued;
  await walked.headless.earshot.shutDown();
  expect(await delivered(walked)).toEqual([
    ['error', 'a.ts:1:2 error: x'],
    ['info', 'It reports no problems any more.'],
  ]);
});

test('problems of a background task that vanish before delivery withdraw the notification', async () => {
  const { walk, ended, clock } = begin([]);
  const walked = await walk;
  const withdrawn = new Promise<void>((resolve) => {
    const listening = walked.log.onDidAppend(({ event }) => {
      if (event.type !== 'notification_withdrawn') return;
      listening.dispose();
      resolve();
    });
  });
  const queued = nextQueued(walked);
  round(ended, clock, 'x');
  await queued;
  round(ended, clock);
  await withdrawn;
  // The task was never reported, so its end is not reported either.
  ended.fire(end({ task: watch }));
  await walked.headless.earshot.shutDown();
  expect(walked.log.state.pending.notifications).toEqual([]);
  expect(await delivered(walked)).toHaveLength(1);
});

test('a stopped background task is reported to the conversation that ran it and to those notified of its problems', async () => {
  const { walk, ended, clock } = begin([done]);
  const walked = await walk;
  const next = async (one: TaskEnd) => {
    const queued = nextQueued(walked);
    ended.fire(one);
    await queued;
    clock.advance(3000);
  };
  const problem = { path: 'a.ts', line: 1, column: 2, severity: 'error', message: 'x' } as const;
  await next(end({ task: watch, ranBy: walked.id }));
  await next(end({ task: watch, goesOn: true, problems: [problem] }));
  await walked.go();
  await next(end({ task: watch }));
  await walked.headless.earshot.shutDown();
  expect(await delivered(walked)).toEqual([
    ['info', 'The background task “npm: watch” was ended after 1.2 s, without an exit code.'],
    ['error', 'a.ts:1:2 error: x'],
    ['info', 'The background task “npm: watch” was ended after 1.2 s, without an exit code.'],
  ]);
});
