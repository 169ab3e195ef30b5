// Follows one timer or condition of a log and fires it: once, or each time that a repeated timer is due.
import { Sequence } from '../../base/async.ts';
import { type Disposable } from '../../base/disposable.ts';
import { markLines, wholeCharacters } from '../../base/text.ts';
import { handleScope } from '../../protocol/scopes.ts';
import { parseDuration } from '../conversation/conditions.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { type SetWake } from '../conversation/wakes.ts';
import { enqueue } from '../notify/queue.ts';
import { type Ids, type Logger } from '../ports/ports.ts';
import { describeLastOutput } from '../tools/handleTexts.ts';
import { type Fact } from './fact.ts';
import { type FactDeps } from './facts.ts';
import { FollowedCondition, timeLeft } from './followedCondition.ts';
import { draftFire, type FireReason, isTimer } from './wakeTexts.ts';

interface FollowedWakeDeps extends FactDeps {
  readonly ids: Ids;
  readonly logger: Logger;
  isRunning(): boolean;
  changed(): void;
}

const LONGEST_EVIDENCE = 400;
const LAST_LINES = 600;
/** The kinds of notifications about the end of a handle, which the evidence replaces. */
const HANDLE_ENDS = ['stopped', 'failed', 'lost', 'waiting'];

export class FollowedWake implements Disposable {
  readonly seq: number;
  readonly #deps: FollowedWakeDeps;
  readonly #log: ConversationLog;
  readonly #name: string;
  readonly #condition: FollowedCondition | undefined;
  readonly #work = new Sequence();
  /** The moment since which the present wait is measured without the time of day. */
  #began: { readonly wall: number; readonly monotonic: number };
  #last: number;
  #facts: readonly Fact[] = [];
  #isQueued = false;
  #isGone = false;

  constructor(deps: FollowedWakeDeps, log: ConversationLog, { name, seq, since, when, anchors, last }: SetWake) {
    this.#deps = deps;
    this.#log = log;
    this.#name = name;
    this.seq = seq;
    this.#last = last;
    this.#began = { wall: deps.clock.now(), monotonic: deps.clock.monotonic() };
    this.#condition =
      when &&
      new FollowedCondition(deps, {
        ...{ log, condition: when, since, anchors },
        latched: () => this.#wake?.latched ?? new Map(),
        changed: () => this.check(),
      });
  }

  get isRepeated(): boolean {
    return this.#condition === undefined && this.#wake?.every !== undefined;
  }

  /** What was known about each atom when it was last looked at. */
  get facts(): readonly Fact[] {
    return this.#facts;
  }

  /** Milliseconds until the time alone may change something. */
  timeLeft(): number {
    const wake = this.#wake;
    if (wake === undefined) return Number.POSITIVE_INFINITY;
    if (wake.every !== undefined) return this.#isPending(wake) ? Number.POSITIVE_INFINITY : this.#leftOf(wake.every);
    const deadline = timeLeft(this.#deps.clock, this.#began, wake.since, wake.until - wake.since);
    const next = this.#condition?.nextTime();
    return next === undefined ? deadline : Math.min(deadline, next - this.#deps.clock.now());
  }

  /** Looks at it again. Returns at once. */
  check(): void {
    if (this.#isQueued || this.#isGone || !this.#deps.isRunning()) return;
    this.#isQueued = true;
    const look = async () => {
      this.#isQueued = false;
      await this.#look();
    };
    const report = (error: unknown) => {
      if (!this.#log.isBroken && !this.#isGone) this.#deps.logger.error(`“${this.#name}” could not be checked`, error);
    };
    void this.#work.run(look).catch(report);
  }

  /** Returns whether it was still set. */
  async fireNow(): Promise<boolean> {
    return this.#work.run(async () => {
      const read = await this.#condition?.read();
      return this.#fire('user', read?.facts ?? [], [this.#deps.clock.now()]);
    });
  }

  dispose(): void {
    this.#isGone = true;
    this.#condition?.dispose();
  }

  /** Undefined once it has fired, or was cancelled or replaced. */
  get #wake(): SetWake | undefined {
    const wake = this.#log.state.wakes.get(this.#name);
    return wake?.seq === this.seq ? wake : undefined;
  }

  get #mayWrite(): boolean {
    return !this.#isGone && this.#log.isWritable && !this.#log.isBroken;
  }

  async #look(): Promise<void> {
    const wake = this.#wake;
    if (wake === undefined || !this.#mayWrite || !this.#deps.isRunning()) return;
    if (wake.every !== undefined) return this.#lookAtRepeated(wake, wake.every);
    const read = await this.#condition?.read();
    if (read === undefined) return;
    const isNew = JSON.stringify(read.facts) !== JSON.stringify(this.#facts);
    this.#facts = read.facts;
    for (const [atom, fact] of read.facts.entries()) {
      if (fact.latches === true && fact.truth === 'yes') await this.#latch(atom, fact);
    }
    const now = this.#wake;
    if (now === undefined) return;
    const left = timeLeft(this.#deps.clock, this.#began, now.since, now.until - now.since);
    const reason = read.truth === 'yes' ? 'met' : read.truth === 'never' ? 'never' : left <= 0 ? 'deadline' : undefined;
    if (reason !== undefined) await this.#fire(reason, read.facts, isTimer(now) ? [this.#dueOf(now)] : []);
    else if (isNew) this.#deps.changed();
  }

  async #latch(atom: number, { evidence }: Fact): Promise<void> {
    if (!this.#mayWrite || this.#wake?.latched.has(atom) !== false) return;
    const at = new Date(this.#deps.clock.now()).toISOString();
    const short = wholeCharacters(evidence, LONGEST_EVIDENCE);
    await this.#log.append({ type: 'wake_progress', name: this.#name, atom, at, evidence: short });
  }

  /** When a timer that fires once is due: not after its grant ends, which was planned a moment before it was written. */
  #dueOf({ when, since, until }: SetWake): number {
    if (when !== undefined && 'at' in when) return Math.min(until, Date.parse(when.at));
    return when !== undefined && 'after' in when ? Math.min(until, since + (parseDuration(when.after) ?? 0)) : until;
  }

  #leftOf(every: number): number {
    const { last = this.#last } = this.#wake ?? {};
    if (last !== this.#last) {
      this.#last = last;
      this.#began = { wall: this.#deps.clock.now(), monotonic: this.#deps.clock.monotonic() };
    }
    return timeLeft(this.#deps.clock, this.#began, last, every);
  }

  /** The last one is not delivered yet: the next one names all that were due until then. */
  #isPending({ grant }: SetWake): boolean {
    return this.#log.state.pending.notifications.some((one) => one.grant === grant);
  }

  async #lookAtRepeated(wake: SetWake, every: number): Promise<void> {
    const now = this.#deps.clock.now();
    if (wake.last + every > wake.until) {
      const reason = 'its end has come';
      await this.#log.append({ type: 'wake_cancelled', name: wake.name, by: 'host', reason });
      return;
    }
    if (this.#leftOf(every) > 0 || this.#isPending(wake)) return;
    const due: number[] = [];
    for (let time = wake.last + every; time <= Math.min(now, wake.until); time += every) due.push(time);
    // The time of day was set back.
    if (due.length === 0) due.push(now);
    await this.#fire('met', [], due);
  }

  /** Nothing happens between the check and the event that ends it, so it fires once. */
  async #fire(reason: FireReason, facts: readonly Fact[], due: readonly number[]): Promise<boolean> {
    const { handles, ended } = await this.#endedHandles(facts);
    const wake = this.#wake;
    // The user may fire it while the source is off.
    const mayFire = reason === 'user' || this.#deps.isRunning();
    if (wake === undefined || !this.#mayWrite || !mayFire) return false;
    const { every = 0 } = wake;
    const last = every > 0 && (wake.fires + 1 >= wake.most || (due.at(-1) ?? 0) + every > wake.until);
    const now = this.#deps.clock.now();
    const draft = draftFire({ conversation: this.#log.id, wake, reason, facts: ended, now, due, last });
    const data = { ...draft.data, ...(handles.length > 0 && { handles }) };
    const ids = handles.flatMap((name) =>
      HANDLE_ENDS.flatMap((kind) => this.#log.state.pending.idsOf({ source: 'tool', name: kind }, handleScope(name))),
    );
    const fired = enqueue(this.#log, this.#deps.ids, { ...draft, data });
    if (ids.length > 0) {
      await this.#log.append({ type: 'notification_withdrawn', ids, reason: `“${wake.name}” reports it` });
    }
    await fired;
    return true;
  }

  /** Handles whose end the evidence shows, and the facts with their last output. */
  async #endedHandles(facts: readonly Fact[]): Promise<{ handles: string[]; ended: Fact[] }> {
    const handles: string[] = [];
    const ended: Fact[] = [];
    for (const [index, fact] of facts.entries()) {
      const atom = this.#wake?.atoms[index];
      const name = atom !== undefined && 'handle' in atom ? atom.handle : undefined;
      const handle = this.#deps.handles?.list(this.#log.id).find((one) => one.name === name);
      if (name === undefined || handle?.hasEnded !== true) {
        ended.push(fact);
        continue;
      }
      // Each line is marked: a command may print what looks like evidence or a note.
      const [, head = '', ...lines] = (await describeLastOutput(handle, LAST_LINES)).split('\n');
      const output = head === '' ? '' : `\n${head}\n${markLines(lines.join('\n'))}`;
      if (!handles.includes(name)) handles.push(name);
      ended.push({ ...fact, evidence: `${fact.evidence}${output}` });
    }
    return { handles, ended };
  }
}
