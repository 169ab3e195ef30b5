// The tool wake_when: sets, lists and cancels timers and conditions that wake the model.
import { type Failure, failed, type Result, succeeded } from '../base/errors.ts';
import {
  atomsOf,
  notDuration,
  parseCondition,
  parseDuration,
  printCondition,
  printMoment,
} from '../core/conversation/conditions.ts';
import { type Clock, type ToolContext, type ToolOutcome } from '../core/ports/ports.ts';
import { handleIn } from '../core/wakes/facts.ts';
import { type ListedWake, type WakeRequest, type Wakes } from '../core/wakes/wakes.ts';
import { describeWake, isTimer } from '../core/wakes/wakeTexts.ts';
import { type Atom, type Condition, MOST_FIRES, type WakeArguments, wakeArguments } from '../protocol/wakes.ts';
import { answer, defineTool, refuse } from './defineTool.ts';

const DEFAULT_DEADLINE = '1h';
const LONGEST = '7d';
const SHORTEST_EVERY = '5m';

export interface WakeWhenDeps {
  readonly wakes: Pick<Wakes, 'set' | 'cancel' | 'list' | 'whyNot'>;
  readonly clock: Clock;
}

const CONDITIONS =
  '{all:[…]}, {any:[…]} or {handle,is:ok|failed|ended|waiting} {output:handle,has} {task,is:ok|failed|ended} {problems:glob,is:none|some} {file,is:changed|exists|gone} {port,is:open|closed} {ci:HEAD|sha,is:green|red|done} {pr:HEAD,is:approved|changes_requested|commented|merged|conflict} {agent,is:idle|done} {event:MCP server} {notify:script} {notified:kind,has?} {after:"20m"} {at:"17:00"}';

type Planned = Omit<WakeRequest, 'call'> & { readonly within: string };

export function createWakeWhenTool(deps: WakeWhenDeps) {
  const { clock } = deps;
  return defineTool({
    name: 'wake_when',
    description: `Wakes you once when a condition holds, or at its deadline; end your turn meanwhile. when: ${CONDITIONS}. States count as they are; changed, output, task, event, notify and notified from now on. Needs the user’s approval. The same name replaces. No arguments: lists all.`,
    effect: 'read',
    traits: { notForAgents: true },
    arguments: wakeArguments,
    whyNot: (args, context) => whyNotWake(deps, args, context),
    touches: (args) => {
      const planned = isListing(args) || args.cancel !== undefined ? undefined : planWake(args, clock.now());
      if (planned?.ok !== true) return {};
      // Each approval names its source, number and end, so none covers a later one.
      return {
        onlyOnce: true,
        wakes: describeGrant(planned.value, clock.now()),
        note: describePlanned(planned.value, clock.now()),
      };
    },
    run: (args, context) => changeWakes(deps, args, context),
  });
}

/** Why a call cannot succeed. */
export function whyNotWake(
  { wakes, clock }: WakeWhenDeps,
  args: WakeArguments,
  { conversation, handles }: Pick<ToolContext, 'conversation' | 'handles'>,
): Failure | undefined | Promise<Failure | undefined> {
  if (isListing(args) || args.cancel !== undefined) return undefined;
  const planned = planWake(args, clock.now());
  if (!planned.ok) return planned.failure;
  const { when } = planned.value;
  const isThere = (atom: Atom) => !handles.isComing(handleIn(atom) ?? '');
  return when && wakes.whyNot(conversation, atomsOf(when).filter(isThere));
}

/** Sets, cancels or lists. */
export async function changeWakes(
  { wakes, clock }: WakeWhenDeps,
  args: WakeArguments,
  { conversation, call, handles, signal }: Pick<ToolContext, 'conversation' | 'call' | 'handles' | 'signal'>,
): Promise<ToolOutcome> {
  const list = () => describeAll(wakes.list(conversation), clock.now());
  if (args.cancel !== undefined) {
    const cancelled = await wakes.cancel(conversation, args.cancel, 'model');
    const missing = `cancel: nothing with the name “${args.cancel}” is set.`;
    return cancelled ? answer(`Cancelled. ${list()}`) : refuse('not_found', `${missing} ${list()}`);
  }
  if (isListing(args)) return answer(list());
  const planned = planWake(args, clock.now());
  if (!planned.ok) return refuse(planned.failure);
  const { within: _, ...request } = planned.value;
  for (const atom of request.when === undefined ? [] : atomsOf(request.when)) {
    await handles.awaitStart(handleIn(atom) ?? '', signal);
  }
  const set = await wakes.set(conversation, { ...request, call });
  if (!set.ok) return refuse(set.failure);
  return answerSet(request, set.value.met, clock.now());
}

function answerSet(request: Omit<WakeRequest, 'call'>, met: readonly string[] | undefined, now: number): ToolOutcome {
  if (met !== undefined) return answer(['It holds already, so nothing was set.', ...met].join('\n'));
  const due = request.every === undefined ? request.until : now + request.every;
  const moment = `${printMoment(due, now)} (it is ${printMoment(now, now)})`;
  return answer(`Set. ${isTimer(request) ? `Due at ${moment}.` : `Its deadline is ${moment}.`} You can end your turn.`);
}

function isListing({ name, when, every }: WakeArguments): boolean {
  return name === undefined && when === undefined && every === undefined;
}

/** What a call would set. The failure names the argument. */
function planWake(args: WakeArguments, now: number): Result<Planned> {
  const { name, when, every, most, note = '', or_after: orAfter } = args;
  if (name === undefined) return wrong('name: give it a name, by which it can be cancelled.');
  if ((when === undefined) === (every === undefined)) return wrong('when, every: give one of them.');
  if (most !== undefined && every === undefined) return wrong('most: it counts only together with every.');
  const longest = parseDuration(LONGEST) ?? 0;
  const given = orAfter === undefined ? undefined : parseDuration(orAfter);
  if (orAfter !== undefined && given === undefined) return wrong(`or_after: ${notDuration(orAfter)}`);
  if ((given ?? 0) > longest) return wrong(`or_after: at most ${LONGEST} are possible.`);
  if (every !== undefined) return planRepeated({ name, every, most, note, until: now + (given ?? longest), orAfter });
  const parsed = parseCondition(when, now);
  if (!parsed.ok) return parsed;
  const condition = parsed.value;
  const last = Math.max(...atomsOf(condition).map((atom) => timeOf(atom, now)));
  if (last > now + longest) return wrong(`when: it may not lie more than ${LONGEST} ahead.`);
  const until = isTimer({ when: condition }) ? last : now + (given ?? parseDuration(DEFAULT_DEADLINE) ?? 0);
  if (last > until) {
    return wrong(`or_after: the deadline ${printMoment(until, now)} is before a time in when. Make it longer.`);
  }
  const within = 'at' in condition ? '' : 'after' in condition ? condition.after : (orAfter ?? DEFAULT_DEADLINE);
  return succeeded({ name, when: condition, until, most: 1, note, within });
}

function planRepeated(asked: {
  readonly name: string;
  readonly every: string;
  readonly most: number | undefined;
  readonly note: string;
  readonly until: number;
  readonly orAfter: string | undefined;
}): Result<Planned> {
  const { name, every, most = MOST_FIRES, note, until, orAfter: within = LONGEST } = asked;
  const milliseconds = parseDuration(every);
  if (milliseconds === undefined) return wrong(`every: ${notDuration(every)}`);
  const isPossible =
    milliseconds >= (parseDuration(SHORTEST_EVERY) ?? 0) && milliseconds <= (parseDuration(LONGEST) ?? 0);
  if (!isPossible) return wrong(`every: ${SHORTEST_EVERY} to ${LONGEST} are possible.`);
  return succeeded({ name, every: milliseconds, until, most, note, within });
}

/** Of an atom about time; of others, now. */
function timeOf(atom: ReturnType<typeof atomsOf>[number], now: number): number {
  if ('at' in atom) return Date.parse(atom.at);
  return 'after' in atom ? now + (parseDuration(atom.after) ?? 0) : now;
}

function wrong(message: string): ReturnType<typeof failed> {
  return failed('bad_arguments', message);
}

/** For people: how often, until when. */
function describeGrant({ most, until, within }: Planned, now: number): string {
  return within === ''
    ? `it may start turns without you, at most ${most} until ${printMoment(until, now)}.`
    : `it may start turns without you, at most ${most} within ${within}.`;
}

function describePlanned({ name, when, every = 0 }: Planned, now: number): string {
  return `“${name}”, ${when === undefined ? `every ${Math.round(every / 60_000)} min` : print(when, now)}`;
}

function print(condition: Condition, now: number): string {
  const text = printCondition(condition, now);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

function describeAll(listed: readonly ListedWake[], now: number): string {
  if (listed.length === 0) return 'No timer and no condition is set.';
  return listed.map(({ wake, next, facts }) => describeWake(wake, now, next, facts)).join('\n');
}
