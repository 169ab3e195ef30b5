// Reads pipelines, logs, merge requests and notes from GitLab’s REST API.
import { type GitLabMergeRequest, gitlabSchemas as schemas } from '../../protocol/outside/forge.ts';
import { lastLinesOf } from './failureLog.ts';
import { type ForgeApi } from './forgeApi.ts';
import {
  type Check,
  type Feedback,
  type ForgeClient,
  type Pull,
  type Repository,
  secondsBetween,
  timeOf,
  verdictOf,
} from './forgeClient.ts';

const ENDED: Readonly<Record<string, Check['state']>> = {
  success: 'passed',
  failed: 'failed',
  canceled: 'cancelled',
  skipped: 'passed',
  // Waits for a person, who may never start it.
  manual: 'passed',
};

export function createGitLabClient(api: ForgeApi): ForgeClient {
  const at = ({ path }: Repository, rest: string) => `projects/${encodeURIComponent(path)}/${rest}`;
  return {
    checks: async (repository, sha, signal) => {
      const query = `pipelines?sha=${sha}&order_by=id&sort=desc&per_page=1`;
      const [pipeline] = await api.get(at(repository, query), schemas.pipelines, signal);
      if (pipeline === undefined) return [];
      const jobs = await api.get(at(repository, `pipelines/${pipeline.id}/jobs?per_page=100`), schemas.jobs, signal);
      return jobs.map(
        ({ id, name, stage, status, started_at: began, finished_at: ended, allow_failure: optional }) => ({
          name: `${stage} / ${name}`,
          state: status === 'failed' && optional === true ? 'passed' : (ENDED[status] ?? 'running'),
          ended: timeOf(ended),
          seconds: secondsBetween(began, ended),
          ...{ summary: '', job: id, annotated: undefined },
        }),
      );
    },
    details: async (repository, { job = 0 }, signal) => ({
      lines: lastLinesOf(await api.text(at(repository, `jobs/${job}/trace`), signal)),
      annotations: [],
      whole: `glab ci trace ${job} -R ${repository.path}`,
    }),
    pull: async (repository, { branch }, since, signal) => {
      const query = `merge_requests?source_branch=${encodeURIComponent(branch)}&state=all&order_by=updated_at&per_page=1`;
      const [found] = await api.get(at(repository, query), schemas.mergeRequests, signal);
      if (found === undefined) return undefined;
      const { iid: number, merged_at: merged, closed_at: closed, sha, web_url: url } = found;
      const inside = (rest: string) => at(repository, `merge_requests/${number}/${rest}`);
      const approvals = await api.get(inside('approvals'), schemas.approvals, signal);
      const notes = await api.get(inside('notes?sort=desc&per_page=100'), schemas.notes, signal);
      const feedback = notes
        .flatMap(({ id, author, body, system, created_at: time, position }): Feedback[] => {
          const when = timeOf(time) ?? 0;
          const text = body ?? '';
          const what = verdictIn(system, text);
          if (what === undefined || when < since) return [];
          return [
            {
              ...{ id: `note:${id}`, author: author?.username ?? 'ghost', what, at: when },
              text: system ? '' : text,
              ...(typeof position?.new_path === 'string' && { path: position.new_path }),
              ...(typeof position?.new_line === 'number' && { line: position.new_line }),
            },
          ];
        })
        .sort((a, b) => a.at - b.at);
      const last = verdictOf(feedback);
      const isApproved = approvals.approved === true && (approvals.approved_by?.length ?? 0) > 0;
      const verdict = last === 'changes_requested' ? last : isApproved ? 'approved' : 'none';
      const ended = timeOf(merged) ?? timeOf(closed);
      return { number, state: stateOf(found), ended, sha: sha ?? '', url, verdict, feedback };
    },
  };
}

/** Approvals are notes of the system; its other notes are about labels, commits and the like. */
function verdictIn(system: boolean, text: string): Feedback['what'] | undefined {
  if (!system) return 'commented';
  if (/^approved this merge request/.test(text)) return 'approved';
  return /^requested changes/.test(text) ? 'changes_requested' : undefined;
}

function stateOf(found: GitLabMergeRequest): Pull['state'] {
  if (found.state === 'merged') return 'merged';
  if (found.state === 'closed' || found.state === 'locked') return 'closed';
  if (found.has_conflicts === true) return 'conflict';
  return found.draft === true ? 'draft' : 'open';
}
