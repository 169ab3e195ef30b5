// The tool run_task: runs a task of the editor by name and returns its output, exit code and problems.
import * as z from 'zod';
import { describeFailure } from '../../base/errors.ts';
import { printPath } from '../../base/printPath.ts';
import { type Clock, type Tool, type ToolOutcome } from '../../core/ports/ports.ts';
import { type RunningTask, type TaskEnd, type TaskInfo, type TaskProblem, type Tasks } from '../../core/ports/tasks.ts';
import { defineTool, refuse } from '../defineTool.ts';

const DEFAULT_SECONDS = 300;
const MOST_LISTED = 60;
const MOST_PROBLEMS = 50;

interface TaskReference {
  readonly name: string;
  readonly folder?: string | undefined;
}

export function createRunTaskTool({ tasks, clock }: { readonly tasks: Tasks; readonly clock: Clock }): Tool {
  return defineTool({
    name: 'run_task',
    description:
      'Runs a task of the editor (tasks.json, npm scripts, extensions). Returns output, exit code and problems; of a background task after its first round. An unknown name lists the tasks. If it still runs after timeout_secs, you are notified of its end. Prefer it to run_command.',
    effect: 'execute',
    traits: {
      invalidatesReports: true,
      runsTask: ({ name }) => (typeof name === 'string' ? name : undefined),
    },
    arguments: {
      name: z.string().trim().min(1).max(500).describe('As the editor shows it: check, npm: build'),
      folder: z.string().min(1).max(500).optional().describe('Workspace folder, if several are open'),
      timeout_secs: z.int().min(1).max(3600).optional().describe(`Longest wait in seconds; default ${DEFAULT_SECONDS}`),
    },
    touches: ({ name }) => ({ task: name }),
    whyNot: async (wanted) => {
      const found = await findTask(tasks, wanted);
      return typeof found === 'string' ? { code: 'no_task', message: found } : undefined;
    },
    inspect: async (wanted) => {
      const task = await findTask(tasks, wanted);
      const inspected = typeof task === 'string' ? undefined : await tasks.inspect(task);
      return inspected?.ok === true ? inspected.value : undefined;
    },
    run: async (wanted, { conversation, signal, progress, isApproved }) => {
      const task = await findTask(tasks, wanted);
      if (typeof task === 'string') return refuse({ code: 'no_task', message: task });
      const started = await tasks.run(task, { conversation, isApproved, onOutput: progress });
      if (!started.ok) return refuse(started.failure);
      const seconds = wanted.timeout_secs ?? DEFAULT_SECONDS;
      return describeTaskResult(await waitFor(clock, started.value, seconds, signal), started.value, task, seconds);
    },
  });
}

/** The task, or a message that the name is unknown or ambiguous. */
async function findTask(tasks: Tasks, { name, folder }: TaskReference): Promise<TaskInfo | string> {
  const listed = await tasks.list();
  if (!listed.ok) return describeFailure(listed.failure);
  const there = listed.value.filter((task) => folder === undefined || task.folder === folder);
  const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();
  // An exact match, also of the printed name; otherwise a match that ignores case and the provider.
  const exact = there.filter((task) => task.name === name || printPath(task.name) === name);
  const found = exact.length > 0 ? exact : there.filter((task) => same(task.name, name) || same(bareName(task), name));
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (only !== undefined)
    return `name: “${printPath(name)}” may be any of these. Call it again with the whole name.\n${printTasks(found)}`;
  if (listed.value.length === 0) return `name: there is no task “${printPath(name)}”, and no other task either.`;
  return `name: there is no task “${printPath(name)}”. These are there:\n${printTasks(listed.value)}`;
}

function bareName({ name }: TaskInfo): string {
  return name.slice(name.indexOf(': ') + 1).trim();
}

function printTasks(tasks: readonly TaskInfo[]): string {
  const lines = tasks.slice(0, MOST_LISTED).map(({ name, folder, detail, background }) => {
    const more = [folder && `folder ${folder}`, background && 'background', detail].filter((one) => one);
    const printed = [printPath(name), ...(more.length === 0 ? [] : [`(${oneLine(more.join('; '))})`])];
    return `- ${printed.join(' ')}`;
  });
  return [...lines, ...(tasks.length > MOST_LISTED ? [`and ${tasks.length - MOST_LISTED} more`] : [])].join('\n');
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ');
}

type Waited = { type: 'finished'; end: TaskEnd | undefined } | { type: 'too_long' } | { type: 'cancelled' };

function waitFor(clock: Clock, running: RunningTask, seconds: number, signal: AbortSignal): Promise<Waited> {
  return new Promise((resolve, reject) => {
    const finish = (waited: Waited) => {
      timer.dispose();
      signal.removeEventListener('abort', cancel);
      resolve(waited);
    };
    const cancel = () => {
      running.stop();
      finish({ type: 'cancelled' });
    };
    const timer = clock.after(seconds * 1000, () => {
      running.leave();
      finish({ type: 'too_long' });
    });
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    running.finished.then((end) => finish({ type: 'finished', end }), reject);
  });
}

function describeTaskResult(waited: Waited, running: RunningTask, task: TaskInfo, seconds: number): ToolOutcome {
  const name = printPath(task.name);
  const output = running.output();
  const outcome = (isError: boolean, ...lines: string[]): ToolOutcome => ({
    content: [output, ...lines].filter((part) => part !== '').join('\n'),
    isError,
  });
  switch (waited.type) {
    case 'cancelled':
      return outcome(true, 'Cancelled by the user.');
    case 'too_long':
      return outcome(
        false,
        `(“${name}” still runs after ${seconds} s and continues; you will be notified when it ends.)`,
      );
    case 'finished': {
      const { end } = waited;
      if (end === undefined)
        return outcome(false, `(“${name}” runs in the background; nothing says when it is ready.)`);
      const problems = printProblems(end.problems);
      const time = `${(end.milliseconds / 1000).toFixed(1)} s`;
      if (end.goesOn) {
        return outcome(false, problems, `(First round done after ${time}; “${name}” goes on in the background.)`);
      }
      const how = end.exitCode === undefined ? 'ended without an exit code' : `exit code ${end.exitCode}`;
      return outcome(end.exitCode !== undefined && end.exitCode !== 0, problems, `(${how}, ${time})`);
    }
  }
}

function printProblems(problems: readonly TaskProblem[]): string {
  if (problems.length === 0) return '';
  const lines = problems
    .slice(0, MOST_PROBLEMS)
    .map(({ path, line, column, severity, message }) => `${printPath(path)}:${line}:${column} ${severity}: ${message}`);
  const more = problems.length > MOST_PROBLEMS ? [`and ${problems.length - MOST_PROBLEMS} more`] : [];
  return ['Problems reported while it ran:', ...lines, ...more].join('\n');
}
