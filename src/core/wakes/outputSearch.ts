// Searches what a background command prints for the line that a condition waits for.
import { type Disposable } from '../../base/disposable.ts';
import { oneLine, wholeCharacters } from '../../base/text.ts';
import { type AtomOf } from '../../protocol/wakes.ts';
import { type FoundLine, LineSearch } from '../notify/lines/lineSearch.ts';
import { type Handle } from '../ports/handles.ts';
import { type Clock } from '../ports/ports.ts';
import { describeHandleState } from '../tools/handleTexts.ts';
import { type Handles } from '../tools/handles.ts';
import { type Fact, type FactContext, type FactSource } from './fact.ts';

export interface OutputDeps {
  readonly clock: Clock;
  readonly handles?: Pick<Handles, 'list' | 'onDidChange'> | undefined;
}

const READ_BYTES = 256 * 1024;
/** A line without an end is searched after this time. */
const REST_MILLISECONDS = 1000;
const LONGEST_LINE = 380;

/** What counts begins here. A later command may get the same name, so that it also says which one is meant. */
export function outputAnchor(handle: Pick<Handle, 'run' | 'process'> | undefined): string {
  return handle === undefined ? '0' : `${handle.process.status.size} ${handle.run}`;
}

/**
 * Finds the first line after the anchor; after a restart it searches from there again. A command that gets the name
 * later counts from its beginning.
 */
export class OutputSearch implements FactSource {
  readonly #deps: OutputDeps;
  readonly #atom: AtomOf<'output'>;
  readonly #conversation: string;
  readonly #changed: () => void;
  readonly #listening: Disposable | undefined;
  #search: LineSearch;
  /** Undefined: an anchor of an earlier version does not name it. */
  #run: string | undefined;
  /** Bytes that were gone before they could be searched. */
  #skipped = 0;
  #found: Fact | undefined;
  /** The line without an end, which may still grow. */
  #rest: Disposable | undefined;
  #isRestDue = false;
  /** The size at which that line was searched last. */
  #restSearched = -1;

  constructor(deps: OutputDeps, atom: AtomOf<'output'>, { conversation, anchor = '0', changed }: FactContext) {
    this.#deps = deps;
    this.#atom = atom;
    this.#conversation = conversation;
    this.#changed = changed;
    const [, through = '0', run] = /^(\d+)(?: (.*))?$/s.exec(anchor) ?? [];
    this.#run = run;
    this.#search = this.#searchFrom(Number(through));
    this.#listening = deps.handles?.onDidChange(({ handle }) => {
      if (handle.conversation === conversation && handle.name === atom.output) changed();
    });
  }

  async read(): Promise<Fact> {
    // Until it is in the log: it is not printed again.
    if (this.#found !== undefined) return this.#found;
    const listed = this.#deps.handles?.list(this.#conversation) ?? [];
    const handle = listed.find(({ name }) => name === this.#atom.output);
    if (handle === undefined) return { truth: 'unknown', evidence: 'there is no such handle any more' };
    this.#run ??= handle.run;
    if (handle.run !== this.#run) this.#begin(handle.run);
    const { hasEnded } = handle;
    const line = (await this.#readNew(handle)) ?? this.#searchRest(hasEnded);
    if (line !== undefined) {
      this.#found = { truth: 'yes', evidence: `printed “${shorten(line.text)}”`, latches: true };
      return this.#found;
    }
    const missing = hasEnded ? `${describeHandleState(handle)} without printing it` : 'not printed yet';
    if (this.#skipped === 0) return { truth: hasEnded ? 'never' : 'no', evidence: missing };
    // It may have been among what is gone.
    const unread = `${this.#skipped} bytes were not searched`;
    return { truth: hasEnded ? 'unknown' : 'no', evidence: `${missing}; ${unread}` };
  }

  dispose(): void {
    this.#listening?.dispose();
    this.#rest?.dispose();
  }

  #searchFrom(through: number): LineSearch {
    return new LineSearch({ patterns: [this.#atom.has], position: { through } });
  }

  #begin(run: string): void {
    this.#run = run;
    this.#search = this.#searchFrom(0);
    this.#skipped = 0;
    this.#restSearched = -1;
  }

  /** The first line that fits, among those that have ended. */
  async #readNew({ process }: Handle): Promise<FoundLine | undefined> {
    const search = this.#search;
    while (search.next < process.status.size) {
      const limit = Math.min(READ_BYTES, process.status.size - search.next);
      const { from, bytes } = await process.read(search.next, limit);
      let cut: readonly FoundLine[] = [];
      if (from > search.next) {
        this.#skipped += from - search.next;
        cut = search.takeRest();
        search.skipTo(from);
      }
      this.#rest?.dispose();
      this.#rest = undefined;
      const [line] = [...cut, ...search.take(bytes)];
      if (line !== undefined) return line;
      // What is missing is announced when it can be read.
      if (bytes.length === 0) return undefined;
    }
    return undefined;
  }

  #searchRest(hasEnded: boolean): FoundLine | undefined {
    const search = this.#search;
    if (!search.hasRest || search.next === this.#restSearched) return undefined;
    if (!hasEnded && !this.#isRestDue) {
      this.#rest ??= this.#deps.clock.after(REST_MILLISECONDS, () => {
        this.#isRestDue = true;
        this.#changed();
      });
      return undefined;
    }
    this.#isRestDue = false;
    this.#restSearched = search.next;
    return search.takeRest()[0];
  }
}

function shorten(line: string): string {
  const text = oneLine(line).trim();
  const short = wholeCharacters(text, LONGEST_LINE);
  return short.length < text.length ? `${short}…` : short;
}
