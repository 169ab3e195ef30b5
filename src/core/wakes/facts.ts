// Follows the facts that conditions are about: commands, their output, tasks, problems, files and ports.
import { type Disposable } from '../../base/disposable.ts';
import { describeFailure } from '../../base/errors.ts';
import { parseJson } from '../../base/json/outsideJson.ts';
import { shortList } from '../../base/text.ts';
import { type Atom, type AtomOf } from '../../protocol/wakes.ts';
import { matchesAny, whyUnusable } from '../files/globs.ts';
import { whyNotPattern } from '../notify/lines/linePatterns.ts';
import { type Handle } from '../ports/handles.ts';
import { type Clock } from '../ports/ports.ts';
import { type ProblemFacts } from '../ports/problems.ts';
import { type Snapshots } from '../ports/storage.ts';
import { type TaskEnd, type Tasks } from '../ports/tasks.ts';
import { type Workspace } from '../ports/workspace.ts';
import { describeHandleState, isSuccess } from '../tools/handleTexts.ts';
import { type Handles } from '../tools/handles.ts';
import { type Fact, type FactContext, type FactSource } from './fact.ts';
import { followForge, type ForgeFacts, isForgeAtom } from './forgeFacts.ts';
import { outputAnchor, OutputSearch } from './outputSearch.ts';

export interface FactDeps {
  readonly clock: Clock;
  /** Absent: no commands can be run. */
  readonly handles?: Pick<Handles, 'list' | 'onDidChange'> | undefined;
  /** Absent: there are no tasks of an editor. */
  readonly tasks?: Pick<Tasks, 'list' | 'onDidEnd'> | undefined;
  /** Absent: there are no language servers. */
  readonly problems?: ProblemFacts | undefined;
  readonly workspace?: Pick<Workspace, 'resolve' | 'fingerprint' | 'readLocally'> | undefined;
  readonly snapshots?: Pick<Snapshots, 'hash'> | undefined;
  /** Absent: CI and pull requests are not followed. */
  readonly forge?: ForgeFacts | undefined;
  /** Whether something listens on this port of the machine. Absent: not known. */
  probe?(port: number): Promise<boolean>;
}

/** Language servers clear the problems of a file before they report it again. */
const PROBLEMS_SETTLE = 2000;
/** Files that must be checked again after a restart before there are no problems. */
const MOST_CONCERNED = 20;
/** Tasks that an answer lists. */
const MOST_NAMED = 20;
const FILE_EVERY = 2000;
const FIRST_PROBE = 500;
const LAST_PROBE = 5000;

/** Undefined: the atom is about time or notifications, which the log and the clock decide. */
export function followFact(deps: FactDeps, atom: Atom, context: FactContext): FactSource | undefined {
  if ('handle' in atom) return followHandle(deps, context, atom.handle, (handle) => handleFact(handle, atom.is));
  if ('agent' in atom) return followHandle(deps, context, atom.agent, (handle) => agentFact(handle, atom.is));
  if ('output' in atom) return new OutputSearch(deps, atom, context);
  if ('task' in atom) return followTask(deps, atom, context);
  if ('problems' in atom) return followProblems(deps, atom, context);
  if ('file' in atom) return followFile(deps, atom, context);
  if (isForgeAtom(atom)) return followForge(deps.forge, atom, context);
  return 'port' in atom ? followPort(deps, atom, context) : undefined;
}

/** What the states of the atom are compared with from now on. */
export async function anchorOf(deps: FactDeps, atom: Atom, conversation: string): Promise<string | undefined> {
  if ('output' in atom) return outputAnchor(findHandle(deps, conversation, atom.output));
  if (isForgeAtom(atom)) {
    const anchor = await deps.forge?.anchor(atom);
    return anchor?.ok === true ? anchor.value : undefined;
  }
  if ('problems' in atom) {
    const concerned = deps.problems?.concerned((path) => matchesAny([atom.problems], path)) ?? [];
    return JSON.stringify(concerned.slice(0, MOST_CONCERNED));
  }
  return 'file' in atom && atom.is === 'changed' ? fingerprint(deps, atom.file) : undefined;
}

/** The name of the background command or subagent that the atom is about. */
export function handleIn(atom: Atom): string | undefined {
  return 'handle' in atom ? atom.handle : 'output' in atom ? atom.output : 'agent' in atom ? atom.agent : undefined;
}

/** Why the atom cannot be followed, with what to do instead; undefined: it can. */
export async function whyNotFollowed(deps: FactDeps, atom: Atom, conversation: string): Promise<string | undefined> {
  const name = handleIn(atom);
  const wrong = 'output' in atom ? whyNotPattern(atom.has) : undefined;
  if (wrong !== undefined) return `has: ${wrong}`;
  if (name !== undefined) {
    const known = (deps.handles?.list(conversation) ?? []).map((handle) => handle.name);
    if (known.includes(name)) return undefined;
    const there =
      known.length === 0 ? 'There are none: start a background command first.' : `There are: ${known.join(', ')}.`;
    return `there is no handle “${name}”. ${there}`;
  }
  if ('task' in atom) return whyNotTask(deps, atom.task);
  if ('problems' in atom && deps.problems === undefined)
    return 'there are no language servers here; run a check instead.';
  const unusable = 'problems' in atom ? whyUnusable(atom.problems) : undefined;
  if (unusable !== undefined) return `the pattern cannot be used: ${unusable}.`;
  if ('port' in atom && deps.probe === undefined) return 'ports cannot be looked at here.';
  if (isForgeAtom(atom)) {
    const anchor = await deps.forge?.anchor(atom);
    if (anchor?.ok === true) return undefined;
    return anchor === undefined ? 'CI and pull requests are not followed here.' : describeFailure(anchor.failure);
  }
  if (!('file' in atom)) return undefined;
  const resolved = await deps.workspace?.resolve(atom.file);
  if (resolved === undefined) return 'files cannot be looked at here.';
  return resolved.ok || resolved.failure.code === 'not_found' ? undefined : resolved.failure.message;
}

async function whyNotTask({ tasks }: FactDeps, wanted: string): Promise<string | undefined> {
  if (tasks === undefined) return 'tasks of an editor cannot be followed here; use a handle.';
  const listed = await tasks.list();
  // What the editor cannot list now may still end.
  if (!listed.ok || listed.value.some(({ name }) => isTask(wanted, name))) return undefined;
  const names = listed.value.map(({ name }) => name);
  const there = names.length === 0 ? 'There are none.' : `There are: ${shortList(names, MOST_NAMED)}.`;
  return `task: there is no task “${wanted}”. ${there}`;
}

/** `test` is also the task that the editor prints as `npm: test`. */
function isTask(wanted: string, name: string): boolean {
  return wanted === name || wanted === name.slice(name.indexOf(': ') + 1).trim();
}

const no = (evidence: string): Fact => ({ truth: 'no', evidence });
const yes = (evidence: string): Fact => ({ truth: 'yes', evidence });
const unknown = (evidence: string): Fact => ({ truth: 'unknown', evidence });
const never = (evidence: string): Fact => ({ truth: 'never', evidence });

function findHandle({ handles }: FactDeps, conversation: string, name: string): Handle | undefined {
  return handles?.list(conversation).find((handle) => handle.name === name);
}

function followHandle(
  deps: FactDeps,
  { conversation, changed }: FactContext,
  name: string,
  toFact: (handle: Handle) => Fact,
): FactSource {
  const listening = deps.handles?.onDidChange(({ type, handle }) => {
    if (type === 'state' && handle.conversation === conversation && handle.name === name) changed();
  });
  return {
    read: () => {
      const handle = findHandle(deps, conversation, name);
      return handle === undefined ? unknown('there is no such handle any more') : toFact(handle);
    },
    dispose: () => listening?.dispose(),
  };
}

function handleFact(handle: Handle, is: AtomOf<'handle'>['is']): Fact {
  const state = describeHandleState(handle);
  if (!handle.hasEnded) return handle.state === is ? yes(state) : no(state);
  if (is === 'ended') return yes(state);
  const ended = isSuccess(handle.process.status) ? 'ok' : 'failed';
  return ended === is ? yes(state) : never(state);
}

function agentFact(handle: Handle, is: AtomOf<'agent'>['is']): Fact {
  const state = describeHandleState(handle);
  const isIdle = handle.state === 'waiting' || handle.process.status.waitsFor !== undefined;
  return handle.hasEnded || (is === 'idle' && isIdle) ? yes(state) : no(state);
}

/** Counts the first end that fits. A task that ran before does not count. */
function followTask({ tasks }: FactDeps, { task, is }: AtomOf<'task'>, { changed }: FactContext): FactSource {
  let last: Fact | undefined;
  const listening = tasks?.onDidEnd((end) => {
    if (!isTask(task, end.task.name)) return;
    const isMet = is === 'ended' || is === resultOf(end);
    if (last?.truth !== 'yes') last = { truth: isMet ? 'yes' : 'no', evidence: describeTaskEnd(end), latches: true };
    changed();
  });
  return { read: () => last ?? no('it has not ended since'), dispose: () => listening?.dispose() };
}

function resultOf({ goesOn, exitCode, problems }: TaskEnd): 'ok' | 'failed' {
  const hasErrors = problems.some(({ severity }) => severity === 'error');
  return (goesOn ? !hasErrors : exitCode === 0) ? 'ok' : 'failed';
}

function describeTaskEnd({ goesOn, exitCode, milliseconds }: TaskEnd): string {
  const time = `${(milliseconds / 1000).toFixed(1)} s`;
  if (goesOn) return 'finished a round';
  return exitCode === undefined ? `was ended after ${time}` : `ended with exit code ${exitCode} after ${time}`;
}

/** The files that had problems, or were checked, when the condition was set. */
function concernedIn(anchor = '[]'): readonly string[] {
  const paths = parseJson(anchor);
  return Array.isArray(paths) ? paths.filter((path) => typeof path === 'string') : [];
}

function followProblems(
  { problems, clock }: FactDeps,
  { problems: glob, is }: AtomOf<'problems'>,
  { anchor, changed }: FactContext,
): FactSource {
  const isMeant = (path: string) => matchesAny([glob], path);
  const before = concernedIn(anchor);
  let settling: Disposable | undefined;
  let again: Disposable | undefined;
  const listening = problems?.onDidChange((files) => {
    if (!files.some(({ path }) => isMeant(path))) return;
    settling?.dispose();
    settling = clock.after(PROBLEMS_SETTLE, () => {
      settling = undefined;
      changed();
    });
  });
  return {
    read: async () => {
      if (problems === undefined) return unknown('there are no language servers here');
      const found = await problems.find(isMeant, before);
      again?.dispose();
      again = found.again === undefined ? undefined : clock.after(found.again, changed);
      if (settling !== undefined) return unknown('the language servers are at work');
      const { count, unknown: why } = found;
      if (count === 0 && why !== undefined) return unknown(why);
      const some = count === 1 ? '1 error or warning' : `${count} errors and warnings`;
      const evidence = count === 0 ? 'no errors or warnings' : some;
      return (count === 0) === (is === 'none') ? yes(evidence) : no(evidence);
    },
    dispose: () => {
      for (const one of [listening, settling, again]) one?.dispose();
    },
  };
}

const GONE = 'gone';

/** Distinguishes the states of a file; undefined: it cannot be known. */
async function fingerprint({ workspace, snapshots }: FactDeps, path: string): Promise<string | undefined> {
  const resolved = await workspace?.resolve(path);
  if (resolved?.ok === false && resolved.failure.code === 'not_found') return GONE;
  if (workspace === undefined || snapshots === undefined || resolved?.ok !== true) return undefined;
  const print = await workspace.fingerprint(resolved.value, snapshots);
  if (print.ok) return print.value;
  if (print.failure.code !== 'too_big') return print.failure.code === 'not_found' ? GONE : print.failure.code;
  const found = await workspace.readLocally(resolved.value, { part: { from: 0, length: 0 } });
  return found.ok ? [found.value.identity, found.value.size, found.value.modified].join() : found.failure.code;
}

function followFile(deps: FactDeps, { file, is }: AtomOf<'file'>, { anchor, changed }: FactContext): FactSource {
  const again = repeat(deps.clock, () => FILE_EVERY, changed);
  return {
    read: async () => {
      const now = await fingerprint(deps, file);
      again.next();
      if (now === undefined) return unknown('it cannot be read');
      if (is === 'changed') {
        if (anchor === undefined) return unknown('its earlier state is not known');
        return now === anchor
          ? no('it is unchanged')
          : { ...yes(now === GONE ? 'it was deleted' : 'it changed'), latches: true };
      }
      const evidence = now === GONE ? 'there is no such file' : 'it exists';
      return (now === GONE) === (is === 'gone') ? yes(evidence) : no(evidence);
    },
    dispose: () => again.dispose(),
  };
}

function followPort({ clock, probe }: FactDeps, { port, is }: AtomOf<'port'>, { changed }: FactContext): FactSource {
  let wait = FIRST_PROBE / 1.5;
  const again = repeat(clock, () => (wait = Math.min(LAST_PROBE, wait * 1.5)), changed);
  return {
    read: async () => {
      const isOpen = await probe?.(port);
      again.next();
      if (isOpen === undefined) return unknown('ports cannot be looked at here');
      const evidence = isOpen ? 'something listens' : 'nothing listens';
      return isOpen === (is === 'open') ? yes(evidence) : no(evidence);
    },
    dispose: () => again.dispose(),
  };
}

/** Calls again some time after each `next`, until disposed of. */
function repeat(clock: Clock, wait: () => number, again: () => void): Disposable & { next(): void } {
  let timer: Disposable | undefined;
  let ended = false;
  return {
    next: () => {
      if (ended || timer !== undefined) return;
      timer = clock.after(wait(), () => {
        timer = undefined;
        again();
      });
    },
    dispose: () => {
      ended = true;
      timer?.dispose();
    },
  };
}
