// An MCP server that requires a sign-in, with an authorization server that consents at once: both at one address, or
// its metadata and the authorization server on other hosts. Its tokens are canaries.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { atTestEnd } from '../endings.ts';

interface OauthRequest {
  /** `GET 127.0.0.2 /path` */
  readonly line: string;
  readonly headers: IncomingHttpHeaders;
}

export interface OauthServer {
  readonly url: string;
  /** The `authorization` headers that MCP requests had. */
  readonly authorizations: string[];
  /** All requests to all hosts, oldest first. */
  readonly requests: OauthRequest[];
  /** May be changed: what the server names and accepts from then on. */
  readonly named: Named;
}

interface Named {
  /** The address of the server's metadata. */
  metadata: string;
  /** The origin of the authorization server. */
  authorization: string;
  access: string;
}

export interface OauthOptions {
  readonly access: string;
  readonly refresh: string;
  /** Whether metadata and authorization server are at 127.0.0.3 and 127.0.0.1, the server at 127.0.0.2. */
  readonly apart?: boolean;
}

interface Message {
  readonly id?: number;
  readonly method: string;
}

const RESULTS: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'vault', version: '1' },
  },
  'tools/list': { tools: [{ name: 'open', description: 'Opens.', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: 'It is open.' }] },
};

function json(response: ServerResponse, value: object, status = 200): ServerResponse {
  return response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

export async function startOauthServer(options: OauthOptions): Promise<OauthServer> {
  const authorizations: string[] = [];
  const requests: OauthRequest[] = [];
  const named: Named = { metadata: '', authorization: '', access: options.access };
  const signIn = (url: URL, body: string, response: ServerResponse): ServerResponse => {
    const origin = named.authorization;
    if (url.pathname === '/register') {
      return json(response, { ...(JSON.parse(body) as object), client_id: 'earshot-test' }, 201);
    }
    if (url.pathname === '/authorize') {
      const back = new URL(url.searchParams.get('redirect_uri') ?? '');
      back.searchParams.set('code', 'one-time');
      back.searchParams.set('state', url.searchParams.get('state') ?? '');
      return response.writeHead(302, { location: back.href }).end();
    }
    if (url.pathname === '/token') {
      const tokens = { access_token: named.access, refresh_token: options.refresh };
      return json(response, { ...tokens, token_type: 'Bearer', expires_in: 3600 });
    }
    return json(response, {
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      registration_endpoint: `${origin}/register`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
    });
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<ServerResponse> => {
    const { method = '', headers } = request;
    const url = new URL(request.url ?? '/', `http://${headers.host}`);
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces).toString();
    requests.push({ line: `${method} ${url.hostname} ${url.pathname}`, headers });
    if (url.pathname.startsWith('/.well-known/oauth-protected-resource')) {
      return json(response, { resource: mcp, authorization_servers: [named.authorization] });
    }
    if (url.pathname.startsWith('/.well-known/') || url.pathname !== '/mcp') return signIn(url, body, response);
    if (method !== 'POST') return response.writeHead(405).end();
    const { authorization = '' } = headers;
    authorizations.push(authorization);
    if (authorization !== `Bearer ${named.access}`) {
      const where = `Bearer resource_metadata="${named.metadata}"`;
      return response.writeHead(401, { 'www-authenticate': where }).end();
    }
    const { id, method: called } = JSON.parse(body) as Message;
    if (id === undefined) return response.writeHead(202).end();
    const result = RESULTS[called];
    const error = { code: -32601, message: 'Method not found' };
    return json(response, { jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) });
  };
  const start = async (host: string) => {
    const server = createServer((request, response) => {
      answer(request, response).catch(() => response.destroy());
    });
    await new Promise<void>((done) => server.listen(0, host, done));
    atTestEnd(async () => {
      server.closeAllConnections();
      server.close();
    });
    return `http://${host}:${(server.address() as AddressInfo).port}`;
  };
  const own = await start(options.apart === true ? '127.0.0.2' : '127.0.0.1');
  const mcp = `${own}/mcp`;
  const other = options.apart === true ? await start('127.0.0.3') : own;
  named.metadata = `${other}/.well-known/oauth-protected-resource`;
  named.authorization = options.apart === true ? await start('127.0.0.1') : own;
  return { url: mcp, authorizations, requests, named };
}
