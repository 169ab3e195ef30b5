// Follows the atoms of one condition: commands and files by their sources, time by the clock, notifications by the log.
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { type Truth } from '../../protocol/wakes.ts';
import { atomsOf, evaluate, parseDuration, printAtom } from '../conversation/conditions.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { describeNotified, isNotifiedBy, type Observed } from '../conversation/wakes.ts';
import { type Atom, type Condition } from '../../protocol/wakes.ts';
import { type Fact, type FactSource } from './fact.ts';
import { type FactDeps, followFact } from './facts.ts';

export interface FollowedOptions {
  readonly log: ConversationLog;
  readonly condition: Condition;
  /** When it was set, in milliseconds since 1970. */
  readonly since: number;
  readonly anchors: Readonly<Record<string, string>>;
  /** The atoms that count already, by their number. Absent: the condition is not in the log and remembers them itself. */
  latched?(): ReadonlyMap<number, Observed>;
  /** Called when the condition may have changed. */
  changed(): void;
}

export interface ReadCondition {
  readonly truth: Truth;
  readonly facts: readonly Fact[];
}

/** The symbols in evidence: ✓ holds, – does not, ? not known, ✗ cannot any more. */
const MARKS: Readonly<Record<Truth, string>> = { yes: '✓', no: '–', unknown: '?', never: '✗' };

export class FollowedCondition implements Disposable {
  readonly #deps: FactDeps;
  readonly #options: FollowedOptions;
  readonly #atoms: readonly Atom[];
  readonly #sources: readonly (FactSource | undefined)[];
  readonly #latched = new Map<number, Observed>();
  /** The atoms about time that had passed when they were last looked at. */
  readonly #passed = new Set<number>();
  readonly #held = new DisposableStore();
  /** Measures `after` where the time of day is set back. */
  readonly #began: { readonly wall: number; readonly monotonic: number };

  constructor(deps: FactDeps, options: FollowedOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#atoms = atomsOf(options.condition);
    this.#began = { wall: deps.clock.now(), monotonic: deps.clock.monotonic() };
    const { log, anchors, changed } = options;
    this.#sources = this.#atoms.map((atom, index) => {
      const source = followFact(deps, atom, { conversation: log.id, anchor: anchors[index], changed });
      return source && this.#held.add(source);
    });
    if (options.latched === undefined) this.#held.add(log.onDidAppend(({ event }) => this.#heard(event)));
  }

  /** The facts and the truth of the whole. */
  async read(): Promise<ReadCondition> {
    const facts: Fact[] = [];
    for (const [index, atom] of this.#atoms.entries()) facts.push(await this.#fact(index, atom));
    return {
      truth: evaluate(
        this.#options.condition,
        facts.map(({ truth }) => truth),
      ),
      facts,
    };
  }

  /** The next moment at which an atom about time changes, or changed since the last look; undefined: there is none. */
  nextTime(): number | undefined {
    const { clock } = this.#deps;
    const lefts = this.#atoms.flatMap((atom, index) => {
      const left = this.#timeLeft(atom);
      return left === undefined || (left <= 0 && this.#passed.has(index)) ? [] : [Math.max(0, left)];
    });
    return lefts.length === 0 ? undefined : clock.now() + Math.min(...lefts);
  }

  dispose(): void {
    this.#held.dispose();
  }

  async #fact(index: number, atom: Atom): Promise<Fact> {
    const latched = (this.#options.latched?.() ?? this.#latched).get(index);
    if (latched !== undefined) return { truth: 'yes', evidence: latched.evidence };
    const left = this.#timeLeft(atom);
    if (left !== undefined) {
      if (left <= 0) this.#passed.add(index);
      return { truth: left <= 0 ? 'yes' : 'no', evidence: '' };
    }
    const fact = await this.#sources[index]?.read();
    if (fact === undefined) return { truth: 'no', evidence: 'it has not come yet' };
    if (fact.latches && fact.truth === 'yes' && this.#options.latched === undefined) {
      this.#latched.set(index, { at: '', evidence: fact.evidence });
    }
    return fact;
  }

  /** Milliseconds; undefined for atoms that are not about time. */
  #timeLeft(atom: Atom): number | undefined {
    const { clock } = this.#deps;
    const now = clock.now();
    if ('at' in atom) return Date.parse(atom.at) - now;
    return 'after' in atom
      ? timeLeft(clock, this.#began, this.#options.since, parseDuration(atom.after) ?? 0)
      : undefined;
  }

  #heard(event: Parameters<Parameters<ConversationLog['onDidAppend']>[0]>[0]['event']): void {
    if (event.type !== 'notification_queued') return;
    const { notification } = event;
    for (const [index, atom] of this.#atoms.entries()) {
      if (!isNotifiedBy(atom, notification)) continue;
      this.#latched.set(index, { at: notification.at, evidence: describeNotified(notification) });
      this.#options.changed();
    }
  }
}

/**
 * How long it takes until `duration` has passed since then. The time of day includes the time that the machine slept;
 * where it was set back, no wait becomes longer than it was.
 */
export function timeLeft(
  clock: FactDeps['clock'],
  began: { readonly wall: number; readonly monotonic: number },
  since: number,
  duration: number,
): number {
  const atBegin = Math.min(duration, Math.max(0, since + duration - began.wall));
  const passed = clock.monotonic() - began.monotonic;
  return Math.min(since + duration - clock.now(), atBegin - passed);
}

/** One line for each atom: `✓ handle build is ok: ended with exit code 0 after 12 s`. */
export function printFacts(condition: Condition, facts: readonly Fact[], now: number): string[] {
  return atomsOf(condition).map((atom, index) => {
    const { truth, evidence } = facts[index] ?? { truth: 'unknown', evidence: '' };
    return `${MARKS[truth]} ${printAtom(atom, now)}${evidence === '' ? '' : `: ${evidence}`}`;
  });
}
