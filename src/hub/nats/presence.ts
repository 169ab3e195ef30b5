// Presence of machines: sends a heartbeat of this machine every 15 s and after changes, with its agents and their
// unread counts, and reads the heartbeats of other machines.
import * as z from 'zod';
import { ignore } from '../../base/async.ts';
import { parseObject } from '../../base/json/outsideJson.ts';
import { type Bucket, type Entry } from './bucket.ts';
import { RefusedError } from './natsConnection.ts';

const MOST_AGENTS = 1000;
const beatSchema = z.object({
  agents: z.array(z.object({ name: z.string().max(80), unread: z.int().min(0) })).max(MOST_AGENTS),
  hub: z.string().max(64).optional(),
});

interface AgentBeat {
  readonly name: string;
  readonly unread: number;
}

interface Beat {
  readonly agents: ReadonlyMap<string, number>;
  readonly writtenAt: number;
}

export interface PresenceDeps {
  readonly machine: string;
  readonly hub: string;
  now(): number;
  /** The connected agents of this machine, by their public names. */
  agents(): readonly AgentBeat[];
}

export class Presence {
  readonly #deps: PresenceDeps;
  #beats: ReadonlyMap<string, Beat> = new Map();
  /** When each agent of another machine was last seen, by the server's clock. */
  readonly #seen = new Map<string, number>();
  #bucket: Bucket | undefined;
  #revision: number | undefined;
  /** The agents of the last heartbeat, as JSON. */
  #written: string | undefined;
  /** The server's time of this machine's last heartbeat. */
  #serverNow = 0;
  #clockAhead: number | undefined;
  #beating: Promise<void> = Promise.resolve();

  constructor(deps: PresenceDeps) {
    this.#deps = deps;
  }

  get serverNow(): number {
    return this.#serverNow;
  }

  /** How far this machine's clock is ahead of the server's, in milliseconds; undefined before the first heartbeat. */
  get clockAhead(): number | undefined {
    return this.#clockAhead;
  }

  get machines(): ReadonlySet<string> {
    return new Set(this.#beats.keys());
  }

  unread(machine: string, agent: string): number | undefined {
    return this.#beats.get(machine)?.agents.get(agent);
  }

  lastSeen(agent: string): number | undefined {
    return this.#seen.get(agent);
  }

  /** Undefined: there is no connection, and no machine counts as present. */
  use(bucket: Bucket | undefined): void {
    this.#bucket = bucket;
    this.#revision = undefined;
    this.#written = undefined;
    this.#beats = new Map();
  }

  /** Sends a heartbeat if the agents or their counts have changed since the last one. Throws as `beat` does. */
  async beatIfChanged(): Promise<void> {
    if (JSON.stringify(this.#ownAgents()) !== this.#written) await this.beat();
  }

  /** Sends a heartbeat. Throws `RefusedError` if another hub is present under this machine's name. */
  beat(): Promise<void> {
    this.#beating = this.#write();
    return this.#beating;
  }

  async #write(): Promise<void> {
    const bucket = this.#bucket;
    if (bucket === undefined) return;
    const { machine, hub } = this.#deps;
    const agents = this.#ownAgents();
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const written = await bucket.write(machine, { agents, hub }, this.#revision);
      const own = await bucket.get(machine);
      this.#serverNow = own?.writtenAt ?? this.#serverNow;
      if (written !== undefined) {
        this.#revision = written;
        this.#written = JSON.stringify(agents);
        if (own !== undefined) this.#clockAhead = Math.round(this.#deps.now() - own.writtenAt);
        return;
      }
      const other = own && parseBeat(own)?.hub;
      if (other !== undefined && other !== hub) {
        throw new RefusedError(
          `another hub has joined as machine ${machine}. Set earshot.hub.machine to another name on one of them, or close the other; it is forgotten 45 seconds after it has gone.`,
        );
      }
      // The heartbeat has expired, or this hub wrote it before a restart.
      this.#revision = own?.revision;
    }
  }

  #ownAgents(): readonly AgentBeat[] {
    return this.#deps.agents().slice(0, MOST_AGENTS);
  }

  async read(): Promise<void> {
    const entries = await this.#bucket?.all();
    const beats = new Map<string, Beat>();
    for (const [machine, entry] of entries ?? []) {
      const beat = machine === this.#deps.machine ? undefined : parseBeat(entry);
      if (beat === undefined) continue;
      const agents = new Map(beat.agents.map(({ name, unread }) => [name, unread]));
      beats.set(machine, { agents, writtenAt: entry.writtenAt });
      for (const name of agents.keys()) this.#seen.set(name, entry.writtenAt);
    }
    this.#beats = beats;
  }

  /** Removes this machine's heartbeat, so that other machines need not wait until it expires. */
  async leave(): Promise<void> {
    // A heartbeat that is still being written would stay after the removal.
    await this.#beating.catch(ignore);
    if (this.#revision !== undefined) await this.#bucket?.remove(this.#deps.machine, this.#revision);
  }
}

function parseBeat({ text }: Entry): z.infer<typeof beatSchema> | undefined {
  return beatSchema.safeParse(parseObject(text)).data;
}
