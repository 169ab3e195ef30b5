// Reports the end of tasks, and the rounds of background tasks in which their problems changed.
import { Sequence } from '../../base/async.ts';
import { type Disposable } from '../../base/disposable.ts';
import { printPath } from '../../base/printPath.ts';
import { type Clock, type Logger, type Producer, type Publisher } from '../../core/ports/ports.ts';
import { type LiveConversations } from '../../core/ports/producers.ts';
import { type TaskEnd, type TaskProblem, type Tasks } from '../../core/ports/tasks.ts';
import { type Level, type NotificationDraft } from '../../protocol/notification.ts';
import { scopeOf } from '../../protocol/scopes.ts';
import { ReportOnce } from '../reportOnce.ts';

const KIND = { source: 'task', name: 'ended' } as const;
const PROBLEMS_SHOWN = 3;

export interface TasksDeps {
  readonly tasks: Pick<Tasks, 'onDidEnd'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export function createTasksProducer(deps: TasksDeps): Producer {
  return { name: 'tasks', start: (publisher, _seen, { live }) => new TasksWatch(deps, publisher, live) };
}

/** The last round of a background task that one conversation knows. */
interface KnownRound {
  problems: string;
  /** The conversation was notified of a round, or a result showed it one. */
  notified: boolean;
}

const NO_PROBLEMS = '[]';

class TasksWatch implements Disposable {
  readonly #deps: TasksDeps;
  readonly #publisher: Publisher;
  readonly #live: LiveConversations;
  readonly #listening: Disposable;
  /** By conversation and the task's name. */
  readonly #known = new Map<string, KnownRound>();
  /** The problems of the round that was reported last. */
  readonly #reports: ReportOnce<string>;
  readonly #rounds = new Sequence();

  constructor(deps: TasksDeps, publisher: Publisher, live: LiveConversations) {
    this.#deps = deps;
    this.#publisher = publisher;
    this.#live = live;
    const { clock } = deps;
    this.#reports = new ReportOnce({ clock, publisher, until: 'withdrawn', failed: (error) => this.#report(error) });
    this.#listening = deps.tasks.onDidEnd((end) => {
      const draft = { ...describeTaskEnd(end), at: new Date(deps.clock.now()).toISOString() };
      const stopped = end.task.background && end.exitCode === undefined;
      // The conversation that ran it reads the result of its call.
      if (!end.goesOn && !stopped) this.#publish(draft, undefined, end.awaitedBy);
      // In order, since the next report depends on whether the last one was delivered.
      void this.#rounds
        .run(() => (end.goesOn ? this.#reportRound(end, draft) : this.#forgetRounds(end, stopped ? draft : undefined)))
        .catch((error: unknown) => this.#report(error));
    });
  }

  dispose(): void {
    this.#listening.dispose();
  }

  #report(error: unknown): void {
    this.#deps.logger.error('the end of a task could not be reported', error);
  }

  async #reportRound(end: TaskEnd, draft: NotificationDraft): Promise<void> {
    for (const conversation of this.#live.ids()) await this.#reportRoundTo(conversation, end, draft);
  }

  /** The task has ended. A stopped one is reported only to conversations that know of it. */
  #forgetRounds(end: TaskEnd, stopped: NotificationDraft | undefined): void {
    for (const conversation of this.#live.ids()) {
      const key = roundKey(conversation, end);
      const isReported = this.#reports.get(conversation, taskSubject(end)) !== undefined;
      const isKnown = this.#known.get(key)?.notified === true || isReported || end.ranBy === conversation;
      this.#known.delete(key);
      this.#reports.forget(conversation, taskSubject(end));
      if (stopped !== undefined && isKnown) this.#publish(stopped, conversation, end.awaitedBy);
    }
  }

  /** A watch task ends a round at each save: only changed problems are reported, and not if fixed before delivery. */
  async #reportRoundTo(conversation: string, end: TaskEnd, draft: NotificationDraft): Promise<void> {
    const subject = taskSubject(end);
    const known = this.#knownRound(conversation, end);
    const problems = problemsKey(end.problems);
    if (end.awaitedBy === conversation) {
      Object.assign(known, { problems, notified: true });
      this.#reports.forget(conversation, subject);
      return;
    }
    if (problems === (this.#reports.get(conversation, subject) ?? known.problems)) return;
    const last = await this.#reports.withdraw(conversation, subject, [KIND], 'it went another round');
    if (last?.delivered === true) Object.assign(known, { problems: last.state, notified: true });
    if (problems !== known.problems) this.#reports.report(conversation, subject, problems, draft);
  }

  #knownRound(conversation: string, end: TaskEnd): KnownRound {
    const key = roundKey(conversation, end);
    const known = this.#known.get(key) ?? { problems: NO_PROBLEMS, notified: false };
    this.#known.set(key, known);
    return known;
  }

  #publish(draft: NotificationDraft, to?: string, sender?: string): void {
    void this.#publisher.publish(draft, to, sender).catch((error: unknown) => this.#report(error));
  }
}

/** Ignores positions, since a line inserted above a problem only moves it. */
function problemsKey(problems: readonly TaskProblem[]): string {
  return JSON.stringify(
    problems.map(({ path, severity, message }) => JSON.stringify([path, severity, message])).sort(),
  );
}

function roundKey(conversation: string, end: TaskEnd): string {
  return JSON.stringify([conversation, taskName(end)]);
}

function taskSubject(end: TaskEnd): string {
  return scopeOf('task', taskName(end));
}

function taskName({ task: { name, folder } }: TaskEnd): string {
  return folder === undefined ? name : `${name} (${folder})`;
}

/** Names by which a conversation may have called the task: `npm: build` or `build`, also in their printed form. */
function calledNames(name: string): string[] {
  const names = [name, name.slice(name.indexOf(': ') + 1).trim()];
  return [...names, ...names.map(printPath)];
}

function describeTaskEnd(end: TaskEnd): Omit<NotificationDraft, 'at'> {
  const name = taskName(end);
  const lines = [`The ${end.task.background ? 'background ' : ''}task “${printPath(name)}” ${whatHappened(end)}.`];
  if (end.problems.length > 0) lines.push(...listProblems(end.problems));
  else if (end.goesOn) lines.push('It reports no problems any more.');
  return {
    kind: KIND,
    level: levelOf(end),
    message: lines.join('\n'),
    subject: taskSubject(end),
    scopes: [...new Set(calledNames(end.task.name))].map((one) => scopeOf('task', one)),
    origin: 'process',
    // Every failure is reported; a success only if it is news: after a failure, or after the model changed something.
    ...(succeeded(end) && { data: { state: 'succeeded', usually: 'succeeded' } }),
  };
}

function whatHappened({ goesOn, exitCode, milliseconds }: TaskEnd): string {
  const time = `${(milliseconds / 1000).toFixed(1)} s`;
  if (goesOn) return 'finished a round and goes on';
  return exitCode === undefined
    ? `was ended after ${time}, without an exit code`
    : `ended with exit code ${exitCode} after ${time}`;
}

function succeeded({ goesOn, exitCode, problems }: TaskEnd): boolean {
  return !goesOn && exitCode === 0 && problems.length === 0;
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
        `${printPath(path)}:${line}:${column} ${severity}: ${firstLineOf(message)}`,
    );
  const more = problems.length - shown.length;
  return ['Problems reported while it ran:', ...shown, ...(more > 0 ? [`and ${more} more`] : [])];
}

function firstLineOf(text: string): string {
  const line = text.split('\n', 1)[0] ?? '';
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}
