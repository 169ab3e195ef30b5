// Folds each event into all projections, in a fixed order. Together they are the whole state of a conversation.
import { type LogEvent } from '../../../protocol/event.ts';
import { type TranscriptItem } from '../../../protocol/transcript.ts';
import { type KnownTools } from '../../ports/toolTraits.ts';
import { EventStates } from '../events/eventStates.ts';
import { LineWatches } from '../lines/lineWatches.ts';
import { Offers } from '../offers.ts';
import { PushedCommits } from '../forge/pushedCommits.ts';
import { OutsideTexts } from '../outside/outsideTexts.ts';
import { ScriptLines } from '../lines/scriptLines.ts';
import { Changes } from './changes.ts';
import { Choice } from '../choices.ts';
import { HandleStates } from './handleStates.ts';
import { HubAgents } from './hubAgents.ts';
import { Lookalikes } from './lookalike.ts';
import { Messages } from './messages.ts';
import { Outstanding } from './outstanding.ts';
import { Pending } from './pending.ts';
import { PrefixParts } from './prefix.ts';
import { Repeats } from './repeats.ts';
import { ReportedFailures } from './reportedFailures.ts';
import { Sampled } from './sampled.ts';
import { Seen } from './seen.ts';
import { Summary } from './summary.ts';
import { Todo } from './todo.ts';
import { Transcript } from './transcript.ts';
import { TurnState } from './turnState.ts';
import { UsageTotal } from './usage.ts';
import { WakeStates } from '../wakes.ts';
import { Watches } from './watches.ts';

export class Projections {
  readonly messages = new Messages();
  readonly transcript = new Transcript();
  readonly pending = new Pending();
  readonly seen = new Seen();
  readonly turn = new TurnState();
  readonly usage = new UsageTotal();
  readonly outstanding = new Outstanding();
  readonly summary = new Summary();
  readonly reportedFailures = new ReportedFailures();
  readonly repeats: Repeats;
  readonly lookalikes = new Lookalikes();
  readonly watches: Watches;
  readonly lines = new LineWatches();
  readonly scripts = new ScriptLines();
  readonly commits = new PushedCommits();
  readonly events = new EventStates();
  readonly sampled = new Sampled();
  readonly changes = new Changes();
  readonly todo: Todo;
  readonly handles = new HandleStates();
  readonly hubAgents = new HubAgents();
  readonly prefix = new PrefixParts();
  readonly offers = new Offers();
  readonly choice = new Choice();
  readonly wakes = new WakeStates();
  readonly outside: OutsideTexts;
  readonly #newest = (id: string) => this.pending.newest(id);
  readonly #queuedMessage = (id: string) => this.pending.queuedMessage(id);
  readonly #seenHash = (path: string) => this.seen.get(path)?.hash;

  /** `tools`: the meaning of calls beyond their results; absent: none. */
  constructor(tools?: KnownTools) {
    this.repeats = new Repeats(tools);
    this.watches = new Watches(tools);
    this.todo = new Todo(tools);
    this.outside = new OutsideTexts(tools);
  }

  /** Projections that look up pending notifications of a carrier, or the seen state before it, must be folded first. */
  fold(event: LogEvent): Folded {
    const items = this.transcript.fold(event, this.pending);
    this.outstanding.fold(event, this.#newest, this.#seenHash);
    this.reportedFailures.fold(event, this.#newest);
    this.repeats.fold(event, this.#newest);
    this.outside.fold(event, this.#newest);
    this.lookalikes.fold(event);
    this.watches.fold(event);
    this.lines.fold(event);
    this.scripts.fold(event);
    this.commits.fold(event);
    this.events.fold(event);
    this.sampled.fold(event);
    this.todo.fold(event);
    this.handles.fold(event);
    this.hubAgents.fold(event);
    this.prefix.fold(event);
    this.offers.fold(event);
    this.choice.fold(event);
    this.wakes.fold(event);
    this.messages.fold(event, this.#queuedMessage);
    this.pending.fold(event);
    this.turn.fold(event);
    this.usage.fold(event);
    const titleChanged = this.summary.fold(event);
    const changesMoved = this.changes.fold(event);
    return { event, items, seenChanged: this.seen.fold(event), titleChanged, reviewChanged: changesMoved };
  }
}

/** The changes made by one event. */
export interface Folded {
  readonly event: LogEvent;
  readonly items: readonly TranscriptItem[];
  readonly seenChanged: boolean;
  readonly titleChanged: boolean;
  /** The list of changes to review may have changed. */
  readonly reviewChanged: boolean;
}
