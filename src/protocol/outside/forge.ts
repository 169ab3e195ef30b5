// What the APIs of GitHub and GitLab answer, as far as Earshot reads it: all other fields are dropped.
import * as z from 'zod';

const text = z.string().max(100_000);
const optionalText = text.nullish();
const time = z.iso.datetime({ offset: true }).nullish();
const author = z.object({ login: z.string().max(200) }).nullish();

const checkRun = z.object({
  id: z.int(),
  name: text,
  status: text,
  conclusion: optionalText,
  started_at: time,
  completed_at: time,
  details_url: optionalText,
  app: z.object({ slug: optionalText }).nullish(),
  output: z.object({ title: optionalText, summary: optionalText }).nullish(),
});
export type GitHubCheckRun = z.infer<typeof checkRun>;

/** By what they answer. */
export const githubSchemas = {
  checkRuns: z.object({ total_count: z.int(), check_runs: z.array(checkRun) }),
  status: z.object({
    statuses: z.array(
      z.object({
        context: text,
        state: text,
        description: optionalText,
        target_url: optionalText,
        created_at: time,
        updated_at: time,
      }),
    ),
  }),
  job: z.object({
    run_id: z.int(),
    steps: z.array(z.object({ name: text, conclusion: optionalText, started_at: time, completed_at: time })).nullish(),
  }),
  annotations: z.array(
    z.object({ path: text, start_line: z.int().nullish(), annotation_level: optionalText, message: optionalText }),
  ),
  pulls: z.array(z.object({ number: z.int(), updated_at: time })),
  pull: z.object({
    number: z.int(),
    state: text,
    draft: z.boolean().nullish(),
    mergeable_state: optionalText,
    merged_at: time,
    closed_at: time,
    html_url: text,
    head: z.object({ sha: text }),
  }),
  reviews: z.array(z.object({ id: z.int(), user: author, state: text, body: optionalText, submitted_at: time })),
  comments: z.array(
    z.object({
      id: z.int(),
      user: author,
      body: optionalText,
      created_at: time,
      path: optionalText,
      line: z.int().nullish(),
      original_line: z.int().nullish(),
    }),
  ),
} as const;

export const gitlabSchemas = {
  pipelines: z.array(z.object({ id: z.int(), status: text })),
  jobs: z.array(
    z.object({
      id: z.int(),
      name: text,
      status: text,
      stage: text,
      web_url: optionalText,
      started_at: time,
      finished_at: time,
      allow_failure: z.boolean().nullish(),
    }),
  ),
  mergeRequests: z.array(
    z.object({
      iid: z.int(),
      state: text,
      draft: z.boolean().nullish(),
      has_conflicts: z.boolean().nullish(),
      merged_at: time,
      closed_at: time,
      updated_at: time,
      web_url: text,
      sha: optionalText,
    }),
  ),
  approvals: z.object({
    approved: z.boolean().nullish(),
    approved_by: z.array(z.object({ user: z.object({ username: z.string().max(200) }) })).nullish(),
  }),
  notes: z.array(
    z.object({
      id: z.int(),
      body: optionalText,
      author: z.object({ username: z.string().max(200) }).nullish(),
      system: z.boolean(),
      created_at: time,
      position: z.object({ new_path: optionalText, new_line: z.int().nullish() }).nullish(),
    }),
  ),
} as const;

export type GitHubStatus = z.infer<typeof githubSchemas.status>['statuses'][number];
export type GitHubPull = z.infer<typeof githubSchemas.pull>;
export type GitHubReviews = z.infer<typeof githubSchemas.reviews>;
export type GitLabMergeRequest = z.infer<typeof gitlabSchemas.mergeRequests>[number];
