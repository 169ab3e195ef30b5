// Tells of tasks that ended, and of a background task's round when that changed its problems.

import { type Disposable } from '../base/disposable.ts';
import { printPath } from '../base/printPath.ts';
import { type Clock, type Logger, type Producer, type Publisher } from '../core/ports/ports.ts';
import { type LiveConversations } from '../core/ports/producers.ts';
import { type TaskEnd, type TaskProblem, type Tasks } from '../core/ports/tasks.ts';
import { type Level, type NotificationDraft } from '../protocol/notification.ts';
import { scopeOf } from '../protocol/scopes.ts';

const KIND = { source: 'task', name: 'ended' } as const;
const PROBLEMS_SHOWN = 3;

export interface TasksDeps {
  readonly tasks: Tasks;
  readonly clock: Clock;
  readonly logger: Logger;
}

export function createTasksProducer(deps: TasksDeps): Producer {
  return { name: 'tasks', start: (publisher, _seen, { live }) => new TasksWatch(deps, publisher, live) };
}

/** What one conversation knows of the rounds of a background task. */
interface Rounds {
  /** The problems of the last one that it heard of. */
  known: string;
  /** Of one that was told and may not have been heard yet. */
  said?: string;
  heard: boolean;
}

const NO_PROBLEMS = '[]';

class TasksWatch implements Disposable {
  readonly #deps: TasksDeps;
  readonly #publisher: Publisher;
  readonly #live: LiveConversations;
  readonly #listening: Disposable;
  /** By conversation and the task's name. */
  readonly #rounds = new Map<string, Rounds>();
  #turn: Promise<void> = Promise.resolve();

  constructor(deps: TasksDeps, publisher: Publisher, live: LiveConversations) {
    this.#deps = deps;
    this.#publisher = publisher;
    this.#live = live;
    this.#listening = deps.tasks.onDidEnd((end) => {
      const draft = { ...describe(end), at: new Date(deps.clock.now()).toISOString() };
      const stopped = end.task.background && end.exitCode === undefined;
      // Whoever ran it reads the result of its call.
      if (!end.goesOn && !stopped) this.#publish(draft, undefined, end.toldTo);
      // One after another: what is said of a round depends on what became of the last.
      this.#turn = this.#turn
        .then(() => (end.goesOn ? this.#tellRound(end, draft) : this.#forget(end, stopped ? draft : undefined)))
        .catch((error: unknown) => this.#report(error));
    });
  }

  dispose(): void {
    this.#listening.dispose();
  }

  #report(error: unknown): void {
    this.#deps.logger.error('the end of a task could not be told', error);
  }

  async #tellRound(end: TaskEnd, draft: NotificationDraft): Promise<void> {
    for (const conversation of this.#live.ids()) await this.#tellOne(end, draft, conversation);
  }

  /** Its rounds are over. One that was stopped is missed only by whoever has heard of it. */
  #forget(end: TaskEnd, draft: NotificationDraft | undefined): void {
    for (const conversation of this.#live.ids()) {
      const key = keyOf(conversation, end);
      const rounds = this.#rounds.get(key);
      this.#rounds.delete(key);
      const knows = rounds?.heard === true || rounds?.said !== undefined || end.ranBy === conversation;
      if (draft !== undefined && knows) this.#publish(draft, conversation, end.toldTo);
    }
  }

  /** A watcher ends a round at each save: only what it found is news, and what is mended before it was heard of is not. */
  async #tellOne(end: TaskEnd, draft: NotificationDraft, conversation: string): Promise<void> {
    const rounds = this.#roundsOf(conversation, end);
    const problems = printProblems(end.problems);
    if (end.toldTo === conversation) {
      Object.assign(rounds, { known: problems, heard: true });
      delete rounds.said;
      return;
    }
    if (problems === (rounds.said ?? rounds.known)) return;
    if (rounds.said !== undefined) {
      const pending = await this.#publisher.withdraw(KIND, subjectOf(end), 'it went another round', conversation);
      if (!pending) Object.assign(rounds, { known: rounds.said, heard: true });
      delete rounds.said;
      if (problems === rounds.known) return;
    }
    rounds.said = problems;
    this.#publish(draft, conversation);
  }

  #roundsOf(conversation: string, end: TaskEnd): Rounds {
    const key = keyOf(conversation, end);
    const rounds = this.#rounds.get(key) ?? { known: NO_PROBLEMS, heard: false };
    this.#rounds.set(key, rounds);
    return rounds;
  }

  /** Not waited for: a calm publisher may hold it back, and the next round must be able to take it back. */
  #publish(draft: NotificationDraft, to?: string, sender?: string): void {
    void this.#publisher.publish(draft, to, sender).catch((error: unknown) => this.#report(error));
  }
}

/** Without their places: a line above one moves it and changes nothing. */
function printProblems(problems: readonly TaskProblem[]): string {
  return JSON.stringify(
    problems.map(({ path, severity, message }) => JSON.stringify([path, severity, message])).sort(),
  );
}

function keyOf(conversation: string, end: TaskEnd): string {
  return JSON.stringify([conversation, nameOf(end)]);
}

function subjectOf(end: TaskEnd): string {
  return scopeOf('task', nameOf(end));
}

function nameOf({ task: { name, folder } }: TaskEnd): string {
  return folder === undefined ? name : `${name} (${folder})`;
}

/** A conversation may have called `npm: build` just `build`, and an odd one as it was printed. */
function calledNames(name: string): string[] {
  const names = [name, name.slice(name.indexOf(': ') + 1).trim()];
  return [...names, ...names.map(printPath)];
}

function describe(end: TaskEnd): Omit<NotificationDraft, 'at'> {
  const name = nameOf(end);
  const lines = [`The ${end.task.background ? 'background ' : ''}task “${printPath(name)}” ${whatHappened(end)}.`];
  if (end.problems.length > 0) lines.push(...listProblems(end.problems));
  else if (end.goesOn) lines.push('It reports no problems any more.');
  return {
    kind: KIND,
    level: levelOf(end),
    message: lines.join('\n'),
    subject: subjectOf(end),
    scopes: [...new Set(calledNames(end.task.name))].map((one) => scopeOf('task', one)),
    origin: 'process',
    // Each failure is one of its own; that it succeeds again is not.
    ...(succeeded(end) && { data: { state: 'succeeded' } }),
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
        `${printPath(path)}:${line}:${column} ${severity}: ${oneLine(message)}`,
    );
  const more = problems.length - shown.length;
  return ['Problems reported while it ran:', ...shown, ...(more > 0 ? [`and ${more} more`] : [])];
}

function oneLine(text: string): string {
  const line = text.split('\n', 1)[0] ?? '';
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}
