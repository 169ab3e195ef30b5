// Which hosts the requests of an MCP server over HTTP may reach. Names are resolved by the test, connections are real.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { addressScope } from '../../../src/core/consent/addresses.ts';
import { createServerFetch } from '../../../src/mcp/session/serverFetch.ts';
import { atTestEnd, endAll } from '../../support/endings.ts';

afterEach(endAll);

const PUBLIC = '93.184.215.14';

async function startHost() {
  const received: IncomingHttpHeaders[] = [];
  const server = createServer(({ headers }, response) => {
    received.push(headers);
    response.end('{}');
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  atTestEnd(async () => {
    server.closeAllConnections();
    server.close();
  });
  return { received, port: (server.address() as AddressInfo).port };
}

/** `names`: the addresses of each name, for each lookup in turn; the last ones stay. */
function begin(url: string, names: Readonly<Record<string, readonly (readonly string[])[]>>, mayAsk = true) {
  const lookups: string[] = [];
  const log: string[] = [];
  const fetch = createServerFetch({
    launch: { url: new URL(url), headers: { 'x-api-key': 'canary' } },
    most: 1024,
    within: 60_000,
    mayAsk: async () => mayAsk,
    log: (line) => log.push(line),
    lookup: async (name) => {
      const answers = names[name] ?? [[name]];
      const times = lookups.filter((one) => one === name).length;
      lookups.push(name);
      return (answers[times] ?? answers.at(-1) ?? []).map((address) => ({ address, family: 4 }));
    },
  });
  return { fetch, lookups, log };
}

test.each([
  ['of this machine', 'https://mcp.example/mcp', [PUBLIC], ['127.0.0.1']],
  ['of this machine, beside a public one', 'https://mcp.example/mcp', [PUBLIC], [PUBLIC, '127.0.0.1']],
  ['of the private network', 'https://mcp.example/mcp', [PUBLIC], ['10.1.2.3']],
  ['of a cloud’s credentials', 'http://localhost:1/mcp', ['127.0.0.1'], ['169.254.169.254']],
  ['of this machine, named by a server in the private network', 'https://mcp.corp/mcp', ['10.0.0.5'], ['127.0.0.1']],
  [
    'of this machine, if public DNS says that the server is there',
    'https://mcp.example/',
    ['127.0.0.1'],
    ['127.0.0.1'],
  ],
  ['of the private network, if the server has no address', 'https://mcp.example/', [], ['10.1.2.3']],
])('a name with an address %s gets no connection, and the log says so', async (_case, url, own, target) => {
  const host = await startHost();
  const { fetch, log } = begin(url, { [new URL(url).hostname]: [own], 'inside.example': [target] });
  await expect(fetch(`http://inside.example:${host.port}/x`)).rejects.toThrow(/must not be reached|is not encrypted/);
  expect(host.received).toEqual([]);
  expect(log).toEqual([expect.stringContaining('No request was sent to http://inside.example')]);
});

test('a name that resolves elsewhere after the check is not asked for again: the connection goes to the checked address', async () => {
  const host = await startHost();
  const names = { localhost: [['127.0.0.1']], 'auth.example': [['127.0.0.1'], ['169.254.169.254']] };
  const { fetch, lookups } = begin('http://localhost:1/mcp', names);
  const response = await fetch(`http://auth.example:${host.port}/x`, { headers: { accept: 'application/json' } });
  expect(await response.text()).toBe('{}');
  expect(lookups.filter((name) => name === 'auth.example')).toHaveLength(1);
  expect(host.received).toMatchObject([{ host: `auth.example:${host.port}`, accept: 'application/json' }]);
  expect(host.received[0]).not.toHaveProperty('x-api-key');
});

test('the server itself gets the configured headers, another port of its host does not', async () => {
  const [own, other] = [await startHost(), await startHost()];
  const { fetch } = begin(`http://127.0.0.1:${own.port}/mcp`, {});
  await fetch(`http://127.0.0.1:${own.port}/mcp`);
  await fetch(`http://127.0.0.1:${other.port}/token`);
  expect(own.received).toMatchObject([{ 'x-api-key': 'canary' }]);
  expect(other.received).toHaveLength(1);
  expect(other.received[0]).not.toHaveProperty('x-api-key');
});

test('before the click another host is not even resolved', async () => {
  const { fetch, lookups } = begin('https://mcp.example/mcp', {}, false);
  await expect(fetch('https://auth.example/x')).rejects.toThrow('is asked only after you have clicked Sign In');
  expect(lookups).toEqual([]);
});

test('addresses of this machine, of private networks and reserved ones are distinguished', () => {
  const addresses = {
    loopback: ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'],
    private: ['10.0.0.1', '172.31.0.1', '192.168.1.1', '100.64.0.1', 'fd00::1', '::ffff:10.0.0.1'],
    reserved: [
      '169.254.169.254',
      'fe80::1',
      '0.0.0.0',
      '::',
      '224.0.0.1',
      '64:ff9b::7f00:1',
      '2002:7f00:1::',
      'ff02::1',
    ],
    public: [PUBLIC, '8.8.8.8', '2606:4700::1111', '::ffff:8.8.8.8'],
  };
  for (const [scope, all] of Object.entries(addresses)) {
    expect(all.map((address) => [address, addressScope(address)])).toEqual(all.map((address) => [address, scope]));
  }
});
