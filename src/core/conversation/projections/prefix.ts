// Projects the prefix of a conversation's requests: what was logged of it, and what carriers have added to it since.
import { type EventOf, type LogEvent, type Prefix } from '../../../protocol/event.ts';

type Additions = Pick<EventOf<'tool_call_response'>, 'seq' | 'instructions'> &
  Partial<Pick<EventOf<'tool_call_response'>, 'found'>>;

export class PrefixParts {
  #frozen: Prefix | undefined;
  #onDemand = false;
  readonly #found = new Map<string, string>();
  /** Found before the last compaction: the next prefix has them. */
  readonly #earlier = new Set<string>();
  /** How many texts of each instruction file the messages have, and the event that has the last one. */
  readonly #sent = new Map<string, { readonly times: number; readonly seq: number }>();
  #sentCharacters = 0;
  #rebuilds = 0;
  #rebuiltBy = '';

  /** Undefined before the first request and after a compaction: then the next request makes a new one. */
  get frozen(): Prefix | undefined {
    return this.#frozen;
  }

  /** The prefix has none of the MCP servers' tools, because they were too many: they must be found. */
  get onDemand(): boolean {
    return this.#onDemand;
  }

  /** The hash of each description, by name, in the order of finding. */
  get found(): ReadonlyMap<string, string> {
    return this.#found;
  }

  get earlier(): ReadonlySet<string> {
    return this.#earlier;
  }

  /** How often the text of this instruction file was sent after the prefix. */
  timesSent(name: string): number {
    return this.#sent.get(name)?.times ?? 0;
  }

  get sentCharacters(): number {
    return this.#sentCharacters;
  }

  /** How often a prefix was made again, and why the last time. */
  get rebuilds(): number {
    return this.#rebuilds;
  }

  get rebuiltBy(): string {
    return this.#rebuiltBy;
  }

  fold(event: LogEvent): void {
    switch (event.type) {
      case 'config_used':
        if (event.prefix !== undefined) this.#freeze(event, event.prefix);
        return;
      case 'compaction':
        for (const [name, { seq }] of this.#sent) {
          if (seq > event.through) this.#sent.set(name, { times: 1, seq });
          else this.#sent.delete(name);
        }
        this.#sentCharacters = 0;
        this.#add(event);
        return this.#end('the conversation was compacted');
      case 'results_dropped':
        return this.#end('old results were removed');
      case 'chat_request':
        return this.#add(event);
      case 'tool_call_response':
        for (const name of event.tools ?? []) this.#earlier.add(name);
        return this.#add(event);
      default:
        return;
    }
  }

  /** A second prefix without a compaction replaces one whose snapshots are gone. It has the tools found so far. */
  #freeze({ servers = [] }: EventOf<'config_used'>, prefix: Prefix): void {
    if (this.#frozen !== undefined) this.#count('its prompt was no longer stored');
    this.#frozen = prefix;
    const names = new Set(prefix.names);
    for (const name of names) this.#found.delete(name);
    const ofServers = servers.flatMap(({ tools }) => Object.keys(tools));
    this.#onDemand = ofServers.length > 0 && !ofServers.some((name) => names.has(name) && !this.#earlier.has(name));
  }

  #count(why: string): void {
    this.#rebuilds += 1;
    this.#rebuiltBy = why;
  }

  #end(why: string): void {
    if (this.#frozen !== undefined) this.#count(why);
    for (const name of this.#found.keys()) this.#earlier.add(name);
    this.#found.clear();
    this.#frozen = undefined;
  }

  #add({ seq, instructions = [], found = [] }: Additions): void {
    for (const { name, hash } of found) if (!this.#found.has(name)) this.#found.set(name, hash);
    for (const { name, text } of instructions) {
      this.#sent.set(name, { times: this.timesSent(name) + 1, seq });
      this.#sentCharacters += text.length;
    }
  }
}
