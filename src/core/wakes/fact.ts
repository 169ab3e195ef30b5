// What is known about one atom of a condition, and what follows it.
import { type Disposable } from '../../base/disposable.ts';
import { type Truth } from '../../protocol/wakes.ts';

/** What is known about an atom. `latches`: it counts from now on, even if it is over. */
export interface Fact {
  readonly truth: Truth;
  readonly evidence: string;
  readonly latches?: true;
}

export interface FactSource extends Disposable {
  read(): Fact | Promise<Fact>;
}

export interface FactContext {
  readonly conversation: string;
  /** What later states are compared with; undefined: nothing. */
  readonly anchor: string | undefined;
  /** Call when the fact may have changed. */
  changed(): void;
}
