// Collects the texts from outside of a conversation, of the one it works for, and of all subagents of that one: a task or
// a report may pass their words on. Logs of the others are read from the disk, each event once.
import { succeeded, type Result } from '../../../base/errors.ts';
import { type Store } from '../../ports/storage.ts';
import { type KnownTools } from '../../ports/toolTraits.ts';
import { type ConversationLog } from '../log.ts';
import { Pending } from '../projections/pending.ts';
import { OutsideTexts } from './outsideTexts.ts';

/** A damaged log may name any parent. */
const MOST_CONVERSATIONS = 100;

interface Followed {
  readonly texts: OutsideTexts;
  readonly pending: Pending;
  through: number;
}

export interface TextsOf {
  /** Undefined: the conversation itself. */
  readonly conversation?: string;
  readonly texts: OutsideTexts;
}

export class OutsideTree {
  readonly #store: Pick<Store, 'scan'>;
  readonly #tools: KnownTools | undefined;
  readonly #followed = new Map<string, Followed>();

  constructor(store: Pick<Store, 'scan'>, tools: KnownTools | undefined) {
    this.#store = store;
    this.#tools = tools;
  }

  /** The conversation itself first. A log that cannot be read any more is left out. */
  async of(log: ConversationLog): Promise<readonly TextsOf[]> {
    const own = log.state.outside;
    const found = new Map<string, OutsideTexts>([[log.id, own]]);
    const open = [own.parent, ...own.agents];
    while (open.length > 0 && found.size < MOST_CONVERSATIONS) {
      const id = open.shift();
      if (id === undefined || found.has(id)) continue;
      const texts = await this.#read(id);
      if (!texts.ok) continue;
      found.set(id, texts.value);
      open.push(texts.value.parent, ...texts.value.agents);
    }
    return [...found].map(([conversation, texts]) => ({ texts, ...(conversation !== log.id && { conversation }) }));
  }

  async #read(conversation: string): Promise<Result<OutsideTexts>> {
    const followed = this.#followed.get(conversation) ?? {
      texts: new OutsideTexts(this.#tools),
      pending: new Pending(),
      through: 0,
    };
    this.#followed.set(conversation, followed);
    const read = await this.#store.scan(conversation, followed.through);
    if (!read.ok) return read;
    for (const event of read.value.events) {
      if (event.seq <= followed.through) continue;
      followed.texts.fold(event, (id) => followed.pending.newest(id));
      followed.pending.fold(event);
      followed.through = event.seq;
    }
    return succeeded(followed.texts);
  }
}
