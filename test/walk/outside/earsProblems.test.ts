// What earshot-ears cannot use is in its status with the next step, and each agent is notified of it once.
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { recordEarsProgram, startEars } from '../../../src/plugins/client/ears.ts';
import { builtProgram } from '../../support/builtProgram.ts';
import { atTestEnd } from '../../support/endings.ts';
import { gitIn, makePushedRepository, startForge } from '../../support/forge/pushedRepository.ts';
import { eventPlace, eventServer } from '../../support/mcp/eventWalks.ts';
import {
  allowEars,
  type EarsWorld,
  makeEarsWorld,
  outsideEvents,
  untilPending,
  untilWatched,
} from '../../support/plugins/ears.ts';
import { useTool } from '../../support/plugins/outsideAgents.ts';

async function status({ folder, home }: EarsWorld): Promise<string> {
  const program = await builtProgram('src/bin/ears.ts');
  const env = { PATH: process.env['PATH'], HOME: home, EARSHOT_HOME: home };
  return (await promisify(execFile)(process.execPath, [program, 'status', '--dir', folder], { env })).stdout;
}

const problemsOf = async (world: EarsWorld) => (await world.state())?.problems ?? [];

function setEnvironment(values: Readonly<Record<string, string>>): void {
  const before = Object.keys(values).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, values);
  atTestEnd(async () => {
    for (const [name, value] of before) {
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
    }
  });
}

test('an MCP server that cannot start, and an event that it does not have', async () => {
  const place = eventPlace();
  const world = await makeEarsWorld();
  await allowEars(world, {
    'earshot.mcp.servers': { good: eventServer(place), bad: { command: join(world.home, 'no-such-program') } },
    'earshot.mcp.events': [{ server: 'good', event: 'no.such' }],
  });
  await untilWatched(world);
  const first = await useTool(world, { event: 'SessionStart' });
  await expect.poll(() => problemsOf(world), { timeout: 60_000 }).toHaveLength(2);
  const text = await status(world);
  expect(text).toMatch(/^Problem: The MCP server “bad”: it is not connected: .*no-such-program/m);
  expect(text).toMatch(/^Problem: Events of MCP servers: event: the MCP server “good” has no event “no\.such”/m);
  const told = [first, await useTool(world), await useTool(world)].join('\n');
  expect(told.match(/The MCP server “bad”/g)).toHaveLength(1);
  expect(told.match(/has no event “no\.such”/g)).toHaveLength(1);
  expect(await useTool(world, { session: 's2' })).toContain('The MCP server “bad”');
}, 120_000);

test('a gh that is not signed in', async () => {
  const { root, env } = await startForge();
  const world = await makeEarsWorld();
  const { folder } = world;
  await makePushedRepository(folder, join(root, 'bare.git'));
  setEnvironment({ GH_CONFIG_DIR: env['GH_CONFIG_DIR'] ?? '' });
  await allowEars(world, { 'earshot.forge': 'gh' });
  await untilWatched(world);
  await useTool(world, { event: 'SessionStart' });
  await writeFile(join(folder, 'a.txt'), 'two\n');
  gitIn(folder, 'commit', '--quiet', '-am', 'fix parser');
  gitIn(folder, 'push', '--quiet', 'origin', 'HEAD');
  await expect.poll(() => problemsOf(world), { timeout: 60_000 }).toHaveLength(1);
  expect(await status(world)).toContain('gh is not signed in to github.com: run gh auth login.');
  const told = [await useTool(world), await useTool(world)].join('\n');
  expect(told.match(/run gh auth login/g)).toHaveLength(1);
}, 120_000);

test('it gets the hosts and proxies of gh and glab from the agent that starts it, and no keys', async () => {
  const world = await makeEarsWorld();
  const probe = join(world.home, 'probe.mjs');
  const seen = join(world.home, 'seen.json');
  await writeFile(
    probe,
    `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(seen)}, JSON.stringify(process.env));\n`,
  );
  await recordEarsProgram({ node: process.execPath, program: probe }, world.home);
  const passed = {
    ...{ GH_HOST: 'ghe.example', GITLAB_HOST: 'lab.example', GLAB_CONFIG_DIR: '/glab', https_proxy: 'http://proxy:1' },
    ...{ NO_PROXY: 'localhost', NODE_EXTRA_CA_CERTS: '/ca.pem' },
  };
  setEnvironment({ ...passed, ANTHROPIC_API_KEY: 'key', GH_TOKEN: 'token' });
  await startEars(world.folder, world.home);
  const environment = async () => JSON.parse(await readFile(seen, 'utf8').catch(() => '{}')) as object;
  await expect.poll(environment, { timeout: 30_000 }).toMatchObject(passed);
  expect(Object.keys(await environment())).not.toContain('ANTHROPIC_API_KEY');
  expect(Object.keys(await environment())).not.toContain('GH_TOKEN');
}, 60_000);

test('settings that change are used without a restart; a damaged file is a problem, and the last settings stay', async () => {
  const place = eventPlace();
  const world = await makeEarsWorld();
  await untilWatched(world);
  await useTool(world, { event: 'SessionStart' });
  const { pid } = (await world.state()) ?? {};
  await allowEars(world, {
    'earshot.mcp.servers': { s: eventServer(place) },
    'earshot.mcp.events': [{ server: 's', event: 'issue.updated' }],
  });
  await expect.poll(() => place.requests('events/stream').length, { timeout: 60_000 }).toBeGreaterThan(1);
  place.emit({ id: 'evt_1', title: 'Broken' });
  await untilPending(world);
  expect(await useTool(world)).toContain('evt_1');
  await writeFile(join(world.home, '.earshot', 'settings.json'), '{"earshot.mcp.events": [');
  await expect.poll(() => problemsOf(world), { timeout: 60_000 }).toEqual([expect.stringContaining('settings.json')]);
  place.emit({ id: 'evt_2', title: 'Broken again' });
  await untilPending(world);
  expect(await useTool(world)).toContain('evt_2');
  await allowEars(world, { 'earshot.mcp.servers': { s: eventServer(place) } });
  const isEnded = async () =>
    (await outsideEvents(world)).some((event) => event.type === 'events_unsubscribed' && event.by === 'setting');
  await expect.poll(isEnded, { timeout: 60_000 }).toBe(true);
  expect(await problemsOf(world)).toEqual([]);
  expect((await world.state())?.pid).toBe(pid);
}, 180_000);
