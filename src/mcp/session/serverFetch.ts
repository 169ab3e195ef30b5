// Sends the requests of one HTTP server. Configured headers go to that server only. Another host, which the server names
// to sign in at, gets a request only while the user signs in or if the user has signed in there, and never at an address
// that the server should not reach through this machine.
import { lookup } from 'node:dns/promises';
import { InsufficientScopeError, UnauthorizedError } from '@modelcontextprotocol/client';
import { addressScope, isLocalHost } from '../../core/consent/addresses.ts';
import { USER_AGENT } from '../../node/boundedBody.ts';
import { type HttpLaunch } from '../config/launch.ts';
import { boundFetch, type Fetch, sendOver } from './boundedFetch.ts';

/** Metadata and tokens are far shorter. */
const MOST_DOCUMENT_BYTES = 1024 * 1024;

interface Address {
  readonly address: string;
  readonly family: number;
}

export interface ServerFetchDeps {
  readonly launch: Pick<HttpLaunch, 'url' | 'socket' | 'headers'>;
  /** Limit of one message of the server, in bytes. */
  readonly most: number;
  /** Time limit of a request that is part of a sign-in, in milliseconds. */
  readonly within: number;
  /** Whether a host other than the server may be asked now. */
  mayAsk(origin: string): Promise<boolean>;
  log(line: string): void;
  lookup?(hostname: string): Promise<readonly Address[]>;
}

/** A request to another host was refused. A TypeError, since the client library tries something else after others. */
class RefusedHostError extends TypeError {
  constructor(message: string) {
    super(message);
    this.name = 'RefusedHostError';
  }
}

/** Whether the user can solve this failure of a request by signing in. */
export function wantsSignIn(error: unknown): boolean {
  const isAuth = UnauthorizedError.isInstance(error) || InsufficientScopeError.isInstance(error);
  return isAuth || error instanceof RefusedHostError;
}

export function describeSignIn(error: unknown): string {
  return error instanceof RefusedHostError ? error.message : 'the user has to sign in';
}

export function createServerFetch(deps: ServerFetchDeps): Fetch {
  const { most, within } = deps;
  const send = guardRedirects((url, init) => sendOne(deps, new URL(url), init));
  const [messages, documents] = [boundFetch(send, most), boundFetch(send, MOST_DOCUMENT_BYTES)];
  // The library gives a signal to every request of the protocol, and to none of a sign-in.
  return (url, init) =>
    init?.signal ? messages(url, init) : documents(url, { ...init, signal: AbortSignal.timeout(within) });
}

async function sendOne(deps: ServerFetchDeps, url: URL, init: RequestInit = {}): Promise<Response> {
  const { launch, log } = deps;
  const headers = new Headers(init.headers);
  if (!headers.has('user-agent')) headers.set('user-agent', USER_AGENT);
  if (isSameServer(launch.url, url)) {
    for (const [name, value] of Object.entries(launch.headers)) if (!headers.has(name)) headers.set(name, value);
    const own = { ...init, headers };
    return launch.socket === undefined ? globalThis.fetch(url, own) : sendOver({ socketPath: launch.socket }, url, own);
  }
  const address = await chooseAddress(deps, url);
  if (typeof address === 'object') return sendOver({ address }, url, { ...init, headers });
  log(`No request was sent to ${url.href.slice(0, 200)}: ${address}.`);
  throw new RefusedHostError(`its sign-in names ${url.href.slice(0, 200)}, which ${address}`);
}

/** The address to connect to, whatever the name resolves to later; or why there must be no request. */
async function chooseAddress(deps: ServerFetchDeps, url: URL): Promise<Address | string> {
  const { protocol, username, password, origin } = url;
  if ((protocol !== 'http:' && protocol !== 'https:') || username !== '' || password !== '') {
    return 'is no address on the web';
  }
  if (!(await deps.mayAsk(origin))) return 'is asked only after you have clicked Sign In';
  const addresses = await resolve(deps, url.hostname);
  const [first] = addresses;
  if (first === undefined) return 'has no address';
  const scopes = new Set(addresses.map(({ address }) => addressScope(address)));
  if (protocol === 'http:' && scopes.has('public')) return 'is not encrypted';
  const allowed = await localScopes(deps);
  const refused = [...scopes].find((scope) => scope !== 'public' && !allowed.includes(scope));
  return refused === undefined
    ? first
    : 'must not be reached: it is an address of this machine or the network around it';
}

/** A server on this machine may name others on it; one in the private network, others in that network. */
async function localScopes(deps: ServerFetchDeps): Promise<readonly string[]> {
  const { hostname } = deps.launch.url;
  const own = new Set((await resolve(deps, hostname)).map(({ address }) => addressScope(address)));
  if (own.size === 0 || own.has('public') || own.has('reserved')) return [];
  // A name in the public DNS may point to this machine at any time, so that alone says nothing.
  if (own.has('loopback')) return isLocalHost(hostname) ? ['loopback', 'private'] : [];
  return ['private'];
}

async function resolve(deps: ServerFetchDeps, hostname: string): Promise<readonly Address[]> {
  const find = deps.lookup ?? ((name: string) => lookup(name, { all: true }));
  return find(hostname.replace(/^\[|\]$/g, '')).catch(() => []);
}

const MOST_HOPS = 5;
const REDIRECTS = [301, 302, 303, 307, 308];
/** Redirects that keep the method and the body. */
const SAME_REQUEST = [307, 308];

/**
 * Follows redirects only on the same server: a request contains tokens, configured headers and arguments that no other
 * server may get.
 */
function guardRedirects(fetch: Fetch): Fetch {
  return async (url, init = {}) => {
    const method = (init.method ?? 'GET').toUpperCase();
    let from = new URL(url);
    for (let hop = 0; hop < MOST_HOPS; hop++) {
      const response = await fetch(from, { ...init, redirect: 'manual' });
      const location = response.headers.get('location');
      if (!REDIRECTS.includes(response.status) || location === null) return response;
      await response.body?.cancel();
      const to = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
      const mayFollow =
        to !== undefined && isSameServer(from, to) && (method === 'GET' || SAME_REQUEST.includes(response.status));
      if (!mayFollow) throw new Error(`it redirects to ${location.slice(0, 200)}, which is not followed`);
      from = to;
    }
    throw new Error('it redirects again and again');
  };
}

/** The same origin, or the same host over TLS. */
function isSameServer(from: URL, to: URL): boolean {
  return to.origin === from.origin || (to.protocol === 'https:' && to.hostname === from.hostname && to.port === '');
}
