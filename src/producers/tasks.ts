// Tells of tasks that ended, and of a background task's round when that changed its problems.
import { type Disposable } from '../base/disposable.ts';
import { printPath } from '../core/notify/printPath.ts';
import { type Clock, type Log, type Producer, type Publisher } from '../core/ports.ts';
import { type TaskEnd, type TaskProblem, type Tasks } from '../core/taskPorts.ts';
import { type Level, type NotificationDraft } from '../protocol/notification.ts';

const PROBLEMS_SHOWN = 3;

export function createTasksProducer(deps: {
  readonly tasks: Tasks;
  readonly clock: Clock;
  readonly log: Log;
}): Producer {
  return { name: 'tasks', start: (publisher) => follow(deps, publisher) };
}

function follow(
  { tasks, clock, log }: { readonly tasks: Tasks; readonly clock: Clock; readonly log: Log },
  publisher: Publisher,
): Disposable {
  /** What the last round of each background task reported. */
  const rounds = new Map<string, string>();
  return tasks.onDidEnd((end) => {
    const name = nameOf(end);
    const problems = JSON.stringify(end.problems);
    const before = rounds.get(name) ?? '[]';
    if (end.goesOn) rounds.set(name, problems);
    else rounds.delete(name);
    // A watcher ends a round at each save: only what it found is news.
    if (end.goesOn && problems === before) return;
    const draft = { ...describe(end, name), at: new Date(clock.now()).toISOString() };
    const report = (error: unknown) => log.error('the end of a task could not be told', error);
    // Whoever ran it reads the result of its call.
    void publisher.publish(draft, undefined, end.toldTo).catch(report);
  });
}

function nameOf({ task: { name, folder } }: TaskEnd): string {
  return folder === undefined ? name : `${name} (${folder})`;
}

/** A conversation may have called `npm: build` just `build`, and an odd one as it was printed. */
function calledNames(name: string): string[] {
  const names = [name, name.slice(name.indexOf(': ') + 1).trim()];
  return [...names, ...names.map(printPath)];
}

function describe(end: TaskEnd, name: string): Omit<NotificationDraft, 'at'> {
  const lines = [`The ${end.task.background ? 'background ' : ''}task “${printPath(name)}” ${whatHappened(end)}.`];
  if (end.problems.length > 0) lines.push(...listProblems(end.problems));
  else if (end.goesOn) lines.push('It reports no problems any more.');
  return {
    kind: { source: 'task', name: 'ended' },
    level: levelOf(end),
    message: lines.join('\n'),
    subject: `task:${name}`,
    scopes: [...new Set(calledNames(end.task.name))].map((one) => `task:${one}`),
    origin: 'process',
  };
}

function whatHappened({ goesOn, exitCode, milliseconds }: TaskEnd): string {
  const time = `${(milliseconds / 1000).toFixed(1)} s`;
  if (goesOn) return 'finished a round and goes on';
  return exitCode === undefined
    ? `was ended after ${time}, without an exit code`
    : `ended with exit code ${exitCode} after ${time}`;
}

function levelOf({ goesOn, exitCode, problems }: TaskEnd): Level {
  if (goesOn) return problems.some(({ severity }) => severity === 'error') ? 'error' : 'info';
  return exitCode === undefined || exitCode === 0 ? 'info' : 'error';
}

function listProblems(problems: readonly TaskProblem[]): string[] {
  const shown = problems
    .slice(0, PROBLEMS_SHOWN)
    .map(
      ({ path, line, column, severity, message }) =>
        `${printPath(path)}:${line}:${column} ${severity}: ${oneLine(message)}`,
    );
  const more = problems.length - shown.length;
  return ['Problems reported while it ran:', ...shown, ...(more > 0 ? [`and ${more} more`] : [])];
}

function oneLine(text: string): string {
  const line = text.split('\n', 1)[0] ?? '';
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}
