// Runs the real Claude Code and the real Codex in a workspace that a window has open, with Earshot's hook installed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { glob, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { hook } from '../../../esbuild.mjs';
import { HookInstaller } from '../../../src/plugins/hook/hookInstaller.ts';
import { type HookTarget } from '../../../src/plugins/hook/hookTargets.ts';
import { provideNpmProgram } from '../../host/install/npmPrograms.mjs';
import { atTestEnd } from '../endings.ts';
import { type AgentPlace } from '../plugins/outsideAgents.ts';
import { isFull } from '../runs.ts';

const PACKAGES = {
  'claude-code': ['@anthropic-ai/claude-code', 'claude'],
  codex: ['@openai/codex', 'codex'],
} as const;

/**
 * The agent's program, in `npm run test:full`. Undefined: it cannot be installed here, for example without a network,
 * which is reported.
 */
export async function agentProgram(agent: keyof typeof PACKAGES): Promise<string | undefined> {
  if (!isFull || process.platform === 'win32') return undefined;
  const [name, program] = PACKAGES[agent];
  try {
    const folder = await provideNpmProgram(name);
    for await (const found of glob(`${name}-*/**/${program}`, { cwd: folder })) return join(folder, found);
    throw new Error(`there is no program for ${process.platform}-${process.arch}`);
  } catch (error) {
    process.stderr.write(`Tests with the real ${agent} are skipped: ${String(error)}\n`);
    return undefined;
  }
}

/** Installs the built hook in the settings of the folder or the user, as the command in VS Code does. */
export async function installHook(
  { home, folder }: AgentPlace,
  agent: HookTarget['agent'],
  scope: HookTarget['scope'],
): Promise<{ readonly installer: HookInstaller; readonly target: HookTarget }> {
  const built = await mkdtemp(join(tmpdir(), 'earshot-hook-'));
  atTestEnd(() => rm(built, { recursive: true, force: true }));
  await build({ ...hook, outdir: built, logLevel: 'error', sourcemap: false });
  const program = join(built, 'notifications-hook.js');
  const installer = new HookInstaller({ home, folder, program, node: JSON.stringify(process.execPath) });
  const target = installer.targets.find((one) => one.agent === agent && one.scope === scope);
  if (target === undefined) throw new Error(`no settings of ${agent}`);
  const plan = await installer.plan(target, 'install');
  if (!plan.ok) throw new Error(plan.failure.message);
  for (const done of [await installer.copyProgram(), await installer.apply(plan.value)]) {
    if (!done.ok) throw new Error(done.failure.message);
  }
  return { installer, target };
}

interface AgentRun {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Runs the agent to its end, in the workspace and with the home folder of the window. */
async function runAgent({ home, folder }: AgentPlace, { program, args, env }: AgentRun) {
  const own = { PATH: process.env['PATH'] ?? '', HOME: home, EARSHOT_HOME: home };
  const child = spawn(program, args, { cwd: folder, env: { ...own, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  atTestEnd(async () => void child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

const CLAUDE_ARGUMENTS = ['--model', 'claude-test', '--allowedTools', 'Read,Edit,Write,Bash'];

function claudeEnvironment({ home }: AgentPlace, url: string) {
  return {
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'test',
    CLAUDE_CONFIG_DIR: join(home, '.claude'),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
  };
}

export function runClaude(place: AgentPlace, program: string, url: string) {
  const args = ['-p', 'Serve the drinks.', ...CLAUDE_ARGUMENTS];
  return runAgent(place, { program, args, env: claudeEnvironment(place, url) });
}

/** A session that stays open, as the vendor's SDK starts it. */
export function startClaude(place: AgentPlace, program: string, url: string) {
  const { home, folder } = place;
  const args = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'];
  const own = { PATH: process.env['PATH'] ?? '', HOME: home, EARSHOT_HOME: home, CLAUDE_CODE_ENTRYPOINT: 'sdk-ts' };
  const child = spawn(program, [...args, ...CLAUDE_ARGUMENTS], {
    ...{ cwd: folder, env: { ...own, ...claudeEnvironment(place, url) }, stdio: ['pipe', 'pipe', 'inherit'] as const },
  });
  atTestEnd(async () => void child.kill('SIGKILL'));
  let [results, seen, waiting] = [0, 0, () => undefined as void];
  createInterface({ input: child.stdout }).on('line', (line) => {
    if ((JSON.parse(line) as { type?: string }).type !== 'result') return;
    results += 1;
    waiting();
  });
  return {
    say: (content: string) => {
      const message = { type: 'user', message: { role: 'user', content } };
      child.stdin.write(`${JSON.stringify(message)}\n`);
    },
    /** Resolves once its next turn has ended. */
    idle: async () => {
      while (results === seen) await new Promise<void>((resolve) => (waiting = resolve));
      seen += 1;
    },
    end: () => child.stdin.end(),
  };
}

/** `trusts`: hooks run as if the user had reviewed and trusted them. */
export function runCodex(place: AgentPlace, program: string, { url, trusts }: { url: string; trusts: boolean }) {
  const provider = `{name="test",base_url="${url}/v1",wire_api="responses",env_key="TEST_KEY"}`;
  const args = [
    ...['exec', '--skip-git-repo-check', '--sandbox', 'danger-full-access', '--model', 'gpt-5.5'],
    ...['-c', `model_providers.test=${provider}`, '-c', 'model_provider="test"'],
    ...(trusts ? ['--dangerously-bypass-hook-trust'] : []),
    'Serve the drinks.',
  ];
  return runAgent(place, { program, args, env: { TEST_KEY: 'test', CODEX_HOME: join(place.home, '.codex') } });
}

/** Keeps two cores busy until the end of the test. */
export function loadCpu(): void {
  for (const child of [0, 1].map(() => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }))) {
    atTestEnd(async () => void child.kill('SIGKILL'));
  }
}
