// The names of agents across machines: claims names for this machine's agents, reads the claims of other machines, and
// translates between local names and the public names that other machines use.
import { Sequence } from '../../base/async.ts';
import { isReservedName } from '../../protocol/hub.ts';
import { type HubAgent } from '../directory.ts';
import { type Bucket, type Entry } from './bucket.ts';
import { type Claim, mayTakeOver, parseClaim, REFRESH_AFTER } from './claimValue.ts';
import { publicNames } from './receivedRecord.ts';

export interface ClaimsDeps {
  readonly machine: string;
  /** Identifies this hub among those of the same machine. */
  readonly hub: string;
  agents(): readonly HubAgent[];
  agent(name: string): HubAgent | undefined;
  /** Whether records of the agent wait to be published; its name stays claimed while they do. */
  hasWaiting(agent: string): boolean;
  report(message: string, error?: unknown): void;
}

export class Claims {
  readonly #deps: ClaimsDeps;
  /** Claims of all machines, by public name. */
  readonly #claims = new Map<string, Claim>();
  /** Names that had no claim when they were last read. */
  readonly #unclaimed = new Set<string>();
  /** The public names of this machine's agents, by local name. */
  readonly #own = new Map<string, string>();
  #bucket: Bucket | undefined;
  #lastChange = -1;
  /** One at a time: two concurrent updates would claim two names for one agent. */
  readonly #updates = new Sequence();

  constructor(deps: ClaimsDeps) {
    this.#deps = deps;
  }

  /** The claims of other machines. */
  get others(): Iterable<[string, Claim]> {
    return [...this.#claims].filter(([, claim]) => claim.machine !== this.#deps.machine && claim.released !== true);
  }

  knownAs(agent: string): string | undefined {
    return this.#own.get(agent);
  }

  use(bucket: Bucket | undefined): void {
    this.#bucket = bucket;
    this.#lastChange = -1;
  }

  /** Reads the claims again if one has changed, claims names for new agents, and releases those of removed agents. */
  update(present: ReadonlySet<string>, serverNow: number): Promise<void> {
    return this.#updates.run(() => this.#update(present, serverNow));
  }

  async #update(present: ReadonlySet<string>, serverNow: number): Promise<void> {
    const bucket = this.#bucket;
    if (bucket === undefined) return;
    this.#unclaimed.clear();
    const change = await bucket.lastChange();
    if (change !== this.#lastChange) {
      const entries = await bucket.all();
      this.#claims.clear();
      for (const [name, entry] of entries) this.#learn(name, entry);
      this.#lastChange = change;
    }
    for (const agent of this.#deps.agents()) await this.#claim(bucket, agent, present, serverNow);
    await this.#releaseGone(bucket);
  }

  /** The claim on this name; read from the server if it is not known, or if `fresh`. */
  async claimOn(name: string, fresh: boolean): Promise<Claim | undefined> {
    if (!fresh && (this.#claims.has(name) || this.#unclaimed.has(name))) return this.#claims.get(name);
    const entry = await this.#bucket?.get(name);
    return this.#learn(name, entry);
  }

  /** The public name of the author of a record; undefined until it is claimed. */
  publicNameOf(author: string): string | undefined {
    const own = this.#own.get(author);
    if (own !== undefined) return own;
    if (this.#deps.agent(author) !== undefined) return undefined;
    // The agent is gone and its records are published again: another agent may have its name now.
    return `${author}-${this.#deps.machine}`;
  }

  /** The local name of the agent with this public name. `machine`: the agent's machine, if known. */
  toLocal(name: string, machine = this.#claims.get(name)?.machine): string {
    for (const [agent, known] of this.#own) if (known === name) return agent;
    if (machine === undefined || machine === this.#deps.machine || this.#deps.agent(name) === undefined) return name;
    return publicNames(name, machine).find((one) => this.#deps.agent(one) === undefined) ?? name;
  }

  /** The public name of the agent with this local name. */
  toPublic(name: string): string {
    const own = this.#own.get(name);
    if (own !== undefined) return own;
    if (this.#claims.has(name)) return name;
    for (const agent of this.#own.keys()) {
      const claim = this.#claims.get(agent);
      if (claim !== undefined && claim.machine !== this.#deps.machine && this.toLocal(agent) === name) return agent;
    }
    return name;
  }

  #learn(name: string, entry: Entry | undefined): Claim | undefined {
    // A claim on a reserved name is none.
    const claim = entry && !isReservedName(name) ? parseClaim(entry.text, entry.revision, entry.writtenAt) : undefined;
    if (claim === undefined) {
      this.#claims.delete(name);
      this.#unclaimed.add(name);
    } else {
      this.#claims.set(name, claim);
      this.#unclaimed.delete(name);
    }
    return claim;
  }

  async #claim(bucket: Bucket, agent: HubAgent, present: ReadonlySet<string>, serverNow: number): Promise<void> {
    const names = publicNames(agent.name, this.#deps.machine);
    const held = [this.#own.get(agent.name), ...names].find((name) => name !== undefined && this.#isOurs(name, agent));
    for (const name of held === undefined ? names : [held]) {
      if (await this.#tryClaim(bucket, name, agent, present, serverNow)) {
        this.#own.set(agent.name, name);
        return;
      }
    }
    this.#own.delete(agent.name);
    this.#deps.report(`all public names for ${agent.name} are taken by other machines; its messages wait`);
  }

  async #tryClaim(
    bucket: Bucket,
    name: string,
    agent: HubAgent,
    present: ReadonlySet<string>,
    serverNow: number,
  ): Promise<boolean> {
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const claim = this.#claims.get(name);
      const ours = this.#isOurs(name, agent);
      if (claim !== undefined && !ours && !mayTakeOver(claim, serverNow, present.has(claim.machine))) return false;
      const value = this.#valueOf(agent, name, ours ? claim?.since : serverNow);
      if (claim !== undefined && ours && isUpToDate(claim, value, serverNow)) return true;
      const revision = await bucket.write(name, value, claim?.revision);
      this.#learn(name, await bucket.get(name));
      if (revision !== undefined) return true;
    }
    return false;
  }

  #valueOf({ name: agent, role, module, display }: HubAgent, name: string, since = 0): object {
    const { machine, hub } = this.#deps;
    return { machine, role, module, display, ...(agent !== name && { agent }), hub, since };
  }

  #isOurs(name: string, agent: { readonly name: string }): boolean {
    const claim = this.#claims.get(name);
    const { machine, hub } = this.#deps;
    if (claim?.machine !== machine || claim.hub !== hub || claim.released === true) return false;
    return (claim.agent ?? name) === agent.name;
  }

  async #releaseGone(bucket: Bucket): Promise<void> {
    const { machine, hub, agent, hasWaiting } = this.#deps;
    for (const [name, claim] of this.#claims) {
      const owner = claim.agent ?? name;
      if (claim.machine !== machine || claim.hub !== hub || claim.released === true) continue;
      if (agent(owner) !== undefined || hasWaiting(owner)) continue;
      const { revision, writtenAt: _, ...value } = claim;
      await bucket.write(name, { ...value, released: true }, revision);
      this.#learn(name, await bucket.get(name));
      this.#own.delete(owner);
    }
    for (const owner of this.#own.keys()) if (agent(owner) === undefined && !hasWaiting(owner)) this.#own.delete(owner);
  }
}

function isUpToDate(claim: Claim, value: object, serverNow: number): boolean {
  const same = Object.entries(value).every(([key, one]) => claim[key as keyof Claim] === one);
  return same && serverNow - claim.writtenAt < REFRESH_AFTER;
}
