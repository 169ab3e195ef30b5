// Reports a count of new errors in files that the conversation has not seen, and replaces the report when it changes.
import { INTRODUCED, type MoreErrors, OTHERS, othersDraft } from '../../core/notify/wording/problems.ts';
import { type Problem } from '../../core/ports/problems.ts';
import { scopeOf } from '../../protocol/scopes.ts';
import { ReportOnce, type ReportOnceDeps } from '../reportOnce.ts';

type Counts = ReadonlyMap<string, number>;

interface Reported {
  readonly text: string;
  readonly counts: Counts;
}

export class OtherErrors {
  readonly #observed: ReadonlyMap<string, readonly Problem[]>;
  readonly #reports: ReportOnce<Reported>;
  /** The counts that each conversation knows. */
  readonly #known = new Map<string, Map<string, number>>();

  /** `observed` has the current problems of every file. */
  constructor(reporting: ReportOnceDeps, observed: ReadonlyMap<string, readonly Problem[]>) {
    this.#observed = observed;
    this.#reports = new ReportOnce(reporting);
  }

  join(conversation: string): void {
    this.#known.set(conversation, new Map(this.#now()));
  }

  leave(conversation: string): void {
    this.#known.delete(conversation);
    this.#reports.forget(conversation);
  }

  /** Marks a file's errors as older than the server's check, so that they do not count as new. */
  wasThere(path: string): void {
    const count = countErrors(this.#observed.get(path) ?? []);
    for (const counts of this.#known.values()) counts.set(path, Math.max(count, counts.get(path) ?? 0));
  }

  async report(conversation: string, unseen: (path: string) => boolean): Promise<void> {
    const counts = this.#known.get(conversation);
    if (counts === undefined) return;
    const { message } = othersDraft(this.#more(counts, unseen), []);
    if (this.#reports.get(conversation, OTHERS)?.text === message) return;
    const more = await this.#withdraw(conversation, unseen);
    if (more.length === 0) return;
    const draft = othersDraft(more, [scopeOf('conversation', conversation)]);
    this.#reports.report(conversation, OTHERS, { text: draft.message, counts: this.#now() }, draft);
  }

  /** Withdraws an undelivered report and returns the new errors, which count as known from here on. */
  async take(conversation: string, unseen: (path: string) => boolean): Promise<MoreErrors> {
    const more = await this.#withdraw(conversation, unseen);
    if (this.#known.has(conversation)) this.#known.set(conversation, new Map(this.#now()));
    return more;
  }

  async #withdraw(conversation: string, unseen: (path: string) => boolean): Promise<MoreErrors> {
    if (!this.#known.has(conversation)) return [];
    const last = await this.#reports.withdraw(conversation, OTHERS, [INTRODUCED], 'the count has changed');
    if (last?.delivered === true) this.#known.set(conversation, new Map(last.state.counts));
    const counts = this.#known.get(conversation);
    return counts === undefined ? [] : this.#more(counts, unseen);
  }

  #more(counts: Counts, unseen: (path: string) => boolean): MoreErrors {
    return [...this.#now()].flatMap(([path, errors]) => {
      const more = errors - (counts.get(path) ?? 0);
      return more > 0 && unseen(path) ? [[path, more] as const] : [];
    });
  }

  #now(): Counts {
    const counts = [...this.#observed].map(([path, problems]) => [path, countErrors(problems)] as const);
    return new Map(counts.filter(([, errors]) => errors > 0));
  }
}

function countErrors(problems: readonly Problem[]): number {
  return problems.filter(({ severity }) => severity === 'error').length;
}
