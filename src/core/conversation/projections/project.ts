// Decides in which order an event reaches the projections; together they are everything that is known of a conversation.
import { type LogEvent } from '../../../protocol/event.ts';
import { type TranscriptItem } from '../../../protocol/transcript.ts';
import { Changes } from './changes.ts';
import { HandleStates } from './handleStates.ts';
import { Lookalikes } from './lookalike.ts';
import { Losses } from './losses.ts';
import { Messages } from './messages.ts';
import { Outstanding } from './outstanding.ts';
import { Pending } from './pending.ts';
import { Repeats } from './repeats.ts';
import { Sampled } from './sampled.ts';
import { Seen } from './seen.ts';
import { Summary } from './summary.ts';
import { Todo } from './todo.ts';
import { Transcript } from './transcript.ts';
import { TurnState } from './turnState.ts';
import { UsageTotal } from './usage.ts';
import { Watches } from './watches.ts';

export class Projections {
  readonly messages = new Messages();
  readonly transcript = new Transcript();
  readonly pending = new Pending();
  readonly seen = new Seen();
  readonly turn = new TurnState();
  readonly spent = new UsageTotal();
  readonly standing = new Outstanding();
  readonly summary = new Summary();
  readonly losses = new Losses();
  readonly repeats = new Repeats();
  readonly lookalikes = new Lookalikes();
  readonly watches = new Watches();
  readonly sampled = new Sampled();
  readonly changes = new Changes();
  readonly todo = new Todo();
  readonly handles = new HandleStates();
  readonly #newest = (id: string) => this.pending.newest(id);
  readonly #text = (id: string) => this.pending.text(id);
  readonly #seenHash = (path: string) => this.seen.get(path)?.hash;

  /** Those that name what a carrier takes out of the pending, or compare with what was seen before it, come first. */
  fold(event: LogEvent): Folded {
    const items = this.transcript.fold(event, this.pending);
    this.standing.fold(event, this.#newest, this.#seenHash);
    this.losses.fold(event, this.#newest);
    this.repeats.fold(event, this.#newest);
    this.lookalikes.fold(event);
    this.watches.fold(event);
    this.sampled.fold(event);
    this.todo.fold(event);
    this.handles.fold(event);
    this.messages.fold(event, this.#text);
    this.pending.fold(event);
    this.turn.fold(event);
    this.spent.fold(event);
    const titleChanged = this.summary.fold(event);
    const changesMoved = this.changes.fold(event);
    return { event, items, seenMoved: this.seen.fold(event), titleChanged, changesMoved };
  }
}

/** What one event changed. */
export interface Folded {
  readonly event: LogEvent;
  readonly items: readonly TranscriptItem[];
  readonly seenMoved: boolean;
  readonly titleChanged: boolean;
  /** What is to be reviewed is another. */
  readonly changesMoved: boolean;
}
