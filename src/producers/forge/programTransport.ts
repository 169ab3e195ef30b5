// Asks a forge through the user’s own `gh` or `glab`: both print an answer of the API with its status and headers.
import { parse } from 'node:path';
import { BoundedTail } from './boundedTail.ts';
import { firstUsable, placesOnPath } from '../../node/files/findProgram.ts';
import { platform } from '../../node/platform/platform.ts';
import { spawnProgram } from '../../node/processTree.ts';
import { userEnvironment } from '../../node/shellProgram.ts';
import { type ForgeAnswer, type ForgeTransport, ForgeTrouble } from './forgeApi.ts';
import { forgeHosts } from './remotes.ts';

const PROGRAMS = {
  github: { name: 'gh', full: 'GitHub CLI', signIn: 'gh auth login' },
  gitlab: { name: 'glab', full: 'GitLab CLI', signIn: 'glab auth login' },
} as const;

const LONGEST_RUN = 60_000;
const LONGEST_COMPLAINT = 2000;
/** Tokens that name no host: the program would send them to any. */
const TOKENS = {
  github: ['GH_ENTERPRISE_TOKEN', 'GITHUB_ENTERPRISE_TOKEN'],
  gitlab: ['GITLAB_TOKEN', 'GITLAB_ACCESS_TOKEN', 'OAUTH_TOKEN', 'CI_JOB_TOKEN', 'JOB_TOKEN'],
} as const;

export function programTransport(forge: keyof typeof PROGRAMS, env: NodeJS.ProcessEnv): ForgeTransport {
  const { name, full, signIn } = PROGRAMS[forge];
  return async ({ host, path, etag }, signal) => {
    const program = await firstUsable(placesOnPath(name, env['PATH']));
    if (program === undefined) {
      throw new ForgeTrouble('setUp', `${full} (${name}) is not installed, or not on the PATH.`);
    }
    const condition = etag === undefined ? [] : ['-H', `If-None-Match: ${etag}`];
    const args = ['api', '-i', '--hostname', host, ...condition, path];
    const { code, out, complaint } = await run(program, args, environmentFor(forge, host, env), signal);
    const answer = readAnswer(out);
    if (answer !== undefined) return answer;
    const isSignedOut = code === 4 || /auth login|not logged in|no token|authentication/i.test(complaint);
    if (isSignedOut) throw new ForgeTrouble('setUp', `${name} is not signed in to ${host}: run ${signIn}.`);
    throw new ForgeTrouble('later', complaint.trim().split('\n', 1)[0] || `${name} ended with ${code}`);
  };
}

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly complaint: string;
}

function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<Ran> {
  return new Promise((resolve, reject) => {
    // In no repository, whose configuration the program would read.
    const child = spawnProgram(program, args, parse(process.cwd()).root, false, env);
    const out = new BoundedTail();
    let complaint = '';
    const stop = () => platform.processes.kill(child);
    const timer = setTimeout(stop, LONGEST_RUN);
    signal.addEventListener('abort', stop, { once: true });
    child.stdout?.on('data', (chunk: Buffer) => out.add(chunk));
    child.stderr?.on('data', (chunk: Buffer) => {
      complaint = (complaint + chunk.toString()).slice(0, LONGEST_COMPLAINT);
    });
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    };
    child.once('error', (error) => {
      end();
      reject(error);
    });
    child.once('close', (code) => {
      end();
      if (code === null) reject(new ForgeTrouble('later', `${args[0] ?? ''} took longer than ${LONGEST_RUN / 1000} s`));
      else resolve({ code, out: out.text(), complaint });
    });
    if (signal.aborted) stop();
  });
}

/** The tokens go to the host that the environment names; without one, those for GitLab go to gitlab.com. */
function environmentFor(forge: keyof typeof PROGRAMS, host: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const quiet = {
    GH_PROMPT_DISABLED: '1',
    GH_NO_UPDATE_NOTIFIER: '1',
    NO_COLOR: '1',
    NO_PROMPT: '1',
    GLAB_CHECK_UPDATE: 'false',
  };
  const named = forgeHosts(env)[forge] ?? (forge === 'gitlab' ? 'gitlab.com' : undefined);
  const own: readonly string[] = host === named ? TOKENS[forge] : [];
  const all: readonly string[] = [...TOKENS.github, ...TOKENS.gitlab];
  const withheld = new Set(all.filter((name) => !own.includes(name)));
  const others = Object.entries(userEnvironment(env)).filter(([name]) => !withheld.has(name));
  return { ...Object.fromEntries(others), ...quiet };
}

/** Undefined: it does not begin like an answer of a server. */
function readAnswer(text: string): ForgeAnswer | undefined {
  const status = /^HTTP\/[\d.]+ (\d{3})/.exec(text)?.[1];
  if (status === undefined) return undefined;
  const end = /\r?\n\r?\n/.exec(text);
  const head = end === null ? text : text.slice(0, end.index);
  const headers: Record<string, string> = {};
  for (const line of head.split('\n').slice(1)) {
    const colon = line.indexOf(':');
    if (colon > 0) headers[line.slice(0, colon).trim().toLowerCase()] = line.slice(colon + 1).trim();
  }
  return { status: Number(status), headers, body: end === null ? '' : text.slice(end.index + end[0].length) };
}
