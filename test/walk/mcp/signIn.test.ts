// Signing in to an MCP server over HTTP: which hosts get requests, when, and with which headers.
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { type SignIn } from '../../../src/mcp/oauth/signInPort.ts';
import { atTestEnd } from '../../support/endings.ts';
import { beginMcpWalk, call, type McpWalked } from '../../support/mcp/mcpWalk.ts';
import { memorySecrets } from '../../support/mcp/memorySecrets.ts';
import { type OauthServer, startOauthServer } from '../../support/mcp/oauthServer.ts';

const done = { text: ['Done.'] };
const SECRETS = { 'x-api-key': 'canary-key', 'x-team': 'canary-team' };
const TOKENS = { access: 'canary-access', refresh: 'canary-refresh' };

/** The user: clicks *Sign In* by `asked`, and consents in the browser at once. */
function createUser() {
  const user = { asked: false };
  const kept = new Map<string, string>();
  const signIn = async (): Promise<SignIn> => {
    let back: URLSearchParams | undefined;
    return {
      secrets: memorySecrets(kept),
      redirectUrl: 'http://127.0.0.1:1/callback',
      isAsked: () => user.asked,
      open: async (url) => {
        if (!user.asked) return false;
        const { headers } = await fetch(url, { redirect: 'manual' });
        back = new URL(headers.get('location') ?? '').searchParams;
        return true;
      },
      callback: async () => {
        const params = back;
        back = undefined;
        return params;
      },
    };
  };
  return { user, kept, signIn };
}

async function begin(server: Pick<OauthServer, 'url'>, headers: object = SECRETS) {
  const { user, kept, signIn } = createUser();
  const walk = await beginMcpWalk({ vault: { url: server.url, headers } }, [call('vault__open'), done], {
    host: { signIn },
  });
  const click = async () => {
    user.asked = true;
    await walk.mcp.get('vault')?.restart();
    user.asked = false;
  };
  return { walk, kept, click };
}

const stateOf = (walk: McpWalked) => walk.mcp.get('vault')?.state;
const linesOf = ({ requests }: OauthServer) => [...new Set(requests.map(({ line }) => line))];
const secretsIn = (headers: object): unknown[] =>
  Object.values(headers).filter((value) => String(value).includes('canary'));

test.each([
  [true, 'nor does any host that it names'],
  [false, 'even if it names itself'],
])('a server that answers 401 gets no further request before the user clicks (apart: %s), %s', async (apart) => {
  const server = await startOauthServer({ ...TOKENS, apart });
  const { walk } = await begin(server);
  expect(stateOf(walk)).toBe('sign_in');
  expect(linesOf(server)).toEqual([`POST ${new URL(server.url).hostname} /mcp`]);
});

test('after the click other hosts are asked, but get no configured header; the token is refreshed without a click', async () => {
  const server = await startOauthServer({ ...TOKENS, apart: true });
  const { walk, click } = await begin(server);
  await click();
  expect(stateOf(walk)).toBe('ready');
  expect(linesOf(server)).toEqual([
    'POST 127.0.0.2 /mcp',
    'GET 127.0.0.3 /.well-known/oauth-protected-resource',
    'GET 127.0.0.1 /.well-known/oauth-authorization-server',
    'POST 127.0.0.1 /register',
    'GET 127.0.0.1 /authorize',
    'POST 127.0.0.1 /token',
    'GET 127.0.0.2 /mcp',
  ]);
  const [own, others] = [/ 127\.0\.0\.2 /, / 127\.0\.0\.[13] /].map((host) =>
    server.requests.filter(({ line }) => host.test(line)),
  );
  expect(others?.map(({ headers }) => secretsIn(headers))).toEqual(others?.map(() => []));
  expect(own?.every(({ headers }) => headers['x-api-key'] === SECRETS['x-api-key'])).toBe(true);

  server.named.access = 'canary-second';
  await walk.go();
  expect(walk.results()).toEqual(['It is open.']);
  expect(server.authorizations.at(-1)).toBe('Bearer canary-second');
});

test('a server that later names another authorization server gets nothing sent there without another click', async () => {
  const [server, evil] = [await startOauthServer({ ...TOKENS, apart: true }), await startOauthServer(TOKENS)];
  const { walk, click } = await begin(server);
  await click();
  server.named.access = 'canary-second';
  server.named.authorization = new URL(evil.url).origin;
  await walk.go();
  expect(stateOf(walk)).toBe('sign_in');
  expect(linesOf(evil)).toEqual([]);
  server.named.metadata = `${new URL(evil.url).origin}/.well-known/oauth-protected-resource`;
  await walk.mcp.get('vault')?.restart();
  expect(stateOf(walk)).toBe('sign_in');
  expect(linesOf(evil)).toEqual([]);
});

test.each([
  ['http://169.254.169.254/latest', 'must not be reached'],
  ['http://[fe80::1]/x', 'must not be reached'],
  ['http://8.8.8.8/x', 'is not encrypted'],
  ['http://nowhere.invalid/x', 'has no address'],
  ['data:application/json,{"authorization_servers":["http://127.0.0.1"]}', 'is no address on the web'],
  ['file:///etc/passwd', 'is no address on the web'],
  ['http://name:word@127.0.0.3/x', 'is no address on the web'],
])('after the click, the metadata address %s is refused and the row says so', async (metadata, why) => {
  const server = await startOauthServer({ ...TOKENS, apart: true });
  const { walk, click } = await begin(server);
  server.named.metadata = metadata;
  await click();
  expect(stateOf(walk)).toBe('sign_in');
  expect(walk.mcp.get('vault')?.problem).toContain(why);
  expect(linesOf(server)).toEqual(['POST 127.0.0.2 /mcp']);
});

test.each(['endless', 'silent'] as const)('after the click, an %s document does not hold the sign-in', async (kind) => {
  let sent = 0;
  const host = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"x":"');
    const more = (): void => {
      while (kind === 'endless' && sent < 64 && !response.destroyed) {
        sent += 1;
        if (!response.write('x'.repeat(1_000_000))) return void response.once('drain', more);
      }
    };
    more();
  });
  await new Promise<void>((ready) => host.listen(0, '127.0.0.3', ready));
  atTestEnd(async () => {
    host.closeAllConnections();
    host.close();
  });
  const server = await startOauthServer({ ...TOKENS, apart: true });
  const { walk, click } = await begin(server);
  server.named.metadata = `http://127.0.0.3:${(host.address() as AddressInfo).port}/x`;
  if (kind === 'silent') walk.limit('vault', { connect: 1000 });
  await click();
  expect(stateOf(walk)).not.toBe('ready');
  expect(sent).toBeLessThan(64);
});

test('a redirect of the authorization server to another host is not followed', async () => {
  const [server, evil] = [await startOauthServer({ ...TOKENS, apart: true }), await startOauthServer(TOKENS)];
  const moved = createServer((_request, response) => {
    response.writeHead(307, { location: new URL('/.well-known/oauth-authorization-server', evil.url).href }).end();
  });
  await new Promise<void>((ready) => moved.listen(0, '127.0.0.4', ready));
  atTestEnd(async () => void moved.close());
  const { walk, click } = await begin(server);
  server.named.authorization = `http://127.0.0.4:${(moved.address() as AddressInfo).port}`;
  await click();
  expect(stateOf(walk)).not.toBe('ready');
  expect(linesOf(evil)).toEqual([]);
});
