// Reads checks, logs, pull requests and reviews from GitHub’s REST API.
import {
  type GitHubCheckRun,
  type GitHubPull,
  type GitHubReviews,
  githubSchemas as schemas,
  type GitHubStatus,
} from '../../protocol/outside/forge.ts';
import { lastLinesOf } from './failureLog.ts';
import { type ForgeApi, ForgeTrouble } from './forgeApi.ts';
import {
  type Check,
  type CheckDetails,
  type Feedback,
  type ForgeClient,
  type Pull,
  type Repository,
  secondsBetween,
  timeOf,
  verdictOf,
} from './forgeClient.ts';

/** Pages of 100 checks that are read. */
const MOST_PAGES = 5;
const MOST_ANNOTATIONS = 3;
const FAILED: ReadonlySet<string> = new Set(['failure', 'timed_out', 'startup_failure', 'action_required']);

export function createGitHubClient(api: ForgeApi): ForgeClient {
  const at = ({ path }: Repository, rest: string) => `repos/${path}/${rest}`;
  return {
    checks: async (repository, sha, signal) => {
      const runs: GitHubCheckRun[] = [];
      for (let page = 1; page <= MOST_PAGES; page += 1) {
        const path = at(repository, `commits/${sha}/check-runs?filter=latest&per_page=100&page=${page}`);
        const { total_count: total, check_runs: more } = await api.get(path, schemas.checkRuns, signal);
        runs.push(...more);
        if (runs.length >= total || more.length === 0) break;
      }
      const path = at(repository, `commits/${sha}/status?per_page=100`);
      const { statuses } = await api.get(path, schemas.status, signal);
      return [...runs.map(asCheck), ...statuses.map(asStatus)];
    },
    details: (repository, check, signal) => details(api, (rest) => at(repository, rest), repository, check, signal),
    pull: async (repository, { owner, branch }, since, signal) => {
      const head = encodeURIComponent(`${owner}:${branch}`);
      const query = `pulls?head=${head}&state=all&sort=updated&direction=desc&per_page=1`;
      const [newest] = await api.get(at(repository, query), schemas.pulls, signal);
      if (newest === undefined) return undefined;
      const pull = await api.get(at(repository, `pulls/${newest.number}`), schemas.pull, signal);
      const feedback = await readFeedback(api, (rest) => at(repository, rest), pull.number, since, signal);
      const ended = timeOf(pull.merged_at) ?? timeOf(pull.closed_at);
      const { number, html_url: url, head: tip } = pull;
      return { number, state: stateOf(pull), ended, sha: tip.sha, url, verdict: verdictOf(feedback), feedback };
    },
  };
}

function asCheck(run: GitHubCheckRun): Check {
  const { id, name, status, conclusion, started_at: began, completed_at: ended, output, app } = run;
  const summary = [output?.title, output?.summary].filter((one) => (one ?? '') !== '').join('\n');
  return {
    ...{ name, summary, annotated: id },
    state: status === 'completed' ? conclusionOf(conclusion ?? '') : 'running',
    ended: timeOf(ended),
    seconds: secondsBetween(began, ended),
    // A check of GitHub Actions has the id of its job.
    job: app?.slug === 'github-actions' ? id : undefined,
  };
}

function conclusionOf(conclusion: string): Check['state'] {
  if (FAILED.has(conclusion)) return 'failed';
  return conclusion === 'cancelled' || conclusion === 'stale' ? 'cancelled' : 'passed';
}

function asStatus(status: GitHubStatus): Check {
  const { context: name, state, description, created_at: began, updated_at: ended } = status;
  return {
    ...{ name, summary: description ?? '', job: undefined, annotated: undefined },
    state: state === 'success' ? 'passed' : state === 'pending' ? 'running' : 'failed',
    ended: state === 'pending' ? undefined : timeOf(ended),
    seconds: secondsBetween(began, ended),
  };
}

async function details(
  api: ForgeApi,
  at: (rest: string) => string,
  { host, path }: Repository,
  { job, annotated, summary }: Check,
  signal: AbortSignal,
): Promise<CheckDetails> {
  const notes =
    annotated === undefined
      ? []
      : await orMissing([], () =>
          api.get(at(`check-runs/${annotated}/annotations?per_page=20`), schemas.annotations, signal),
        );
  const annotations = notes
    // This one only repeats that the job failed.
    .filter(({ annotation_level: level, path: file }) => level === 'failure' && file !== '.github')
    .slice(0, MOST_ANNOTATIONS)
    .map(({ path: file, start_line: line, message }) => ({ path: file, line: line ?? undefined, text: message ?? '' }));
  const own = summary === '' ? [] : lastLinesOf(summary);
  if (job === undefined) return { lines: own, annotations };
  const found = await orMissing(undefined, () => api.get(at(`actions/jobs/${job}`), schemas.job, signal));
  const step = found?.steps?.find(({ conclusion }) => FAILED.has(conclusion ?? ''));
  const [from, to] = [timeOf(step?.started_at), timeOf(step?.completed_at)];
  const log = await orMissing('', () => api.text(at(`actions/jobs/${job}/logs`), signal));
  const inStep = from === undefined || to === undefined ? [] : lastLinesOf(log, { from, to });
  const lines = inStep.length > 0 ? inStep : lastLinesOf(log);
  const elsewhere = host === 'github.com' ? '' : `${host}/`;
  return {
    ...(step && { step: step.name }),
    lines: lines.length > 0 ? lines : own,
    annotations,
    ...(found && { whole: `gh run view ${found.run_id} -R ${elsewhere}${path} --log-failed` }),
  };
}

/** A log that has expired or is not ready yet must not keep the result back. */
async function orMissing<T>(otherwise: T, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ForgeTrouble && error.type !== 'later') return otherwise;
    throw error;
  }
}

function stateOf(pull: GitHubPull): Pull['state'] {
  if (pull.merged_at !== null && pull.merged_at !== undefined) return 'merged';
  if (pull.state !== 'open') return 'closed';
  if (pull.mergeable_state === 'dirty') return 'conflict';
  return pull.draft === true ? 'draft' : 'open';
}

const VERDICTS: Readonly<Record<string, Feedback['what']>> = {
  APPROVED: 'approved',
  CHANGES_REQUESTED: 'changes_requested',
  COMMENTED: 'commented',
};

/** Oldest first. The last page of reviews has the newest. */
async function readFeedback(
  api: ForgeApi,
  at: (rest: string) => string,
  number: number,
  since: number,
  signal: AbortSignal,
): Promise<Feedback[]> {
  const after = `since=${encodeURIComponent(`${new Date(since).toISOString().slice(0, 19)}Z`)}&per_page=100`;
  const reviews: GitHubReviews = [];
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const more = await api.get(at(`pulls/${number}/reviews?per_page=100&page=${page}`), schemas.reviews, signal);
    reviews.push(...more);
    if (more.length < 100) break;
  }
  const onLines = await api.get(at(`pulls/${number}/comments?${after}`), schemas.comments, signal);
  const others = await api.get(at(`issues/${number}/comments?${after}`), schemas.comments, signal);
  const found = [
    ...reviews.flatMap(({ id, user, state, body, submitted_at: time }): Feedback[] => {
      const what = VERDICTS[state];
      const text = body ?? '';
      // A review that only holds comments on lines is shown by these.
      if (what === undefined || (what === 'commented' && text === '')) return [];
      return [{ id: `review:${id}`, author: user?.login ?? 'ghost', what, text, at: timeOf(time) ?? 0 }];
    }),
    ...[...onLines.map((one) => ['line', one] as const), ...others.map((one) => ['comment', one] as const)].map(
      ([type, { id, user, body, created_at: time, path, line, original_line: original }]): Feedback => ({
        ...{ id: `${type}:${id}`, author: user?.login ?? 'ghost', what: 'commented', text: body ?? '' },
        at: timeOf(time) ?? 0,
        ...(typeof path === 'string' && { path }),
        ...(typeof (line ?? original) === 'number' && { line: line ?? original ?? 0 }),
      }),
    ),
  ];
  return found.sort((a, b) => a.at - b.at);
}
