// An MCP server that requires a sign-in, with its own authorization server that consents at once. Its tokens are
// canaries.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { atTestEnd } from '../endings.ts';

export interface OauthServer {
  readonly url: string;
  /** The `authorization` headers that MCP requests had. */
  readonly authorizations: string[];
}

interface Message {
  readonly id?: number;
  readonly method: string;
}

export async function startOauthServer(tokens: {
  readonly access: string;
  readonly refresh: string;
}): Promise<OauthServer> {
  const authorizations: string[] = [];
  let origin = '';
  const json = (response: ServerResponse, value: object, status = 200) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  const results: Readonly<Record<string, object>> = {
    initialize: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'vault', version: '1' },
    },
    'tools/list': { tools: [{ name: 'open', description: 'Opens.', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: 'It is open.' }] },
  };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', origin);
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    if (url.pathname.startsWith('/.well-known/oauth-protected-resource')) {
      return json(response, { resource: `${origin}/mcp`, authorization_servers: [origin] });
    }
    if (url.pathname.startsWith('/.well-known/')) {
      return json(response, {
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
      });
    }
    if (url.pathname === '/register') {
      const asked = JSON.parse(Buffer.concat(pieces).toString()) as object;
      return json(response, { ...asked, client_id: 'earshot-test' }, 201);
    }
    if (url.pathname === '/authorize') {
      const back = new URL(url.searchParams.get('redirect_uri') ?? '');
      back.searchParams.set('code', 'one-time');
      back.searchParams.set('state', url.searchParams.get('state') ?? '');
      return response.writeHead(302, { location: back.href }).end();
    }
    if (url.pathname === '/token') {
      const { access, refresh } = tokens;
      return json(response, { access_token: access, refresh_token: refresh, token_type: 'Bearer', expires_in: 3600 });
    }
    if (request.method !== 'POST') return response.writeHead(405).end();
    const { authorization = '' } = request.headers;
    authorizations.push(authorization);
    if (authorization !== `Bearer ${tokens.access}`) {
      const where = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource"`;
      return response.writeHead(401, { 'www-authenticate': where }).end();
    }
    const { id, method } = JSON.parse(Buffer.concat(pieces).toString()) as Message;
    if (id === undefined) return response.writeHead(202).end();
    const result = results[method];
    const error = { code: -32601, message: 'Method not found' };
    return json(response, { jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) });
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  atTestEnd(async () => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `${origin}/mcp`, authorizations };
}
