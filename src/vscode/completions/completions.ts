// The extensible list of sources behind the `@` and `/` pickers: each lists entries and acts on the chosen one.
import { type Disposable, toDisposable } from '../../base/disposable.ts';
import { defined } from '../../base/json/defined.ts';
import { type CompletionsMessage, type CompletionView, type Trigger } from '../../protocol/page/completionsView.ts';
import { type OfferedCompletion } from '../../protocol/page/windowView.ts';

const MOST_SHOWN = 40;

/** Text that is attached to the next message, with a display name. */
export interface AttachedText {
  readonly name: string;
  readonly text: string;
}

export type Completion = Omit<CompletionView, 'source'>;

export interface CompletionSource {
  /** Unique. The page sends it back with the chosen entry. */
  readonly name: string;
  readonly trigger: Trigger;
  /** Front ends outside the editor can use its entries, too: they are files to attach, or have `insert`. */
  readonly isPortable?: true;
  /** The best entries first. If it rejects, the source has no entries. */
  list(query: string): Promise<readonly Completion[]>;
  /** Called for a chosen entry without `insert`. */
  choose?(id: string): Promise<void>;
}

/** MCP servers and others register here; the page needs no change for a new source. */
export class Completions {
  readonly #sources = new Map<string, CompletionSource>();
  readonly #report: (error: unknown) => void;

  constructor(report: (error: unknown) => void) {
    this.#report = report;
  }

  register(source: CompletionSource): Disposable {
    this.#sources.set(source.name, source);
    return toDisposable(() => this.#sources.delete(source.name));
  }

  async list(
    trigger: Trigger,
    query: string,
    fits: (source: CompletionSource) => boolean = () => true,
  ): Promise<CompletionsMessage> {
    const sources = [...this.#sources.values()].filter((source) => source.trigger === trigger && fits(source));
    const listed = await Promise.all(
      sources.map(async (source) => {
        try {
          const items = await source.list(query);
          return items.slice(0, MOST_SHOWN).map((item) => ({ ...item, source: source.name }));
        } catch (error) {
          this.#report(error);
          return [];
        }
      }),
    );
    return { type: 'completions', trigger, query, items: listed.flat().slice(0, MOST_SHOWN) };
  }

  /** The entries that a front end outside the editor can use. */
  async listPortable(trigger: Trigger, query: string): Promise<readonly OfferedCompletion[]> {
    const { items } = await this.list(trigger, query, ({ isPortable }) => isPortable === true);
    return items.map(({ id: name, label, detail, insert }) => ({
      ...{ name, label, detail },
      ...defined({ insert }),
    }));
  }

  async choose(source: string, id: string): Promise<void> {
    await this.#sources.get(source)?.choose?.(id);
  }
}

/** Matches if the characters of the query occur in this order. A lower score is better; undefined means no match. */
export function matchScore(query: string, text: string): number | undefined {
  const [wanted, candidate] = [query.toLowerCase(), text.toLowerCase()];
  if (wanted === '') return text.length;
  const whole = candidate.lastIndexOf(wanted);
  if (whole !== -1) return candidate.length - whole - wanted.length + (candidate[whole - 1] === '/' ? 0 : 20);
  let at = -1;
  let gaps = 0;
  for (const character of wanted) {
    const next = candidate.indexOf(character, at + 1);
    if (next === -1) return undefined;
    gaps += next - at - 1;
    at = next;
  }
  return 1000 + gaps;
}

export function bestMatches<T>(query: string, all: readonly T[], textOf: (one: T) => string, most: number): T[] {
  return all
    .flatMap((one) => {
      const score = matchScore(query, textOf(one));
      return score === undefined ? [] : [{ one, score }];
    })
    .sort((a, b) => a.score - b.score)
    .slice(0, most)
    .map(({ one }) => one);
}
