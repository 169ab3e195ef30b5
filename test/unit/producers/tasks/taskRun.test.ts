// One run of a task without an editor: rounds found in the output, late problems, and who waits for the end.
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type TaskEnd, type TaskProblem } from '../../../../src/core/ports/tasks.ts';
import { TaskOutput } from '../../../../src/producers/tasks/taskOutput.ts';
import { type TaskMatchers, TaskRun } from '../../../../src/producers/tasks/taskRun.ts';
import { createManualClock } from '../../../support/manualClock.ts';

const problem: TaskProblem = { path: 'a.ts', line: 1, column: 1, severity: 'error', message: 'Too bitter.' };
const rounds = { activeOnStart: false, begins: /^begin$/, ends: /^end$/ };

const unexpected = (error: unknown) => expect(error).toBeUndefined();

function begin(matchers: TaskMatchers, background = false, report = unexpected) {
  const clock = createManualClock();
  const ends: TaskEnd[] = [];
  const found = new Map<string, readonly TaskProblem[]>();
  const task = { name: 'build', background };
  const run = new TaskRun(
    {
      clock,
      problemsOf: (uri) => found.get(uri) ?? [],
      report,
      ended: (end) => ends.push(end),
    },
    task,
    matchers,
  );
  const output = new TaskOutput();
  run.setOutput(output);
  const pass = async (milliseconds: number) => {
    for (let passed = 0; passed < milliseconds; passed += 50) {
      clock.advance(50);
      await setImmediate();
    }
  };
  const find = (...problems: TaskProblem[]) => {
    found.set('file:///a.ts', problems);
    run.problemsChanged(['file:///a.ts']);
  };
  return { run, output, ends, task, pass, find };
}

const waiting = { conversation: 'c', onOutput: () => undefined };

test('a failed task ends once its problems have arrived', async () => {
  const { run, output, ends, task, pass, find } = begin({ any: true });
  run.processEnded(2);
  output.end();
  const ended = run.end();
  await pass(500);
  expect(ends).toEqual([]);
  find(problem);
  await pass(500);
  await ended;
  expect(ends).toMatchObject([{ task, goesOn: false, exitCode: 2, problems: [problem] }]);
  expect(ends[0]).not.toHaveProperty('ranBy');
  run.dispose();
});

test('the first round is awaited by the call that started the task, later ones are not', async () => {
  const { run, output, ends, pass, find } = begin({ any: true, rounds }, true);
  const running = run.startedBy(waiting, () => undefined);
  output.add('end\nbeg');
  output.add('in\n');
  find(problem);
  output.add('end\n');
  await pass(500);
  expect(await running.finished).toMatchObject({ goesOn: true, problems: [problem] });
  find();
  output.add('begin\nend\n');
  await pass(500);
  expect(ends).toMatchObject([
    { goesOn: true, problems: [problem], ranBy: 'c', awaitedBy: 'c' },
    { goesOn: true, problems: [], ranBy: 'c' },
  ]);
  expect(ends[1]).not.toHaveProperty('awaitedBy');
  run.dispose();
});

test('a background task without round patterns counts as started after 3 s, and no call waits for its end', async () => {
  const { run, output, ends, pass } = begin({ any: false }, true);
  const running = run.startedBy(waiting, () => undefined);
  await pass(3000);
  expect(await running.finished).toBeUndefined();
  output.end();
  await run.end();
  expect(ends).toMatchObject([{ goesOn: false, ranBy: 'c' }]);
  expect(ends[0]).not.toHaveProperty('awaitedBy');
  run.dispose();
});

test('a call that stops waiting does not report the end', async () => {
  const { run, output, ends } = begin({ any: false });
  const printed: string[] = [];
  const running = run.startedBy({ conversation: 'c', onOutput: (text) => printed.push(text) }, () => undefined);
  output.add('one\n');
  running.leave();
  output.add('two\n');
  run.processEnded(0);
  output.end();
  await run.end();
  expect(printed.join('')).toBe('one\n');
  expect(running.output()).toBe('one\ntwo');
  expect(ends).toMatchObject([{ exitCode: 0, ranBy: 'c' }]);
  expect(ends[0]).not.toHaveProperty('awaitedBy');
  run.dispose();
});

test('a pattern that would take for ever is given up, and whoever waits gets what is known', async () => {
  const errors: unknown[] = [];
  const hostile = { activeOnStart: true, begins: undefined, ends: /^(a+)+$/ };
  const { run, output, ends, pass } = begin({ any: true, rounds: hostile }, true, (error) => errors.push(error));
  const { finished } = run.startedBy(waiting, () => undefined);
  const before = performance.now();
  output.add(`${'a'.repeat(60)}b\n`);
  expect(performance.now() - before).toBeLessThan(5000);
  await pass(3000);
  expect(await finished).toMatchObject({ goesOn: true });
  expect(errors.map(String)).toEqual([expect.stringContaining('take too long')]);
  // It is not tried again.
  output.add(`${'a'.repeat(60)}b\naaa\n`);
  await pass(3000);
  expect([ends.length, errors.length]).toEqual([1, 1]);
  run.dispose();
});
