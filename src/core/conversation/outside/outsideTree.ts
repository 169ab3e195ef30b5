// Collects the texts from outside of a conversation, of the one it works for, and of all subagents of that one: a task or
// a report may pass their words on. Logs of the others are read from the disk, each event once as long as the conversation
// is open.
import { Sequence } from '../../../base/async.ts';
import { succeeded, type Result } from '../../../base/errors.ts';
import { type LogReader, type Store } from '../../ports/storage.ts';
import { type ConversationLog } from '../log.ts';
import { Pending } from '../projections/pending.ts';
import { OutsideTexts } from './outsideTexts.ts';

/** A damaged log may name any parent. */
const MOST_CONVERSATIONS = 100;

interface Followed {
  readonly reader: LogReader;
  texts: OutsideTexts;
  pending: Pending;
}

export interface TextsOf {
  /** Undefined: the conversation itself. */
  readonly conversation?: string;
  readonly texts: OutsideTexts;
}

export class OutsideTree {
  readonly #store: Pick<Store, 'reader'>;
  readonly #followed = new Map<string, Followed>();
  readonly #reads = new Sequence();

  constructor(store: Pick<Store, 'reader'>) {
    this.#store = store;
  }

  /** The conversation itself first. A log that cannot be read any more is left out. */
  of(log: ConversationLog): Promise<readonly TextsOf[]> {
    return this.#reads.run(() => this.#of(log));
  }

  async #of(log: ConversationLog): Promise<readonly TextsOf[]> {
    const own = log.state.outside;
    const found = new Map<string, OutsideTexts>([[log.id, own]]);
    const open = [own.parent, ...own.agents];
    while (open.length > 0 && found.size < MOST_CONVERSATIONS) {
      const id = open.shift();
      if (id === undefined || found.has(id)) continue;
      const texts = await this.#read(id, log);
      if (!texts.ok) continue;
      found.set(id, texts.value);
      open.push(texts.value.parent, ...texts.value.agents);
    }
    return [...found].map(([conversation, texts]) => ({ texts, ...(conversation !== log.id && { conversation }) }));
  }

  async #read(conversation: string, { tools }: ConversationLog): Promise<Result<OutsideTexts>> {
    const begin = () => ({ texts: new OutsideTexts(tools), pending: new Pending() });
    const followed = this.#followed.get(conversation) ?? { reader: this.#store.reader(conversation), ...begin() };
    this.#followed.set(conversation, followed);
    const read = await followed.reader.read();
    if (!read.ok) return read;
    if (read.value.whole) Object.assign(followed, begin());
    const { texts, pending } = followed;
    for (const event of read.value.events) {
      texts.fold(event, (id) => pending.newest(id));
      pending.fold(event);
    }
    return succeeded(texts);
  }
}
