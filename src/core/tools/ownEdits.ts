// Tracks the files that running calls of a conversation have shown or changed, before their responses are in the log.
import { Sequence } from '../../base/async.ts';
import { type SeenPart } from '../../protocol/event.ts';
import { viewAfter } from '../conversation/projections/seen.ts';
import { type SeenState } from '../ports/fileViews.ts';
import { type ConversationOverwrite } from '../ports/producers.ts';

interface View {
  readonly path: string;
  readonly hash: string;
  readonly part?: SeenPart | undefined;
}

export class OwnEdits {
  /** The files that each running call, or the user's undo, changes. */
  readonly #changing = new Map<string | symbol, Set<string>>();
  /** The newest view of each file by calls of this batch, until all of them are answered. */
  readonly #newest = new Map<string, SeenState>();
  readonly #edits = new Sequence();
  /** Overwritten bytes that no notification has reported yet. */
  #overwritten: ConversationOverwrite[] = [];

  readonly #ended: () => void;

  /** `ended` is called when a `hold` ends. */
  constructor(ended: () => void = () => undefined) {
    this.#ended = ended;
  }

  /** Calls that change files run one after the other, so that each sees what the previous one did. */
  inTurn<T>(edit: () => Promise<T>): Promise<T> {
    return this.#edits.run(edit);
  }

  /** Until `release`, changes to these files are attributed to this call. */
  begin(call: string, paths: readonly string[]): void {
    const changing = this.#changing.get(call) ?? new Set();
    for (const path of paths) changing.add(path);
    this.#changing.set(call, changing);
  }

  /** The same for changes that the user makes with Earshot; the result ends it. */
  hold(paths: readonly string[]): () => void {
    const name = Symbol('review');
    this.#changing.set(name, new Set(paths));
    return () => {
      this.#changing.delete(name);
      this.#ended();
    };
  }

  /** Call when a tool call has ended with these views and its response is not in the log yet. */
  moved(call: string, views: readonly View[], inLog: (path: string) => SeenState | undefined): void {
    this.begin(call, []);
    for (const { path, hash, part } of views) {
      const before = this.#newest.get(path) ?? inLog(path);
      this.#newest.set(path, viewAfter(before, { hash, ...(part && { part }) }));
    }
  }

  overwrote(overwritten: readonly ConversationOverwrite[]): void {
    this.#overwritten.push(...overwritten);
  }

  /** Returns each overwrite once. Several of one file are joined: the first lost bytes and the last new ones. */
  takeOverwritten(): readonly ConversationOverwrite[] {
    const byPath = new Map<string, ConversationOverwrite>();
    for (const one of this.#overwritten) byPath.set(one.path, { ...one, lost: byPath.get(one.path)?.lost ?? one.lost });
    this.#overwritten = [];
    return [...byPath.values()];
  }

  isChanging(path: string): boolean {
    return [...this.#changing.values()].some((paths) => paths.has(path));
  }

  /** The files that calls of this batch have shown; lines that a search showed do not count. */
  get shown(): readonly string[] {
    return [...this.#newest].flatMap(([path, { part }]) => (part?.searched === true ? [] : [path]));
  }

  newest(path: string): SeenState | undefined {
    return this.#newest.get(path);
  }

  /** A response may be appended after that of a later call, so the newest view of a file is used. */
  settle(views: readonly View[]): { path: string; hash: string; part?: SeenPart }[] {
    return views.map(({ path, hash, part }) => {
      const newest = this.#newest.get(path);
      if (newest !== undefined) return { path, hash: newest.hash, ...(newest.part && { part: newest.part }) };
      return { path, hash, ...(part && { part }) };
    });
  }

  /** Call when the call's response is in the log. */
  release(call: string): void {
    this.#changing.delete(call);
    if (this.#changing.size === 0) this.#newest.clear();
  }

  clear(): void {
    this.#changing.clear();
    this.#newest.clear();
    this.#overwritten = [];
  }
}
