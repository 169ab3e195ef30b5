// Decides in which order an event reaches the projections; together they are everything that is known of a conversation.
import { type LogEvent } from '../../protocol/event.ts';
import { type TranscriptItem } from '../../protocol/webview.ts';
import { Messages } from './messages.ts';
import { Pending } from './pending.ts';
import { Seen } from './seen.ts';
import { Transcript } from './transcript.ts';
import { TurnState } from './turnState.ts';

export class Projections {
  readonly messages = new Messages();
  readonly transcript = new Transcript();
  readonly pending = new Pending();
  readonly seen = new Seen();
  readonly turn = new TurnState();

  /** The transcript comes before pending: a carrier's item names what the carrier takes out of it. */
  fold(event: LogEvent): Folded {
    const items = this.transcript.fold(event, (id) => this.pending.get(id));
    this.messages.fold(event);
    this.pending.fold(event);
    this.turn.fold(event);
    return { event, items, seenMoved: this.seen.fold(event) };
  }
}

/** What one event changed. */
export interface Folded {
  readonly event: LogEvent;
  readonly items: readonly TranscriptItem[];
  readonly seenMoved: boolean;
}
