// Names of agents: generated names are new on the hub; a name chosen by a program gets a number while another agent has
// it.
import { expect, test } from 'vitest';
import { claimIdleName, claimNewName, toAgentName } from '../../../src/hub/agents/agentNames.ts';
import { type HubCall } from '../../../src/protocol/hubMethods.ts';
import { type TestClient, withHub } from '../../support/testHub.ts';

function callOf(client: TestClient): HubCall {
  return (method, params) => client.call(method, params) as Promise<never>;
}

test('a generated name is new on the hub, also if the wanted one belongs to an absent agent', () =>
  withHub(async (hub) => {
    const gone = await hub.agent('amber-finch');
    gone.close();
    await gone.closed;
    const client = await hub.unix();
    const name = await claimNewName(callOf(client), 'amber-finch');
    expect(name).toBe('amber-finch-2');
    expect(await claimNewName(callOf(client), undefined)).toMatch(/^[a-z]+-[a-z]+$/);
    expect(await claimNewName(callOf(client), 'teal-otter')).toBe('teal-otter');
  }));

test('twenty agents that ask for the same name at once get twenty names', () =>
  withHub(async (hub) => {
    const names = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const client = await hub.unix();
        return claimNewName(callOf(client), 'amber-finch');
      }),
    );
    expect(new Set(names).size).toBe(20);
    expect(names.filter((name) => name === 'amber-finch')).toHaveLength(1);
  }));

test('the name of an absent agent can be used again; those of a connected agent and of a role cannot', () =>
  withHub(async (hub) => {
    await hub.agent('codex', { role: 'tester' });
    const client = await hub.unix();
    const claim = (name: string) => claimIdleName(callOf(client), name);
    expect(await claim('codex')).toBe('codex-2');
    expect(await claim('tester')).toBe('tester-2');
    const gone = await hub.agent('cline');
    gone.close();
    await gone.closed;
    await expect.poll(() => claim('cline')).toBe('cline');
  }));

test.each([
  ['Claude Code', 'claude-code'],
  ['GitHub Copilot (VS Code)', 'github-copilot-vs-code'],
  ['__x__', '__x__'],
  ['Ünïcødé', 'n-c-d'],
  ['!!!', undefined],
  ['system', undefined],
  ['A'.repeat(100_000), 'a'.repeat(32)],
])('%s is called %s', (text, name) => expect(toAgentName(text)).toBe(name));
