// Reads the problem matchers of a task from the editor's settings and extensions.
import * as vscode from 'vscode';
import { type TaskMatchers } from '../../producers/tasks/taskRun.ts';
import { anySetting } from '../configuration.ts';

/** As written in tasks.json or by extensions; every field may be missing or wrong. */
interface Matcher {
  readonly name?: unknown;
  readonly base?: unknown;
  readonly background?: {
    readonly activeOnStart?: unknown;
    readonly beginsPattern?: unknown;
    readonly endsPattern?: unknown;
  };
}

/** The API names the matchers of tasks that extensions provide; those of tasks.json are read from the settings. */
export function matchersOf(task: vscode.Task): TaskMatchers {
  const named = task.problemMatchers.length > 0 ? task.problemMatchers : configured(task);
  const matchers = named.flatMap((one) => resolve(one, 0));
  const background = matchers.map(({ background: found }) => found).find((found) => found !== undefined);
  const ends = toRegExp(background?.endsPattern);
  if (ends === undefined) return { any: matchers.length > 0 };
  const activeOnStart = background?.activeOnStart === true;
  return { any: true, rounds: { activeOnStart, begins: toRegExp(background?.beginsPattern), ends } };
}

function configured(task: vscode.Task): readonly unknown[] {
  const scope = typeof task.scope === 'object' ? task.scope : undefined;
  const tasks = anySetting('tasks.tasks', scope);
  if (!Array.isArray(tasks)) return [];
  const own = (tasks as { label?: unknown; taskName?: unknown; problemMatcher?: unknown }[]).find(
    (one) => typeof one === 'object' && (one.label ?? one.taskName) === task.name,
  );
  return [own?.problemMatcher ?? []].flat();
}

/** A matcher inherits what it does not define from its base. */
function resolve(given: unknown, depth: number): readonly Matcher[] {
  if (depth > 5) return [];
  if (typeof given === 'string') {
    const name = given.replace(/^\$/, '');
    return contributed().filter((matcher) => matcher.name === name);
  }
  if (typeof given !== 'object' || given === null) return [];
  const matcher = given as Matcher;
  const [base] = matcher.base === undefined ? [] : resolve(matcher.base, depth + 1);
  return [{ ...base, ...matcher }];
}

function contributed(): readonly Matcher[] {
  return vscode.extensions.all.flatMap((extension) => {
    const { contributes } = extension.packageJSON as { contributes?: { problemMatchers?: unknown } };
    return Array.isArray(contributes?.problemMatchers) ? (contributes.problemMatchers as Matcher[]) : [];
  });
}

/** The pattern is a string, or an object with one. */
function toRegExp(pattern: unknown): RegExp | undefined {
  const source = typeof pattern === 'object' && pattern !== null && 'regexp' in pattern ? pattern.regexp : pattern;
  if (typeof source !== 'string') return undefined;
  try {
    return new RegExp(source);
  } catch {
    return undefined;
  }
}
