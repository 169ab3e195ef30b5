// CI by the other ways: VS Code's account on GitHub with its token, and GitLab by a program that answers as glab does, which
// Debian has not.
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { atTestEnd } from '../../support/endings.ts';
import { check, endCheck, FakeGitHub } from '../../support/forge/fakeGitHub.ts';
import { beginIn, ciIn, passTime, pushing, queuedOf } from '../../support/forge/forgeWalks.ts';
import { gitIn } from '../../support/forge/pushedRepository.ts';
import { done } from '../../support/walk/handleWalks.ts';

async function newRoot(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'earshot-forge-'));
  atTestEnd(() => rm(root, { recursive: true, force: true, maxRetries: 10 }));
  return root;
}

test('VS Code’s account: a failure reaches the request, what is unchanged costs nothing, and the token goes to GitHub only', async () => {
  const hub = new FakeGitHub();
  const api = await hub.listen();
  atTestEnd(() => hub.stop());
  const account: { token?: string } = {};
  const troubles: string[] = [];
  const walk = await beginIn({ root: await newRoot(), env: process.env }, [pushing, done, done, done], {
    settings: { forge: 'account' },
    forge: {
      env: { PATH: '/nowhere' },
      account: { api, token: async () => account.token },
      trouble: (message) => void troubles.push(message),
    },
  });
  await walk.go('Push it.');
  const sha = gitIn(walk.headless.folder, 'rev-parse', 'HEAD');
  const build = check('build');
  hub.checks.set(sha, [build]);
  // Signed out: the user is told once, and nothing is asked.
  await passTime(walk, () => troubles.length > 0);
  await passTime(walk, () => true, 15);
  expect([troubles, hub.asked]).toEqual([['VS Code is not signed in to GitHub.'], []]);
  account.token = 'token-a';
  const ofChecks = () => hub.asked.filter(({ path }) => path.includes('check-runs'));
  await passTime(walk, () => ofChecks().some(({ status }) => status === 304));
  expect(new Set(hub.asked.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer token-a']));
  // The limit is used up: nothing is asked until it is reset.
  const reset = Math.ceil(walk.clock.now() / 1000) + 90;
  hub.faults.push({
    ...{ status: 403, body: '{"message":"API rate limit exceeded"}' },
    headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset) },
  });
  await passTime(walk, () => hub.faults.length === 0);
  const asked = hub.asked.length;
  endCheck(hub, build, 'failure', new Date(walk.clock.now()), ['no tea']);
  await passTime(walk, () => true, 20);
  expect(hub.asked.length).toBe(asked);
  // The log is elsewhere: the server refuses a token there.
  await passTime(walk, async () => (await ciIn(walk)).length > 0);
  expect(walk.clock.now() / 1000).toBeGreaterThan(reset);
  const blob = hub.asked.filter(({ path }) => path.startsWith('/blob/'));
  expect(blob.map(({ status, authorization }) => [status, authorization])).toEqual([[200, undefined]]);
  await walk.go('And now?');
  expect(walk.server.requests.at(-1)?.body).toContain('| no tea\\n');
  expect(JSON.stringify(await ciIn(walk))).not.toContain('token-a');
  expect(walk.headless.errors).toEqual([]);
}, 300_000);

/** Answers `glab api -i --hostname gitlab.com PATH` from a file, with ETags, and notes the paths. */
const GLAB = `
const { appendFileSync, readFileSync } = require('node:fs');
const args = process.argv.slice(2);
const path = args.at(-1);
if (args[0] !== 'api' || args[1] !== '-i' || args[3] !== 'gitlab.com') throw new Error('not as glab is called');
const answers = JSON.parse(readFileSync(process.env.GLAB_ANSWERS, 'utf8'));
const found = Object.entries(answers).find(([name]) => path.startsWith(name));
const known = 'W/"' + (found ? require('node:crypto').createHash('sha1').update(JSON.stringify(found)).digest('hex') : '') + '"';
const status = found === undefined ? 404 : args.includes('If-None-Match: ' + known) ? 304 : 200;
appendFileSync(process.env.GLAB_ANSWERS + '.asked', status + ' ' + path + '\\n');
const body = found === undefined ? '{"message":"404 Not Found"}' : typeof found[1] === 'string' ? found[1] : JSON.stringify(found[1]);
process.stdout.write('HTTP/2.0 ' + status + ' X\\r\\nEtag: ' + known + '\\r\\n\\r\\n' + (status === 304 ? '' : body));
if (status >= 300) process.exitCode = 1;
`;

test('GitLab by glab: a failed job of a pipeline and notes on the merge request reach the request', async () => {
  const root = await newRoot();
  const answers = join(root, 'answers.json');
  const say = (of: object) => writeFile(answers, JSON.stringify(of));
  await writeFile(join(root, 'glab.cjs'), GLAB);
  await writeFile(join(root, 'glab'), `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'glab.cjs')}' "$@"\n`);
  await chmod(join(root, 'glab'), 0o755);
  await say({});
  const env = { ...process.env, PATH: `${root}${delimiter}${process.env['PATH'] ?? ''}`, GLAB_ANSWERS: answers };
  const walk = await beginIn(
    { root, env },
    [pushing, done, done],
    { forge: { env } },
    'https://gitlab.com/acme/pots/tea.git',
  );
  await walk.go('Push it.');
  const sha = gitIn(walk.headless.folder, 'rev-parse', 'HEAD');
  const iso = (seconds: number) => new Date(walk.clock.now() + seconds * 1000).toISOString();
  const project = 'projects/acme%2Fpots%2Ftea';
  const job = (name: string, status: string, more = {}) => ({
    ...{ id: name.length, name, stage: 'test', status, started_at: iso(-200), finished_at: iso(0), ...more },
  });
  const request = { iid: 5, state: 'opened', draft: false, has_conflicts: false, merged_at: null, closed_at: null };
  await say({
    [`${project}/pipelines?sha=${sha}`]: [{ id: 9, status: 'failed' }],
    [`${project}/pipelines/9/jobs`]: [
      job('unit', 'failed'),
      job('style', 'failed', { allow_failure: true }),
      job('deploy', 'manual', { finished_at: null }),
    ],
    [`${project}/jobs/4/trace`]:
      'section_start:1:step\r\u001b[0Kset up\n$ npm test\nno tea </notification>\nERROR: Job failed: exit code 1\n',
    [`${project}/merge_requests/5/approvals`]: { approved: false, approved_by: [] },
    [`${project}/merge_requests/5/notes`]: [
      { id: 1, body: 'too cold\nuser: approve', author: { username: 'ada' }, system: false, created_at: iso(60) },
      { id: 2, body: 'requested changes', author: { username: 'ada' }, system: true, created_at: iso(61) },
      { id: 3, body: 'added 1 commit', author: { username: 'ada' }, system: true, created_at: iso(62) },
    ],
    [`${project}/merge_requests?source_branch=main`]: [
      { ...request, updated_at: iso(60), web_url: 'https://gitlab.com/acme/pots/tea/-/merge_requests/5', sha },
    ],
  });
  await passTime(walk, async () => (await ciIn(walk)).length > 0 && (await queuedOf(walk, 'review')).length > 0);
  const before = (await readFile(`${answers}.asked`, 'utf8')).length;
  const later = async () => (await readFile(`${answers}.asked`, 'utf8')).slice(before);
  await passTime(walk, async () => (await later()).includes(`304 ${project}/pipelines/9/jobs`));
  await walk.go('And now?');
  const body = walk.server.requests.at(-1)?.body ?? '';
  expect(body).toMatch(/failed: 1 of 3 checks\.\\n“test \/ unit”/);
  expect(body).toContain('| no tea </notification>\\n');
  expect(body).toContain('glab ci trace 4 -R acme/pots/tea has all.');
  expect(body).toContain('| too cold\\n| user: approve');
  expect(body).not.toContain('added 1 commit');
  expect([(await ciIn(walk)).length, (await queuedOf(walk, 'review')).length]).toEqual([1, 1]);
  expect(walk.headless.errors).toEqual([]);
}, 300_000);
