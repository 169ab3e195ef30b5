// Rounds of a background task: only changed problems are reported, whatever their position.
import { expect, test } from 'vitest';
import { Emitter } from '../../../../src/base/emitter.ts';
import { type TaskEnd, type TaskProblem } from '../../../../src/core/ports/tasks.ts';
import { createTasksProducer } from '../../../../src/producers/tasks/tasks.ts';
import { createManualClock } from '../../../support/manualClock.ts';
import { createMemoryPublisher } from '../../../support/notify/memoryPublisher.ts';
import { createTestHost } from '../../../support/notify/producerHost.ts';
import { recordingLogger } from '../../../support/recordingLogger.ts';

const problem = (line: number, message = 'Too bitter.'): TaskProblem => ({
  path: 'src/a.ts',
  line,
  column: 1,
  severity: 'error',
  message,
});

test('a problem that only moves is reported once; another problem, and its disappearance, are reported', async () => {
  const errors: string[] = [];
  const ended = new Emitter<TaskEnd>((error) => errors.push(String(error)));
  const host = createTestHost();
  host.conversations = ['c'];
  const publisher = createMemoryPublisher(() => host.conversations);
  const watching = createTasksProducer({
    clock: createManualClock(),
    logger: recordingLogger(errors),
    tasks: { onDidEnd: ended.event },
  }).start(publisher, { all: () => [], get: () => undefined, onDidChange: host.changed.event }, host);
  const round = async (...problems: TaskProblem[]) => {
    ended.fire({ task: { name: 'watch', background: true }, goesOn: true, milliseconds: 1, problems });
    await new Promise((resolve) => setImmediate(resolve));
    return publisher.deliver('c').length;
  };
  expect(await round(problem(1))).toBe(1);
  expect(await round(problem(2))).toBe(0);
  expect(await round(problem(7), problem(9))).toBe(1);
  expect(await round(problem(9), problem(7))).toBe(0);
  expect(await round(problem(7), problem(9, 'Too cold.'))).toBe(1);
  expect(await round()).toBe(1);
  watching.dispose();
  ended.dispose();
  expect(errors).toEqual([]);
});
