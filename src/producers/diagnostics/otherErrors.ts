// Decides what a conversation is told of files that it has not seen: one count of new errors, replaced as it changes.

import { INTRODUCED, type MoreErrors, OTHERS, othersDraft } from '../../core/notify/wording/problems.ts';
import { type Publisher } from '../../core/ports/ports.ts';
import { type Problem } from '../../core/ports/problems.ts';
import { scopeOf } from '../../protocol/scopes.ts';

type Counts = ReadonlyMap<string, number>;

interface Known {
  counts: Map<string, number>;
  /** What was counted when it was told last; it may not have been carried yet. */
  said?: { readonly text: string; readonly counts: Counts };
}

export class OtherErrors {
  readonly #publisher: Publisher;
  readonly #observed: ReadonlyMap<string, readonly Problem[]>;
  readonly #known = new Map<string, Known>();

  /** `observed` has every file's problems as they are at any moment. */
  constructor(publisher: Publisher, observed: ReadonlyMap<string, readonly Problem[]>) {
    this.#publisher = publisher;
    this.#observed = observed;
  }

  join(conversation: string): void {
    this.#known.set(conversation, { counts: new Map(this.#now()) });
  }

  leave(conversation: string): void {
    this.#known.delete(conversation);
  }

  /** A file's errors were there before anybody looked. */
  wasThere(path: string): void {
    const count = countErrors(this.#observed.get(path) ?? []);
    for (const { counts } of this.#known.values()) counts.set(path, Math.max(count, counts.get(path) ?? 0));
  }

  async tell(conversation: string, unseen: (path: string) => boolean, at: string): Promise<void> {
    const known = this.#known.get(conversation);
    if (known === undefined) return;
    const draft = { ...othersDraft(this.#more(known, unseen), [scopeOf('conversation', conversation)]), at };
    if (known.said?.text === draft.message) return;
    const more = await this.take(conversation, unseen, false);
    if (more.length === 0) return;
    const told = { ...othersDraft(more, [scopeOf('conversation', conversation)]), at };
    known.said = { text: told.message, counts: this.#now() };
    // Not waited for: it may be held back, and must be replaceable then.
    void this.#publisher.publish(told, conversation).catch(() => undefined);
  }

  /** Takes back what was said and not carried, and says what there is now. `keep`: from here on it is known. */
  async take(conversation: string, unseen: (path: string) => boolean, keep = true): Promise<MoreErrors> {
    const known = this.#known.get(conversation);
    if (known === undefined) return [];
    const { said } = known;
    delete known.said;
    if (said !== undefined) {
      const pending = await this.#publisher.withdraw(INTRODUCED, OTHERS, 'the count has changed', conversation);
      if (!pending) known.counts = new Map(said.counts);
    }
    const more = this.#more(known, unseen);
    if (keep) known.counts = new Map(this.#now());
    return more;
  }

  #more({ counts }: Known, unseen: (path: string) => boolean): MoreErrors {
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
