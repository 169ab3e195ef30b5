// Conditions of timers and `wake_when`: reads what a model wrote, evaluates it, and prints it. Pure.
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { describeIssue } from '../../protocol/describeIssue.ts';
import {
  type Atom,
  type AtomKind,
  atomSchemas,
  type Condition,
  MOST_ATOMS,
  MOST_LEVELS,
  type Truth,
} from '../../protocol/wakes.ts';

const KINDS = Object.keys(atomSchemas) as readonly AtomKind[];

/** In the order in which they are written. */
export function atomsOf(condition: Condition): readonly Atom[] {
  if ('all' in condition) return condition.all.flatMap(atomsOf);
  return 'any' in condition ? condition.any.flatMap(atomsOf) : [condition];
}

/**
 * Whether the condition holds, by the truth of each atom in the order of `atomsOf`. What is unknown makes neither `all`
 * nor `any` hold, and `never` only what cannot hold without it.
 */
export function evaluate(condition: Condition, truths: readonly Truth[]): Truth {
  const left = [...truths];
  const visit = (part: Condition): Truth => {
    if ('all' in part) return allOf(part.all.map(visit));
    if ('any' in part) return anyOf(part.any.map(visit));
    return left.shift() ?? 'unknown';
  };
  return visit(condition);
}

function allOf(parts: readonly Truth[]): Truth {
  if (parts.includes('never')) return 'never';
  if (parts.includes('no')) return 'no';
  return parts.includes('unknown') ? 'unknown' : 'yes';
}

function anyOf(parts: readonly Truth[]): Truth {
  if (parts.includes('yes')) return 'yes';
  if (parts.every((part) => part === 'never')) return 'never';
  return parts.includes('unknown') ? 'unknown' : 'no';
}

/** `now` makes local times absolute. The failure names the field. */
export function parseCondition(value: unknown, now: number, place = 'when'): Result<Condition> {
  const parsed = parsePart(value, now, place, 0);
  if (!parsed.ok) return parsed;
  const { length } = atomsOf(parsed.value);
  if (length <= MOST_ATOMS) return parsed;
  return refuse(place, `it has ${length} parts; at most ${MOST_ATOMS} are possible. Set several conditions.`);
}

function parsePart(value: unknown, now: number, place: string, level: number): Result<Condition> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return refuse(place, `it must be an object with one of ${[...KINDS, 'all', 'any'].join(', ')}.`);
  }
  const group = 'all' in value ? 'all' : 'any' in value ? 'any' : undefined;
  if (group === undefined) return parseAtom(value, now, place);
  const parts = (value as Readonly<Record<string, unknown>>)[group];
  const [other] = Object.keys(value).filter((key) => key !== group);
  if (other !== undefined) return refuse(`${place}.${other}`, `nothing may stand beside ${group}.`);
  if (!Array.isArray(parts) || parts.length === 0)
    return refuse(`${place}.${group}`, 'it must be a list of conditions.');
  if (level + 1 > MOST_LEVELS) return refuse(`${place}.${group}`, `at most ${MOST_LEVELS} levels may be nested.`);
  if (parts.length > MOST_ATOMS) return refuse(`${place}.${group}`, `at most ${MOST_ATOMS} conditions are possible.`);
  const read: Condition[] = [];
  for (const [index, part] of parts.entries()) {
    const one = parsePart(part, now, `${place}.${group}[${index}]`, level + 1);
    if (!one.ok) return one;
    read.push(one.value);
  }
  return succeeded(group === 'all' ? { all: read } : { any: read });
}

function parseAtom(value: object, now: number, place: string): Result<Atom> {
  const kinds = KINDS.filter((one) => Object.hasOwn(value, one));
  const [kind] = kinds;
  if (kind === undefined) {
    const [named = 'nothing'] = Object.keys(value);
    return refuse(place, `“${named.slice(0, 60)}” is no condition; there are ${[...KINDS, 'all', 'any'].join(', ')}.`);
  }
  if (kinds.length > 1) return refuse(place, `${kinds.join(' and ')} are two conditions; put them into all or any.`);
  const parsed = atomSchemas[kind].safeParse(value);
  if (!parsed.success) return refuse(place, `${describeIssue(parsed.error)}.`);
  const atom: Atom = parsed.data;
  if ('after' in atom) {
    const duration = parseDuration(atom.after);
    return duration === undefined ? refuse(`${place}.after`, notDuration(atom.after)) : succeeded(atom);
  }
  if (!('at' in atom)) return succeeded(atom);
  const at = parseMoment(atom.at, now);
  return at.ok ? succeeded({ at: new Date(at.value).toISOString() }) : refuse(`${place}.at`, at.failure.message);
}

function refuse(place: string, message: string): ReturnType<typeof failed> {
  return failed('bad_arguments', `${place}: ${message}`);
}

const DURATION = /^p?(?:(\d{1,6})d)?t?(?:(\d{1,6})h)?(?:(\d{1,6})m(?:in)?)?(?:(\d{1,7})s)?$/i;
const UNITS = [86_400_000, 3_600_000, 60_000, 1000] as const;

/** Milliseconds of `20m`, `1h30m`, `2d` or `PT20M`; undefined: it is no duration longer than nothing. */
export function parseDuration(text: string): number | undefined {
  const [, ...parts] = DURATION.exec(text.replaceAll(' ', '')) ?? [];
  const sum = UNITS.reduce((all, unit, index) => all + unit * Number(parts[index] ?? 0), 0);
  return sum > 0 ? sum : undefined;
}

export function notDuration(text: string): string {
  return `“${text.slice(0, 40)}” is no duration; write 90s, 20m, 1h30m or 2d.`;
}

const CLOCK = /^([01]?\d|2[0-3]):([0-5]\d)$/;
const DAY = 86_400_000;

/** `17:00` is the next such time; without an offset a time is local. */
function parseMoment(text: string, now: number): Result<number> {
  const [, hour, minute] = CLOCK.exec(text.trim()) ?? [];
  if (hour !== undefined) {
    const today = new Date(now).setHours(Number(hour), Number(minute), 0, 0);
    // Not a day of 24 hours: the clocks may change in between.
    const next = new Date(new Date(today).setDate(new Date(today).getDate() + 1)).getTime();
    return succeeded(today > now ? today : next);
  }
  const isMoment = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/.test(text.trim());
  const moment = isMoment ? Date.parse(withTime(text.trim())) : Number.NaN;
  if (Number.isNaN(moment))
    return failed('bad_arguments', `“${text.slice(0, 40)}” is no time; write 17:00 or 2026-11-18T17:00.`);
  const late = Math.round((now - moment) / 1000);
  if (late < 0) return succeeded(moment);
  const today = new Date(now).toISOString().slice(0, 19);
  const current = `${printMoment(now, now)} (${today}Z)`;
  return failed('bad_arguments', `${text} has passed ${late} s ago; it is ${current} now.`);
}

/** A day alone would be read as UTC. */
function withTime(text: string): string {
  return text.length === 10 ? `${text}T00:00` : text;
}

/** In local time; with the day if it is another one than that of `now`. */
export function printMoment(moment: number, now: number): string {
  const two = (part: number) => String(part).padStart(2, '0');
  const date = new Date(moment);
  const time = `${two(date.getHours())}:${two(date.getMinutes())}`;
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return Math.abs(moment - now) < DAY && new Date(now).getDate() === date.getDate() ? time : `${day} ${time}`;
}

/** `handle build is ok`, for models and people. */
export function printAtom(atom: Atom, now: number): string {
  if ('handle' in atom) return `handle ${atom.handle} is ${atom.is}`;
  if ('output' in atom) return `output of ${atom.output} has “${atom.has}”`;
  if ('task' in atom) return `task “${atom.task}” is ${atom.is}`;
  if ('problems' in atom) return `problems in ${atom.problems}: ${atom.is}`;
  if ('file' in atom) return `file ${atom.file} ${atom.is === 'exists' ? 'exists' : `is ${atom.is}`}`;
  if ('port' in atom) return `port ${atom.port} is ${atom.is}`;
  if ('ci' in atom) return `CI of ${atom.ci === 'HEAD' ? atom.ci : atom.ci.slice(0, 7)} is ${atom.is}`;
  if ('pr' in atom) return `pull request of ${atom.pr} is ${atom.is.replace('_', ' ')}`;
  if ('agent' in atom) return `agent ${atom.agent} is ${atom.is}`;
  if ('event' in atom) return `event of “${atom.event}”${withText(atom)}`;
  if ('notify' in atom) return `line of the script “${atom.notify}”`;
  if ('notified' in atom) return `${atom.notified}${withText(atom)}`;
  return 'after' in atom ? `after ${atom.after}` : `at ${printMoment(Date.parse(atom.at), now)}`;
}

function withText({ has }: { readonly has?: string | undefined }): string {
  return has === undefined ? '' : ` with “${has}”`;
}

/** `all of (handle build is ok, port 3000 is open)` */
export function printCondition(condition: Condition, now: number): string {
  if ('all' in condition) return `all of (${condition.all.map((one) => printCondition(one, now)).join(', ')})`;
  if ('any' in condition) return `any of (${condition.any.map((one) => printCondition(one, now)).join(', ')})`;
  return printAtom(condition, now);
}

/** A condition that a log has; undefined if it cannot be read. */
export function readCondition(value: unknown): Condition | undefined {
  // Times in the log are absolute, and may have passed.
  const parsed = parseCondition(value, Number.NEGATIVE_INFINITY);
  return parsed.ok ? parsed.value : undefined;
}
