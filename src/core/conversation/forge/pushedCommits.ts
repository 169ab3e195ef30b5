// Projects which commits a conversation follows, what was reported of them, and when its own calls could run git.
import { type EventOf, type LogEvent } from '../../../protocol/event.ts';
import { type FollowedCommit, forgeDataSchema } from '../../../protocol/forge/followedCommit.ts';
import { handleInScope } from '../../../protocol/scopes.ts';

/** A followed commit; `since`: when the conversation first followed one of this branch, in milliseconds since 1970. */
export interface Followed extends FollowedCommit {
  readonly since: number;
}

interface GitCall {
  readonly started: number;
  /** Undefined while it runs. */
  ended?: number;
  /** Set once it is a background command. */
  handle?: string;
}

/** Branches that one conversation follows. */
const MOST_BRANCHES = 20;
const MOST_REVIEWS = 5000;
const MOST_CALLS = 200;
/** A background command whose end nobody noticed. */
const LONGEST_CALL = 3600_000;
/** The logs of git have whole seconds. */
const SLACK = 2000;
const NAMES_GIT = /\b(?:git|gh|glab|hub|jj)\b/;
/** Such as a tool of an MCP server. */
const TOOL_OF_GIT = /git|push|commit/;
const SOURCES: ReadonlySet<string> = new Set(['ci', 'review', 'pr']);

export class PushedCommits {
  /** By repository and branch. */
  readonly #followed = new Map<string, Followed>();
  readonly #reported = new Map<string, string>();
  readonly #reviews = new Set<string>();
  readonly #calls = new Map<string, GitCall>();
  #isListener = false;

  /** It is the log of an outside agent, of whose calls only those are known that its hook reports. */
  get isListener(): boolean {
    return this.#isListener;
  }

  get followed(): readonly Followed[] {
    return [...this.#followed.values()];
  }

  /** The state of this subject that was reported last. */
  reported(subject: string): string | undefined {
    return this.#reported.get(subject);
  }

  isKnownReview(id: string): boolean {
    return this.#reviews.has(id);
  }

  /** Whether a call of the conversation that names git ran at this time. */
  ranGit(at: number): boolean {
    return [...this.#calls.values()].some(
      ({ started, ended = started + LONGEST_CALL }) => at >= started - SLACK && at <= ended + SLACK,
    );
  }

  fold(event: LogEvent): void {
    switch (event.type) {
      case 'listener_started':
        this.#isListener = true;
        return;
      case 'commit_followed':
        return this.#follow(event);
      case 'git_ran':
        return this.#ran(event);
      case 'tool_call_request': {
        const { command = '' } = event.arguments;
        if (!TOOL_OF_GIT.test(event.name) && !(typeof command === 'string' && NAMES_GIT.test(command))) return;
        this.#calls.set(event.id, { started: Date.parse(event.timestamp) });
        return drop(this.#calls, MOST_CALLS);
      }
      case 'handle_started': {
        const call = this.#calls.get(event.tool_call_id);
        if (call !== undefined) call.handle = event.name;
        return;
      }
      case 'tool_call_response': {
        const call = this.#calls.get(event.id);
        if (call !== undefined && call.handle === undefined) call.ended = Date.parse(event.timestamp);
        return;
      }
      case 'notification_queued': {
        const { kind, subject = '', data, at } = event.notification;
        if (kind.source === 'tool') return this.#ended(handleInScope(subject), Date.parse(at));
        if (!SOURCES.has(kind.source)) return;
        const read = forgeDataSchema.safeParse(data);
        if (!read.success) return;
        if (read.data.result !== undefined) this.#reported.set(subject, read.data.result);
        for (const id of read.data.reviews ?? []) this.#reviews.add(id);
        drop(this.#reviews, MOST_REVIEWS);
        return;
      }
      case 'forked':
        // The results go to the conversation that made the commits.
        this.#followed.clear();
        this.#calls.clear();
        return;
      default:
        return;
    }
  }

  /** A push may have been found before the command that pushed has ended. */
  #ran({ event_id: id, since, timestamp }: EventOf<'git_ran'>): void {
    this.#calls.set(id, { started: Date.parse(since), ended: Date.parse(timestamp) });
    drop(this.#calls, MOST_CALLS);
    for (const [key, commit] of this.#followed) {
      const isOwn = commit.by === 'folder' && this.ranGit(Date.parse(commit.at));
      if (isOwn) this.#followed.set(key, { ...commit, by: 'pushed' });
    }
  }

  #follow({ repository, branch, sha, at, by, title }: FollowedCommit): void {
    const key = JSON.stringify([repository, branch]);
    const since = this.#followed.get(key)?.since ?? Date.parse(at);
    this.#followed.delete(key);
    this.#followed.set(key, { repository, branch, sha, at, by, since, ...(title !== undefined && { title }) });
    drop(this.#followed, MOST_BRANCHES);
  }

  #ended(handle: string | undefined, at: number): void {
    if (handle === undefined) return;
    for (const call of this.#calls.values()) if (call.handle === handle) call.ended ??= at;
  }
}

/** Removes the oldest. */
function drop(from: Map<string, unknown> | Set<string>, most: number): void {
  for (const key of from.keys()) {
    if (from.size <= most) return;
    from.delete(key);
  }
}
