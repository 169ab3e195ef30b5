// The notifications by which timers and conditions fire, and how both are listed.
import { KINDS, type ShippedKind } from '../../protocol/kinds.ts';
import { type NotificationDraft } from '../../protocol/notification.ts';
import { scopeOf } from '../../protocol/scopes.ts';
import { printCondition, printMoment } from '../conversation/conditions.ts';
import { type SetWake } from '../conversation/wakes.ts';
import { type Fact } from './fact.ts';
import { printFacts } from './followedCondition.ts';

type FireKind = Extract<ShippedKind, 'time.due' | 'wake.met' | 'wake.expired'>;

/** Due times that a late notification names. */
const MOST_NAMED = 5;

/** Why it fires: it holds, its deadline has passed, it cannot hold any more, or the user wants it now. */
export type FireReason = 'met' | 'deadline' | 'never' | 'user';

export interface Fire {
  readonly conversation: string;
  readonly wake: SetWake;
  readonly reason: FireReason;
  readonly facts: readonly Fact[];
  readonly now: number;
  /** The due times of a timer, oldest first. */
  readonly due: readonly number[];
  /** A repeated timer ends with this one. */
  readonly last?: boolean;
}

/** A timer waits for nothing but the time. */
export function isTimer({ when }: Pick<SetWake, 'when'>): boolean {
  return when === undefined || 'after' in when || 'at' in when;
}

export function draftFire(fire: Fire): NotificationDraft {
  const { wake, reason, now, due, conversation } = fire;
  const kind: FireKind = isTimer(wake)
    ? 'time.due'
    : reason === 'met' || reason === 'user'
      ? 'wake.met'
      : 'wake.expired';
  const [source = '', name = ''] = kind.split('.');
  const { level, origin } = KINDS[kind];
  // What happened before the deadline and is found later counts as of the deadline.
  const at = due.at(-1) ?? Math.min(now, wake.until);
  return {
    kind: { source, name },
    level,
    origin,
    message: describeFire(fire),
    scopes: [scopeOf('conversation', conversation)],
    data: { wake: wake.name, ...(due.length > 1 && { missed: due.length - 1 }) },
    at: new Date(at).toISOString(),
    wake: true,
    grant: wake.grant,
  };
}

function describeFire(fire: Fire): string {
  const { wake, reason, facts, now, due } = fire;
  const set = `that you set at ${printMoment(wake.since, now)}`;
  const note = wake.note === '' ? [] : [`Your note: ${wake.note}`];
  if (isTimer(wake)) {
    const early = reason === 'user' ? ' The user had it fired now.' : '';
    return [`The timer “${wake.name}” ${set} is due.${early}${describeLate(due, now)}`, ...note, ...lastOne(fire)].join(
      '\n',
    );
  }
  const what = {
    met: 'is met',
    deadline: `was not met until ${printMoment(wake.until, now)}`,
    never: 'cannot be met any more',
    user: 'was fired by the user',
  }[reason];
  const lines = wake.when === undefined ? [] : printFacts(wake.when, facts, now);
  return [`The condition “${wake.name}” ${set} ${what}.`, ...lines, ...note].join('\n');
}

/** Nothing if it is at most a minute late. */
function describeLate(due: readonly number[], now: number): string {
  const newest = due.at(-1) ?? now;
  if (due.length <= 1 && now - newest < 60_000) return '';
  const named = due.slice(-MOST_NAMED).map((one) => printMoment(one, now));
  const more = due.length > MOST_NAMED ? `${due.length - MOST_NAMED} more times and ` : '';
  return ` It was due ${more}at ${named.join(', ')}; it is ${printMoment(now, now)} now.`;
}

function lastOne({ last, wake }: Fire): string[] {
  return last === true ? [`It was the last of ${wake.fires + 1}. Set it again to continue.`] : [];
}

/** `ready: condition: all of (…), until 14:22. Note` */
export function describeWake(wake: SetWake, now: number, next: number | undefined, facts: readonly Fact[]): string {
  const { name, when, every, until, note, most, fires } = wake;
  const at = (time: number) => printMoment(time, now);
  const times = every === undefined ? '' : `, ${most - fires} more times at most, until ${at(until)}`;
  const what = isTimer(wake)
    ? `timer, due at ${at(next ?? until)}${times}`
    : `condition, until ${at(until)}: ${when === undefined ? '' : printCondition(when, now)}`;
  const details = when === undefined || isTimer(wake) ? [] : printFacts(when, facts, now).map((line) => `  ${line}`);
  return [`${name}: ${what}.${note === '' ? '' : ` Note: ${note}`}`, ...details].join('\n');
}
