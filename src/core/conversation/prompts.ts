// Finds what the user wrote in other conversations, for the history of the composer.
import { type LogEvent } from '../../protocol/event.ts';
import { type ConversationSummary, type Store } from '../ports/storage.ts';

/** Only this many conversations are read, those with the latest activity. */
const MOST_READ = 20;
const MOST_PROMPTS = 100;
/** A longer text is not offered. */
const LONGEST = 20_000;

interface Prompt {
  readonly at: number;
  readonly text: string;
}

interface ReadPrompts {
  readonly lastActivity: number;
  readonly prompts: readonly Prompt[];
}

export class Prompts {
  readonly #store: Pick<Store, 'list' | 'scan'>;
  /** Of the conversations that were read last; one is read again after further activity. */
  #read: ReadonlyMap<string, ReadPrompts> = new Map();

  constructor(store: Pick<Store, 'list' | 'scan'>) {
    this.#store = store;
  }

  /** The newest first, each text once. Subagents are left out: other agents wrote to them. */
  async ofOthers(shown: string | undefined): Promise<readonly string[]> {
    const listed = await this.#store.list();
    const isOther = ({ id, subagent, problem }: ConversationSummary) =>
      id !== shown && subagent === undefined && problem === undefined;
    const others = listed.ok ? listed.value.filter(isOther).slice(0, MOST_READ) : [];
    const read = new Map<string, ReadPrompts>();
    for (const { id, lastActivity } of others) {
      const known = this.#read.get(id);
      const isCurrent = known?.lastActivity === lastActivity;
      read.set(id, isCurrent ? known : { lastActivity, prompts: await this.#promptsOf(id) });
    }
    this.#read = read;
    const found = [...read.values()].flatMap(({ prompts }) => prompts);
    const newest = found.sort((one, other) => other.at - one.at);
    return [...new Set(newest.map(({ text }) => text))].slice(0, MOST_PROMPTS);
  }

  async #promptsOf(id: string): Promise<readonly Prompt[]> {
    const read = await this.#store.scan(id, 0);
    const prompts: Prompt[] = [];
    for (const event of read.ok ? read.value.events : []) {
      const text = textOf(event);
      if (text === undefined || text.trim() === '' || text.length > LONGEST) continue;
      prompts.push({ at: Date.parse(event.timestamp), text });
    }
    // The newest first also within a millisecond: sorting keeps this order.
    return prompts.slice(-MOST_PROMPTS).reverse();
  }
}

function textOf(event: LogEvent): string | undefined {
  const isUsers = event.type === 'user_text_queued' || (event.type === 'chat_request' && event.source === 'user');
  return isUsers ? (event.typed ?? event.content) : undefined;
}
