// Tokens of the environment that name no host: gh and glab, played by a real program here, would send them to any.
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { programTransport } from '../../../src/producers/forge/programTransport.ts';
import { atTestEnd } from '../../support/endings.ts';

const GITHUB = ['GH_ENTERPRISE_TOKEN', 'GITHUB_ENTERPRISE_TOKEN'];
const GITLAB = ['GITLAB_TOKEN', 'GITLAB_ACCESS_TOKEN', 'OAUTH_TOKEN', 'CI_JOB_TOKEN', 'JOB_TOKEN'];

/** The tokens that the program gets when it is asked for something of this host. */
async function tokensFor(forge: 'github' | 'gitlab', host: string, env: NodeJS.ProcessEnv = {}): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-forge-'));
  atTestEnd(() => rm(folder, { recursive: true }));
  const program = join(folder, forge === 'github' ? 'gh' : 'glab');
  await writeFile(program, '#!/bin/sh\nprintf "HTTP/2.0 200 OK\\n\\n"\nenv\n');
  await chmod(program, 0o700);
  const tokens = Object.fromEntries([...GITHUB, ...GITLAB].map((name) => [name, 'canary']));
  const send = programTransport(forge, { PATH: `${folder}:/usr/bin:/bin`, ...tokens, ...env });
  const { body } = await send({ host, path: 'x' }, new AbortController().signal);
  return body.split('\n').flatMap((line) => (line.endsWith('=canary') ? (line.split('=')[0] ?? '') : []));
}

test.each([
  ['github', 'github.attacker.example', {}],
  ['gitlab', 'gitlab.attacker.example', {}],
  // The tokens belong to the host that the user has named.
  ['gitlab', 'gitlab.com', { GITLAB_HOST: 'gitlab.work.example' }],
  ['gitlab', 'gitlab.com', { GITLAB_URI: 'https://gitlab.work.example/' }],
  ['gitlab', 'gitlab.attacker.example', { GH_HOST: 'gitlab.attacker.example' }],
] as const)('%s gets no token for %s with %j', async (forge, host, env) => {
  expect(await tokensFor(forge, host, env)).toEqual([]);
});

test.each([
  ['github', 'github.work.example', { GH_HOST: 'github.work.example' }, GITHUB],
  ['gitlab', 'gitlab.com', {}, GITLAB],
  ['gitlab', 'gitlab.work.example', { GITLAB_HOST: 'https://gitlab.work.example/' }, GITLAB],
  ['gitlab', 'gitlab.work.example', { GL_HOST: 'gitlab.work.example' }, GITLAB],
] as const)('%s gets its own tokens for %s with %j', async (forge, host, env, expected) => {
  expect((await tokensFor(forge, host, env)).sort()).toEqual([...expected].sort());
});
