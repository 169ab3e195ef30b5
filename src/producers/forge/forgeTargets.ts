// The commits and pull requests that are followed now, for conversations and for conditions: asks about each when due.
import { type Clock, type Publisher } from '../../core/ports/ports.ts';
import { type LiveConversations } from '../../core/ports/producers.ts';
import { type FollowedCommit } from '../../protocol/forge/followedCommit.ts';
import { type ForgeWay } from '../../protocol/settings.ts';
import { CommitFollower, type Concerned, withdrawResults } from './commitFollower.ts';
import { ForgeTrouble } from './forgeApi.ts';
import { type ForgeClient } from './forgeClient.ts';
import { ForgeClients, type ForgeClientsDeps } from './forgeClients.ts';
import { PullFollower } from './pullFollower.ts';
import { forgeHosts, forgeOf, type Place } from './remotes.ts';

/** Without a push, a result or a call of a conversation, what has ended is not asked for any more. */
const IDLE_AFTER = 3600_000;

interface TargetsDeps extends ForgeClientsDeps {
  readonly clock: Clock;
  way(): ForgeWay;
  trouble?(message: string): void;
  looked?(host: string, needs: string | undefined): void;
}

/** A condition that waits for something of a commit or of a branch’s pull request. */
export interface AwaitedCommit {
  readonly place: Place;
  /** All repositories of the remotes, of which one may have the pull requests of another. */
  readonly places: readonly Place[];
  readonly branch: string;
  /** Absent: the pull request. */
  readonly sha?: string;
  /** In milliseconds since 1970. */
  readonly at: number;
  changed(): void;
}

export interface Look {
  readonly publisher: Publisher;
  readonly live: LiveConversations;
  readonly signal: AbortSignal;
  /** The user is at this window. */
  readonly active: boolean;
  readonly asked: Iterable<AwaitedCommit>;
  /** All repositories of the remotes, of which one may have the pull requests of another. */
  readonly places: readonly Place[];
  /** How many commits HEAD is ahead of it. */
  moved(sha: string): Promise<number | undefined>;
}

interface Target<F> {
  readonly follower: F;
  readonly place: Place;
  concerned: Concerned[];
  asked: AwaitedCommit[];
  /** The conversations to which the present result was reported. */
  told: string;
}

type AnyTarget = Target<CommitFollower> | Target<PullFollower>;

export class ForgeTargets {
  readonly #deps: TargetsDeps;
  readonly #clients: ForgeClients;
  /** By repository and commit. */
  readonly #commits = new Map<string, Target<CommitFollower>>();
  /** By repository and branch. */
  readonly #pulls = new Map<string, Target<PullFollower>>();
  #lastActivity = 0;
  #lastTrouble = '';

  constructor(deps: TargetsDeps) {
    this.#deps = deps;
    this.#clients = new ForgeClients(deps);
  }

  /** The user or a conversation did something. */
  active(): void {
    this.#lastActivity = this.#deps.clock.now();
  }

  /** The user has chosen another way. */
  forget(): void {
    this.#clients.forget();
    this.#lastTrouble = '';
    for (const { follower } of this.#all()) follower.next = 0;
  }

  commit(place: Place, sha: string): Target<CommitFollower> {
    const key = keyOf(place, '@', sha);
    const known = this.#commits.get(key) ?? newTarget(place, new CommitFollower(place, sha));
    this.#commits.set(key, known);
    return known;
  }

  /** `since`: comments from then on count. */
  pull(place: Place, branch: string, since: number, places: readonly Place[]): Target<PullFollower> {
    const key = keyOf(place, '#', branch);
    let known = this.#pulls.get(key);
    if (known === undefined || known.follower.since > since) {
      const others = places.filter(({ host, path }) => host === place.host && path !== place.path);
      const head = { owner: place.path.split('/', 1)[0] ?? '', branch };
      known = newTarget(place, new PullFollower([place, ...others], head, since));
      this.#pulls.set(key, known);
    }
    return known;
  }

  async lookAt({ follower, place, asked }: AnyTarget, signal: AbortSignal): Promise<void> {
    const changed = await follower.look(this.#clientOf(place), this.#deps.clock.now(), signal);
    if (!changed) return;
    this.active();
    for (const one of asked) one.changed();
  }

  /** The branch has another commit on the forge now. */
  async replaced(place: Place, sha: string, by: { sha: string; at: number }, publisher: Publisher): Promise<void> {
    const target = this.#commits.get(keyOf(place, '@', sha));
    if (target === undefined || target.follower.superseded?.sha === by.sha) return;
    target.follower.superseded = by;
    for (const one of target.asked) one.changed();
    await withdrawResults(target.follower.subject, publisher);
  }

  async look(look: Look): Promise<void> {
    const { clock } = this.#deps;
    this.#collect(look);
    for (const target of this.#pulls.values()) {
      const looked = await this.#lookIfDue(target, look);
      for (const { commit } of target.concerned) {
        const sha = target.follower.replacementOf(commit, clock.now());
        if (sha !== undefined) await this.replaced(target.place, commit.sha, { sha, at: clock.now() }, look.publisher);
      }
      if (isToTell(target, looked)) await target.follower.report(look, target.concerned, clock.now());
    }
    for (const target of this.#commits.values()) {
      const looked = await this.#lookIfDue(target, look);
      if (!isToTell(target, looked)) continue;
      const { follower, place, concerned } = target;
      const report = () => follower.report(look, this.#clientOf(place), concerned, clock.now(), look.signal);
      await report().catch((error: unknown) => {
        // A log could not be read; the next look tries again.
        if (!(error instanceof ForgeTrouble)) throw error;
      });
    }
  }

  /** The user is told once what to do. */
  async #lookIfDue(target: AnyTarget, { active, signal }: Look): Promise<boolean> {
    const { clock, trouble, looked } = this.#deps;
    const { follower, asked } = target;
    const now = clock.now();
    // A clock that was set back must not make the wait longer.
    if (follower.next > now && follower.next - now < IDLE_AFTER) return false;
    const isIdle = !active || now - this.#lastActivity > IDLE_AFTER;
    if (follower.isOver && isIdle && asked.length === 0) return false;
    await this.lookAt(target, signal);
    const { needs } = follower;
    if (needs !== undefined && needs !== this.#lastTrouble) trouble?.(needs);
    looked?.(target.place.host, needs);
    this.#lastTrouble = needs ?? this.#lastTrouble;
    return true;
  }

  /** What the conversations follow and the conditions wait for; what nobody does is forgotten. */
  #collect({ live, asked, places }: Look): void {
    for (const target of this.#all()) Object.assign(target, { concerned: [], asked: [] });
    for (const conversation of live.ids()) {
      for (const { since, ...commit } of live.commits(conversation)?.followed ?? []) {
        const place = this.#placeOf(commit.repository);
        if (place === undefined) continue;
        const of = this.commit(place, commit.sha);
        of.follower.pushedAt(Date.parse(commit.at));
        of.concerned.push({ conversation, commit, since });
        this.pull(place, commit.branch, since, places).concerned.push({ conversation, commit, since });
      }
    }
    for (const one of asked) {
      const { place, branch, sha, at } = one;
      const target = sha === undefined ? this.pull(place, branch, at, one.places) : this.commit(place, sha);
      target.asked.push(one);
    }
    for (const targets of [this.#commits, this.#pulls]) {
      for (const [key, { concerned, asked: by }] of targets)
        if (concerned.length + by.length === 0) targets.delete(key);
    }
  }

  #all(): AnyTarget[] {
    return [...this.#commits.values(), ...this.#pulls.values()];
  }

  #clientOf(place: Place): ForgeClient {
    return this.#clients.get(place, this.#deps.way());
  }

  #placeOf(repository: FollowedCommit['repository']): Place | undefined {
    const slash = repository.indexOf('/');
    const [host, path] = [repository.slice(0, slash), repository.slice(slash + 1)];
    const forge = forgeOf(host, forgeHosts(this.#deps.env));
    return forge === undefined ? undefined : { host, path, forge };
  }
}

function newTarget<F>(place: Place, follower: F): Target<F> {
  return { follower, place, concerned: [], asked: [], told: '' };
}

function keyOf({ host, path }: Place, mark: string, what: string): string {
  return `${host}/${path}${mark}${what}`;
}

/** After each look, and when it concerns another conversation than before. */
function isToTell(target: AnyTarget, looked: boolean): boolean {
  const now = target.concerned.map(({ conversation }) => conversation).join();
  if (!looked && now === target.told) return false;
  target.told = now;
  return now !== '';
}
