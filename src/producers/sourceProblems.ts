// Sources of notifications that cannot be used until the user does something: listed for people, and reported to each
// agent once.
import { toDisposable } from '../base/disposable.ts';
import { wholeCharacters } from '../base/text.ts';
import { type Producer } from '../core/ports/ports.ts';
import { type Sample } from '../core/ports/producers.ts';
import { KINDS } from '../protocol/kinds.ts';

const MOST = 10;
const LONGEST = 500;
const KIND = { source: 'source', name: 'unavailable' } as const;

export class SourceProblems {
  /** By source. Without a text it is over. */
  readonly #known = new Map<string, string | undefined>();

  /** For people, with the next step. */
  get all(): readonly string[] {
    return [...this.#known.values()].filter((text) => text !== undefined).slice(0, MOST);
  }

  /** Absent: the source can be used. */
  set(source: string, problem?: string): void {
    if (problem !== undefined) this.#known.set(source, wholeCharacters(problem, LONGEST));
    else if (this.#known.has(source)) this.#known.set(source, undefined);
  }

  readonly producer: Producer = {
    name: 'sources',
    start: () => toDisposable(() => undefined),
    sample: () => [...this.#known].map(([source, problem]) => sampleOf(source, problem)),
  };
}

/** A state, so that it is reported once. */
function sampleOf(source: string, problem: string | undefined): Sample {
  const sample = { kind: KIND, subject: `source:${source}` };
  if (problem === undefined) return sample;
  const { level, origin } = KINDS['source.unavailable'];
  const message = `Notifications are missing: ${problem} The user can change that.`;
  return { ...sample, draft: { level, origin, message, data: { state: problem } } };
}
