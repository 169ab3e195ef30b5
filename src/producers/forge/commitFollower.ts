// Follows the checks of one commit and reports their end to the conversations that it concerns, each result once.
import { type Publisher } from '../../core/ports/ports.ts';
import { type LiveConversations } from '../../core/ports/producers.ts';
import { type ForgeState } from '../../core/wakes/forgeFacts.ts';
import { type FollowedCommit } from '../../protocol/forge/followedCommit.ts';
import { ForgeTrouble } from './forgeApi.ts';
import { type Check, type ForgeClient, type Repository } from './forgeClient.ts';
import { commitSubject, draftCiFailed, draftCiPassed, quote } from './forgeReports.ts';

const KINDS = { failed: { source: 'ci', name: 'failed' }, passed: { source: 'ci', name: 'passed' } } as const;

/** While checks run; after a while more slowly. */
const EVERY = 20_000;
const LATER_EVERY = 60_000;
const QUICK_FOR = 10 * 60_000;
/** A re-run may change the result. */
const AFTER_END_EVERY = 90_000;
/** A commit that has no checks by then has none. */
const NONE_AFTER = 2 * 60_000;
/** Other checks may fail soon after the first. */
const AFTER_FIRST_FAILURE = 30_000;
/** Failed checks that are described; others are named. */
const MOST_DESCRIBED = 2;
const LONGEST_RESULT = 1000;

export interface CommitDeps {
  readonly publisher: Publisher;
  readonly live: LiveConversations;
  /** How many commits HEAD is ahead of it. */
  moved(sha: string): Promise<number | undefined>;
}

export interface Concerned {
  readonly conversation: string;
  readonly commit: FollowedCommit;
  /** When the conversation first followed one of the branch, in milliseconds since 1970. */
  readonly since: number;
}

export class CommitFollower {
  readonly subject: string;
  readonly #repository: Repository;
  readonly #sha: string;
  /** When it was pushed; undefined: it is not known to be. */
  #pushed: number | undefined;
  /** When checks were first seen running. */
  #running: number | undefined;
  #checks: readonly Check[] | undefined;
  #trouble: ForgeTrouble | undefined;
  /** The next moment at which it is looked at. */
  next = 0;
  /** The commit that replaced it, and when. */
  superseded: { readonly sha: string; readonly at: number } | undefined;

  constructor(repository: Repository, sha: string) {
    this.#repository = repository;
    this.#sha = sha;
    this.subject = commitSubject({ repository: `${repository.host}/${repository.path}`, sha });
  }

  /** What the user has to do before anything is known. */
  get needs(): string | undefined {
    return this.#trouble?.type === 'setUp' ? this.#trouble.message : undefined;
  }

  /** Called with the time of a push. */
  pushedAt(at: number): void {
    if (this.#pushed === undefined || at > this.#pushed) this.next = 0;
    this.#pushed = Math.max(at, this.#pushed ?? 0);
  }

  get isOver(): boolean {
    return this.#checks?.every(({ state }) => state !== 'running') === true && this.#checks.length > 0;
  }

  /** For conditions. `now`: milliseconds since 1970. */
  state(now: number): ForgeState {
    if (this.#trouble !== undefined) return { unknown: this.#trouble.message };
    const checks = this.#checks ?? [];
    if (checks.length === 0 && this.#pushed === undefined) return {};
    const failed = checks.filter(({ state }) => state === 'failed').map(({ name }) => quote(name));
    const ended = checks.filter(({ state }) => state !== 'running').length;
    return { checks: { total: checks.length, ended, failed, none: this.#hasNone(now) } };
  }

  /** Returns whether the result has changed. */
  async look(client: ForgeClient, now: number, signal: AbortSignal): Promise<boolean> {
    const before = JSON.stringify(this.state(now));
    this.next = now + EVERY;
    try {
      this.#checks = await client.checks(this.#repository, this.#sha, signal);
      this.#trouble = undefined;
      if (this.#checks.some(({ state }) => state === 'running')) this.#running ??= now;
      else this.#running = undefined;
      this.next = now + this.#wait(now);
    } catch (error) {
      if (!(error instanceof ForgeTrouble)) throw error;
      // What is not on the forge has no checks.
      if (error.type === 'missing') this.#checks = [];
      this.#trouble = error.type === 'missing' ? undefined : error;
      this.next = now + (error.type === 'missing' ? this.#wait(now) : LATER_EVERY);
    }
    return JSON.stringify(this.state(now)) !== before;
  }

  async report(
    { publisher, live, moved }: CommitDeps,
    client: ForgeClient,
    concerned: readonly Concerned[],
    now: number,
    signal: AbortSignal,
  ): Promise<void> {
    const checks = this.#checks ?? [];
    if (this.#trouble !== undefined || this.superseded !== undefined || checks.length === 0) return;
    const failed = checks.filter(({ state }) => state === 'failed');
    const isRunning = checks.some(({ state }) => state === 'running');
    if (failed.length === 0 && isRunning) return;
    const names = failed.map(({ name }) => name).sort();
    const result = failed.length === 0 ? 'passed' : `failed: ${names.join(', ')}`.slice(0, LONGEST_RESULT);
    const open = concerned.filter(({ conversation }) => {
      const reported = live.commits(conversation)?.reported(this.subject);
      if (reported === result) return false;
      // The first failures are reported before the end, further ones together at the end.
      return !isRunning || (reported === undefined && now >= this.#firstFailure(failed, now) + AFTER_FIRST_FAILURE);
    });
    if (open.length === 0) return;
    const described = await Promise.all(
      failed
        .slice(0, MOST_DESCRIBED)
        .map(async (check) => [check, await client.details(this.#repository, check, signal)] as const),
    );
    const ahead = await moved(this.#sha);
    for (const { conversation, commit } of open) {
      const report = { commit, conversation, now, moved: ahead };
      const [kind, other] = failed.length === 0 ? (['passed', 'failed'] as const) : (['failed', 'passed'] as const);
      const draft =
        kind === 'failed' ? draftCiFailed(report, checks, described, result) : draftCiPassed(report, checks, result);
      await publisher.withdraw(KINDS[other], this.subject, 'the checks ran again', conversation);
      await publisher.publish(draft, conversation);
    }
  }

  #hasNone(now: number): boolean {
    return this.#checks?.length === 0 && this.#pushed !== undefined && now - this.#pushed >= NONE_AFTER;
  }

  #wait(now: number): number {
    const failed = this.#checks?.filter(({ state }) => state === 'failed') ?? [];
    if (this.#running !== undefined) {
      const usual = now - this.#running < QUICK_FOR ? EVERY : LATER_EVERY;
      const left = this.#firstFailure(failed, now) + AFTER_FIRST_FAILURE - now;
      return failed.length > 0 && left > 0 ? Math.min(usual, left) : usual;
    }
    if (this.#hasNone(now)) return LATER_EVERY;
    return this.#checks?.length === 0 ? EVERY : AFTER_END_EVERY;
  }

  /** When the first of them failed, as the forge says, which survives a restart. */
  #firstFailure(failed: readonly Check[], now: number): number {
    return Math.min(now, ...failed.map(({ ended }) => ended ?? now));
  }
}

/** Withdraws what is not delivered of a commit that was replaced. `to`: for one conversation. */
export async function withdrawResults(subject: string, publisher: Publisher, to?: string): Promise<void> {
  const reason = 'a later push replaced the commit';
  for (const kind of Object.values(KINDS)) await publisher.withdraw(kind, subject, reason, to);
}
