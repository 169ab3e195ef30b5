// A folder changes hands between earshot-ears and windows while events of MCP servers and results of CI come in: each
// reaches the agent's log exactly once, although only the settings of earshot-ears ask for the events.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { compileCache } from '../../support/compileCache.ts';
import { atTestEnd } from '../../support/endings.ts';
import { check, endCheck } from '../../support/forge/fakeGitHub.ts';
import { gitIn, makePushedRepository, startForge } from '../../support/forge/pushedRepository.ts';
import { eventPlace, eventServer } from '../../support/mcp/eventWalks.ts';
import { allowEars, type EarsWorld, makeEarsWorld, queuedFor, untilWatched } from '../../support/plugins/ears.ts';
import { useTool } from '../../support/plugins/outsideAgents.ts';
import { runs } from '../../support/runs.ts';

const HANDOVERS = runs(1, 6);
const EMIT_EVERY = 100;
const program = resolve(import.meta.dirname, '../../support/plugins/listeningWindow.ts');

async function startWindow(
  { root, home }: EarsWorld,
  settings: object,
  env: NodeJS.ProcessEnv = {},
): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['--no-warnings', program, root, JSON.stringify(settings)], {
    env: { PATH: process.env['PATH'] ?? '', ...env, HOME: home, EARSHOT_HOME: home, ...compileCache },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  atTestEnd(async () => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

async function kill(window: ChildProcess): Promise<void> {
  const ended = once(window, 'exit');
  window.kill('SIGKILL');
  await ended;
}

/** The agent's next tool call finds out that the window is gone, and starts earshot-ears. */
async function untilEars(world: EarsWorld): Promise<void> {
  const isWatched = async () => {
    await useTool(world, { mayComplain: true });
    return (await world.state()) !== undefined;
  };
  await expect.poll(isWatched, { timeout: 60_000 }).toBe(true);
}

test('events of MCP servers: by stream and by polling, each once and in order', {
  timeout: 300_000,
}, async () => {
  const modes = ['push', 'poll'] as const;
  const places = modes.map((mode) => eventPlace({ types: [{ name: 'issue.updated', delivery: [mode] }], held: 200 }));
  const servers: Readonly<Record<string, object>> = Object.fromEntries(
    places.map((place, index) => [modes[index] ?? '', eventServer(place)]),
  );
  const world = await makeEarsWorld();
  await allowEars(world, {
    'earshot.mcp.servers': servers,
    'earshot.mcp.events': modes.map((server) => ({ server, event: 'issue.updated' })),
  });
  await untilWatched(world);
  await useTool(world, { event: 'SessionStart' });
  const isFollowed = () =>
    places.every((place) => place.requests().filter(({ cursor }) => typeof cursor === 'string').length > 0);
  await expect.poll(isFollowed, { timeout: 60_000 }).toBe(true);
  const emitted: string[] = [];
  const state = { on: true };
  atTestEnd(async () => void (state.on = false));
  const load = (async () => {
    while (state.on) {
      emitted.push(`evt_${emitted.length}`);
      for (const place of places) place.emit({ id: emitted.at(-1) });
      await pause(EMIT_EVERY);
    }
  })();
  const idsOf = async (server: string) =>
    (await queuedFor(world)).flatMap(({ data }) =>
      data?.['from'] === server ? ((data['events'] ?? []) as readonly { readonly id: string }[]) : [],
    );
  const isAlong = async (server: string) => {
    const wanted = emitted.length;
    const has = async () => (await idsOf(server)).length;
    await expect.poll(has, { timeout: 60_000 }).toBeGreaterThanOrEqual(wanted);
  };
  for (let index = 0; index < HANDOVERS; index += 1) {
    const window = await startWindow(world, { 'mcp.servers': servers });
    expect(await world.state()).toBeUndefined();
    for (const mode of modes) await isAlong(mode);
    await pause(Math.random() * 500);
    await kill(window);
    await untilEars(world);
    for (const mode of modes) await isAlong(mode);
    await pause(Math.random() * 500);
  }
  state.on = false;
  await load;
  for (const mode of modes) await isAlong(mode);
  for (const mode of modes) expect((await idsOf(mode)).map(({ id }) => id)).toEqual(emitted);
  const kinds = new Set((await queuedFor(world)).flatMap(({ kind }) => (kind.source === 'mcp' ? [kind.name] : [])));
  expect([...kinds]).toEqual(['event']);
  expect(await useTool(world)).toContain('of the MCP server “push”');
});

test('CI of pushed commits: each result once', { timeout: 400_000 }, async () => {
  const { hub, root, env } = await startForge();
  const world = await makeEarsWorld();
  const { folder } = world;
  await makePushedRepository(folder, join(root, 'bare.git'));
  const config = env['GH_CONFIG_DIR'] ?? '';
  const hosts = 'github.com:\n    oauth_token: token-a\n    user: ada\n    git_protocol: https\n';
  await writeFile(join(config, 'hosts.yml'), hosts);
  const before = process.env['GH_CONFIG_DIR'];
  process.env['GH_CONFIG_DIR'] = config;
  atTestEnd(async () => {
    if (before === undefined) delete process.env['GH_CONFIG_DIR'];
    else process.env['GH_CONFIG_DIR'] = before;
  });
  await allowEars(world, { 'earshot.forge': 'gh' });
  await untilWatched(world);
  await useTool(world, { event: 'SessionStart' });
  const expected: string[] = [];
  const results = async () =>
    (await queuedFor(world)).flatMap(({ kind, subject }) =>
      kind.source === 'ci' ? [`${subject?.split('@')[1]} ${kind.name}`] : [],
    );
  /** Pushes a commit whose only check has failed already. */
  const push = async () => {
    await writeFile(join(folder, 'a.txt'), `tea ${expected.length}\n`);
    gitIn(folder, 'commit', '--quiet', '-am', `tea ${expected.length}`);
    const sha = gitIn(folder, 'rev-parse', 'HEAD');
    const build = check('build');
    hub.checks.set(sha, [build]);
    endCheck(hub, build, 'failure', new Date(), ['no tea']);
    gitIn(folder, 'push', '--quiet', 'origin', 'HEAD');
    expected.push(`${sha} failed`);
  };
  const isAlong = () => expect.poll(results, { timeout: 90_000, interval: 200 }).toEqual(expected);
  await push();
  await isAlong();
  for (let index = 0; index < HANDOVERS; index += 1) {
    const window = await startWindow(world, { forge: 'gh' }, env);
    await push();
    await isAlong();
    // In between: whoever watches next reports it.
    await kill(window);
    await push();
    await untilEars(world);
    await isAlong();
  }
});
