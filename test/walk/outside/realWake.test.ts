// Idle agents without VS Code: the real Claude Code is woken by its waiter, the real Codex continues at the end of its turn.
// Only in `npm run test:full`, since the agents are large.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeEntry } from '../../../src/node/scripts/scriptSpool.ts';
import { pokeWindows } from '../../../src/plugins/client/pokeWindows.ts';
import { startMessagesEndpoint, startResponsesEndpoint } from '../../support/agents/scriptedEndpoint.ts';
import { agentProgram, installHook, runCodex, startClaude } from '../../support/agents/realAgents.ts';
import { type EarsWorld, makeEarsWorld } from '../../support/plugins/ears.ts';

const claude = await agentProgram('claude-code');
const codex = await agentProgram('codex');

/** The user's grant that scripts may wake agents. */
async function allowWakes({ home }: EarsWorld, wake: boolean): Promise<void> {
  await mkdir(join(home, '.earshot'), { recursive: true });
  await writeFile(join(home, '.earshot', 'settings.json'), JSON.stringify({ 'earshot.scripts.wake': wake }));
}

async function ring({ folder, home }: EarsWorld, text: string, wake: boolean): Promise<void> {
  const entry = { at: new Date().toISOString(), dir: folder, text, name: 'bell', level: 'info' as const };
  const id = await writeEntry({ ...entry, ...(wake && { wake }) }, home);
  expect(await pokeWindows(id, folder, false, home)).toBeGreaterThan(0);
}

test.runIf(claude !== undefined)(
  'Claude Code is woken from idle by what may wake it, once, and by nothing else',
  async () => {
    const world = await makeEarsWorld();
    await allowWakes(world, true);
    await installHook(world, 'claude-code', 'user');
    let asked = Promise.withResolvers<void>();
    const endpoint = await startMessagesEndpoint(async () => {
      asked.resolve();
      return 'Served.';
    });
    const session = startClaude(world, claude ?? '', endpoint.url);
    session.say('Serve the drinks.');
    await session.idle();
    asked = Promise.withResolvers();
    await ring(world, 'the tap drips', false);
    await ring(world, 'the oven is hot', true);
    await asked.promise;
    await session.idle();
    const sent = JSON.stringify(endpoint.sent());
    expect(sent.match(/the oven is hot/g)).toHaveLength(1);
    expect(sent.match(/the tap drips/g)).toHaveLength(1);
    session.end();
  },
  300_000,
);

test.runIf(codex !== undefined).each([true, false])(
  'Codex continues at the end of its turn only with what may wake it (%s)',
  async (wake) => {
    const world = await makeEarsWorld(['codex']);
    await allowWakes(world, true);
    await installHook(world, 'codex', 'user');
    let turns = 0;
    const endpoint = await startResponsesEndpoint(async () => {
      turns += 1;
      if (turns === 1) return { tool: 'exec_command', input: { cmd: 'true' } };
      if (turns === 2) await ring(world, 'the oven is hot', wake);
      return 'Served.';
    });
    expect(await runCodex(world, codex ?? '', { url: endpoint.url, trusts: true })).toMatchObject({ code: 0 });
    expect(JSON.stringify(endpoint.sent()).match(/the oven is hot/g) ?? []).toHaveLength(wake ? 1 : 0);
    expect(turns).toBe(wake ? 3 : 2);
  },
  300_000,
);
