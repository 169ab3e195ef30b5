// A real repository whose remote is named like one of GitHub and leads to a bare one on disk, and the real gh for it.
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { atTestEnd } from '../endings.ts';
import { FakeGitHub } from './fakeGitHub.ts';

const AUTHOR = {
  GIT_CONFIG_GLOBAL: devNull,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'A',
  GIT_COMMITTER_EMAIL: 'a@example.com',
};

export function gitIn(folder: string, ...args: readonly string[]): string {
  const env = { ...process.env, ...AUTHOR };
  return execFileSync('git', ['-C', folder, ...args], { env, stdio: 'pipe', encoding: 'utf8' }).trim();
}

/** The folder gets a first commit on the branch main, which is pushed. */
export async function makePushedRepository(
  folder: string,
  bare: string,
  remote = 'https://github.com/acme/tea.git',
): Promise<void> {
  await mkdir(folder, { recursive: true });
  gitIn(folder, 'init', '--quiet');
  gitIn(folder, 'symbolic-ref', 'HEAD', 'refs/heads/main');
  execFileSync('git', ['init', '--quiet', '--bare', bare], { stdio: 'pipe' });
  gitIn(folder, 'config', 'user.name', 'A');
  gitIn(folder, 'config', 'user.email', 'a@example.com');
  gitIn(folder, 'remote', 'add', 'origin', remote);
  gitIn(folder, 'config', `url.${bare}.insteadOf`, remote);
  await writeFile(join(folder, 'a.txt'), 'one\n');
  gitIn(folder, 'add', '.');
  gitIn(folder, 'commit', '--quiet', '-m', 'begin');
  gitIn(folder, 'push', '--quiet', '-u', 'origin', 'main');
}

/** The environment of a `gh` that is signed in and asks the server on this socket. */
function ghEnvironment(config: string, socket: string, token = 'token-a'): NodeJS.ProcessEnv {
  const { PATH } = process.env;
  const env = { PATH, HOME: config, GH_CONFIG_DIR: config, GH_TOKEN: token };
  execFileSync('gh', ['config', 'set', 'http_unix_socket', socket], { env, stdio: 'pipe' });
  return env;
}

export interface ForgeWorld {
  readonly hub: FakeGitHub;
  readonly root: string;
  readonly socket: string;
  /** Of the real gh. */
  readonly env: NodeJS.ProcessEnv;
}

export async function startForge(): Promise<ForgeWorld> {
  const root = await mkdtemp(join(tmpdir(), 'earshot-forge-'));
  atTestEnd(() => rm(root, { recursive: true, force: true, maxRetries: 10 }));
  const hub = new FakeGitHub();
  const socket = join(root, 'hub.sock');
  await hub.listen(socket);
  atTestEnd(() => hub.stop());
  await mkdir(join(root, 'gh'));
  return { hub, root, socket, env: ghEnvironment(join(root, 'gh'), socket) };
}
