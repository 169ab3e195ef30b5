// Follows the pull request of one branch, and reports reviews, comments and changes of its state, each once.
import { type Publisher } from '../../core/ports/ports.ts';
import { type LiveConversations } from '../../core/ports/producers.ts';
import { type ForgeState } from '../../core/wakes/forgeFacts.ts';
import { type FollowedCommit } from '../../protocol/forge/followedCommit.ts';
import { type Concerned } from './commitFollower.ts';
import { ForgeTrouble } from './forgeApi.ts';
import { type ForgeClient, type Pull, type PullHead, type Repository } from './forgeClient.ts';
import { draftPullChanged, draftReviews, oneLine, pullSubject } from './forgeReports.ts';

interface ReportDeps {
  readonly publisher: Publisher;
  readonly live: LiveConversations;
}

const EVERY = 90_000;
/** The forge learns of a push a moment later. */
const HEAD_SETTLES = 60_000;

interface LocatedPull {
  readonly place: Repository;
  readonly value: Pull;
}

export class PullFollower {
  /** Where the pull request may be: the repository of the branch, and the one that it may be a fork of. */
  readonly #places: readonly Repository[];
  readonly #head: PullHead;
  /** Comments before that are not asked for. */
  readonly since: number;
  /** Nothing of it runs, so it is asked for only while somebody is there. */
  readonly isOver = true;
  #pull: LocatedPull | undefined;
  #trouble: ForgeTrouble | undefined;
  /** The state that was seen first in this window; what the user opened as it is, is no news. */
  readonly #first = new Map<number, Pull['state']>();
  next = 0;

  constructor(places: readonly Repository[], head: PullHead, since: number) {
    this.#places = places;
    this.#head = head;
    this.since = since;
  }

  /** What the user has to do before anything is known. */
  get needs(): string | undefined {
    return this.#trouble?.type === 'setUp' ? this.#trouble.message : undefined;
  }

  /** The commit that the forge has as the newest of the branch, if it differs from this one, which was pushed then. */
  replacementOf({ sha, at }: FollowedCommit, now: number): string | undefined {
    const pull = this.#pull?.value;
    if (pull === undefined || pull.state === 'merged' || pull.state === 'closed') return undefined;
    return pull.sha !== '' && pull.sha !== sha && now - Date.parse(at) > HEAD_SETTLES ? pull.sha : undefined;
  }

  /** `since`: comments from then on count. */
  state(since: number): ForgeState {
    if (this.#trouble !== undefined) return { unknown: this.#trouble.message };
    if (this.#pull === undefined) return {};
    const { number, state, verdict, feedback } = this.#pull.value;
    const comment = feedback.find(({ at, what }) => what === 'commented' && at >= since);
    return { pull: { number, state, verdict, ...(comment && { commented: oneLine(comment.author) }) } };
  }

  /** Returns whether something has changed. */
  async look(client: ForgeClient, now: number, signal: AbortSignal): Promise<boolean> {
    const before = JSON.stringify([this.#pull, this.#trouble?.message]);
    this.next = now + EVERY;
    try {
      this.#pull = await this.#find(client, signal);
      this.#trouble = undefined;
    } catch (error) {
      if (!(error instanceof ForgeTrouble)) throw error;
      this.#trouble = error;
    }
    return JSON.stringify([this.#pull, this.#trouble?.message]) !== before;
  }

  async report({ publisher, live }: ReportDeps, concerned: readonly Concerned[], now: number): Promise<void> {
    if (this.#pull === undefined || this.#trouble !== undefined) return;
    const { place, value: pull } = this.#pull;
    const repository = `${place.host}/${place.path}`;
    const first = this.#first.get(pull.number) ?? pull.state;
    this.#first.set(pull.number, first);
    for (const { conversation, commit, since } of concerned) {
      const record = live.commits(conversation);
      if (record === undefined) continue;
      const report = { commit, conversation, now };
      const subject = pullSubject(repository, pull.number);
      const known = record.reported(subject) ?? (isNews(pull, since) ? undefined : first);
      // A pull request that ended before has nothing to do with the push.
      const isOld = pull.ended !== undefined && pull.ended < since;
      if (isOld) continue;
      if (pull.state !== known) await publisher.publish(draftPullChanged(report, repository, pull), conversation);
      const news = pull.feedback.filter(
        // What its own commands wrote is no news.
        ({ id, at }) => at >= since && !record.isKnownReview(id) && !record.ranGit(at),
      );
      if (news.length > 0) await publisher.publish(draftReviews(report, pull, news), conversation);
    }
  }

  async #find(client: ForgeClient, signal: AbortSignal): Promise<LocatedPull | undefined> {
    const places = this.#pull === undefined ? this.#places : [this.#pull.place];
    for (const place of places) {
      const value = await orMissing(() => client.pull(place, this.#head, this.since, signal));
      if (value !== undefined) return { place, value };
    }
    return undefined;
  }
}

/** Whether the state is reported although it was seen first: it came after the push. */
function isNews({ state, ended }: Pull, since: number): boolean {
  return state === 'conflict' || (ended !== undefined && ended >= since);
}

/** A place without such a repository has no pull request. */
async function orMissing<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ForgeTrouble && error.type === 'missing') return undefined;
    throw error;
  }
}
