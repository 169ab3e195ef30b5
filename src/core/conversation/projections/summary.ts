// Projects a conversation's title, origin and last activity. Without a given title, the first message is the title.
import { wholeCharacters } from '../../../base/text.ts';
import { type EventOf, type LogEvent } from '../../../protocol/event.ts';

const TITLE_LENGTH = 80;

/** The conversation that started a subagent, and what it gave the subagent. */
export type SubagentOrigin = NonNullable<EventOf<'conversation_started'>['subagent']>;

export class Summary {
  #given = '';
  #first = '';
  #lastActivity = '';
  #fork: EventOf<'forked'> | undefined;
  #subagent: SubagentOrigin | undefined;

  /** Empty until it has a given title or a first message. */
  get title(): string {
    return this.#given || this.#first;
  }

  /** Whether it has a given title. */
  get isNamed(): boolean {
    return this.#given !== '';
  }

  /** RFC 3339; empty before the first event. */
  get lastActivity(): string {
    return this.#lastActivity;
  }

  get forkedFrom(): string | undefined {
    return this.#fork?.from;
  }

  /** The message of the original that this fork sends again. */
  get resentRequest(): string | undefined {
    return this.#fork?.request;
  }

  /** Undefined: it is not a subagent. */
  get subagent(): SubagentOrigin | undefined {
    return this.#subagent;
  }

  /** Returns whether the title changed. */
  fold(event: LogEvent): boolean {
    this.#lastActivity = event.timestamp;
    const before = this.title;
    if (event.type === 'title_set') this.#given = shortTitle(event.title);
    if (event.type === 'conversation_started') this.#subagent = event.subagent;
    if (event.type === 'forked') {
      this.#fork = event;
      // A fork belongs to the user.
      this.#subagent = undefined;
    }
    if (event.type === 'chat_request' && event.source === 'user' && this.#first === '') {
      this.#first = shortTitle(event.typed ?? event.content);
    }
    return this.title !== before;
  }
}

/** One line of at most TITLE_LENGTH characters; never splits a character. */
export function shortTitle(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > TITLE_LENGTH ? `${wholeCharacters(line, TITLE_LENGTH - 1)}…` : line;
}
