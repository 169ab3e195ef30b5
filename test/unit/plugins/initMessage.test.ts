// The init message of a plugin contains no secret from the settings.
import { expect, test } from 'vitest';
import { createInit } from '../../../src/plugins/initMessage.ts';
import { readSettings } from '../../../src/protocol/settings.ts';

test('init has the settings by name, without those that may contain a secret', () => {
  const SECRET = 'hunter2';
  const given: Record<string, unknown> = {
    mode: 'plan',
    baseUrl: `https://tea:${SECRET}@models.example.com/v1?key=${SECRET}`,
    'hub.server': `nats://tea:${SECRET}@one.example.com:4222,nats://two.example.com:4222`,
    'mcp.servers': { tea: { url: 'https://mcp.example.com', headers: { Authorization: `Bearer ${SECRET}` } } },
    'mcp.inputs': [{ id: 'key', default: SECRET }],
    'plugins.programs': { other: { command: ['x'], options: { key: SECRET } } },
  };
  const { settings } = readSettings((name) => given[name]);
  expect(JSON.stringify(settings).split(SECRET)).toHaveLength(7);
  const workspace = { root: null, storage: '/storage', id: 'id' };
  const init = createInit({ workspace, paths: {}, settings, logLevel: 9 }, { cups: 2 }, ['a']);
  expect(JSON.stringify(init)).not.toContain(SECRET);
  expect(init).toMatchObject({ options: { cups: 2 }, args: ['a'], log_level: 4 });
  expect(init.config).toMatchObject({
    mode: 'plan',
    baseUrl: 'https://models.example.com/v1',
    'hub.server': 'nats://one.example.com:4222,nats://two.example.com:4222',
  });
});
