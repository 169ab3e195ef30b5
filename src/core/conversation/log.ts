// Decides the order of a conversation's events: each gets its number, is folded at once and is announced once it is on disk.
import { type Disposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/emitter.ts';
import { EVENT_VERSION, type EventDraft, type LogEvent } from '../../protocol/event.ts';
import { type Clock, type EventFile, type Ids, type Log, type OpenedLog } from '../ports.ts';
import { type Folded, Projections } from './project.ts';

export class ConversationLog implements Disposable {
  readonly id: string;
  readonly #file: EventFile;
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #onDidAppend: Emitter<Folded>;
  readonly state = new Projections();
  #nextSeq: number;

  constructor(deps: { id: string; opened: OpenedLog; clock: Clock; ids: Ids; log: Log }) {
    this.id = deps.id;
    this.#file = deps.opened.file;
    this.#clock = deps.clock;
    this.#ids = deps.ids;
    this.#nextSeq = deps.opened.nextSeq;
    this.#onDidAppend = new Emitter((error) => deps.log.error('a listener of the log failed', error));
    for (const event of deps.opened.events) this.state.fold(event);
  }

  /** Fires in the order of the events, each once it is on disk. */
  get onDidAppend(): Emitter<Folded>['event'] {
    return this.#onDidAppend.event;
  }

  /**
   * Numbers and folds the event before it returns, so that whoever decides next decides with it; the file keeps the same
   * order, so whatever is on disk is on disk with everything before it. Resolves once it is there. `id` is given where
   * parts of the event were drawn under it before.
   */
  async append(draft: EventDraft, id = this.#ids.ulid()): Promise<LogEvent> {
    const event = {
      v: EVENT_VERSION,
      seq: this.#nextSeq,
      event_id: id,
      timestamp: new Date(this.#clock.now()).toISOString(),
      ...draft,
    } as LogEvent;
    this.#nextSeq += 1;
    const folded = this.state.fold(event);
    await this.#file.append(event);
    this.#onDidAppend.fire(folded);
    return event;
  }

  async close(): Promise<void> {
    this.dispose();
    await this.#file.close();
  }

  dispose(): void {
    this.#onDidAppend.dispose();
  }
}
