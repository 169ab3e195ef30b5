// What Earshot asks a forge about a commit and its pull request, whichever forge it is.
import { type Remote } from './remotes.ts';

export interface Check {
  readonly name: string;
  readonly state: 'running' | 'passed' | 'failed' | 'cancelled';
  /** Milliseconds since 1970; undefined: not known. */
  readonly ended: number | undefined;
  readonly seconds: number | undefined;
  /** What it says about itself, in place of a log. */
  readonly summary: string;
  /** The job of a pipeline, which has a log. */
  readonly job: number | undefined;
  /** The check run, which may have annotations. */
  readonly annotated: number | undefined;
}

/** Why a check failed. All of it is text of others. */
export interface CheckDetails {
  readonly step?: string;
  /** The end of the log of the step that failed. */
  readonly lines: readonly string[];
  readonly annotations: readonly { readonly path: string; readonly line: number | undefined; readonly text: string }[];
  /** The command that prints the whole log. */
  readonly whole?: string;
}

export interface Pull {
  readonly number: number;
  readonly state: 'open' | 'draft' | 'conflict' | 'merged' | 'closed';
  /** When it was merged or closed. */
  readonly ended: number | undefined;
  /** The newest commit of its branch. */
  readonly sha: string;
  readonly url: string;
  /** By the last review of each reviewer. */
  readonly verdict: 'approved' | 'changes_requested' | 'none';
  readonly feedback: readonly Feedback[];
}

/** A review or a comment. */
export interface Feedback {
  readonly id: string;
  readonly author: string;
  readonly what: 'approved' | 'changes_requested' | 'commented';
  readonly text: string;
  readonly at: number;
  readonly path?: string;
  readonly line?: number;
}

export interface ForgeClient {
  /** Empty: there are none yet. */
  checks(repository: Repository, sha: string, signal: AbortSignal): Promise<readonly Check[]>;
  details(repository: Repository, check: Check, signal: AbortSignal): Promise<CheckDetails>;
  /** The pull request of this branch that changed last. Comments before `since` may be left out. */
  pull(repository: Repository, head: PullHead, since: number, signal: AbortSignal): Promise<Pull | undefined>;
}

/** The branch that a pull request offers, in a repository that may be a fork. */
export interface PullHead {
  readonly owner: string;
  readonly branch: string;
}

export type Repository = Pick<Remote, 'host' | 'path'>;

export function timeOf(text: string | null | undefined): number | undefined {
  const time = text === null || text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}

export function secondsBetween(from: string | null | undefined, to: string | null | undefined): number | undefined {
  const [began, ended] = [timeOf(from), timeOf(to)];
  return began === undefined || ended === undefined ? undefined : Math.max(0, Math.round((ended - began) / 1000));
}

/** The verdict of the last review of each author. */
export function verdictOf(feedback: readonly Feedback[]): Pull['verdict'] {
  const last = new Map<string, Feedback['what']>();
  for (const { author, what } of feedback) if (what !== 'commented') last.set(author, what);
  const verdicts = [...last.values()];
  if (verdicts.includes('changes_requested')) return 'changes_requested';
  return verdicts.includes('approved') ? 'approved' : 'none';
}
