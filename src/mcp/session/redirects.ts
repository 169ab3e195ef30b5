// Follows redirects only on the same server: a request contains tokens, configured headers and arguments that no other
// server may get.
import { type Fetch } from './boundedFetch.ts';

const MOST_HOPS = 5;
const REDIRECTS = [301, 302, 303, 307, 308];
/** Redirects that keep the method and the body. */
const SAME_REQUEST = [307, 308];

export function guardRedirects(fetch: Fetch): Fetch {
  return async (url, init = {}) => {
    const method = (init.method ?? 'GET').toUpperCase();
    let from = new URL(url);
    for (let hop = 0; hop < MOST_HOPS; hop++) {
      const response = await fetch(from, { ...init, redirect: 'manual' });
      const location = response.headers.get('location');
      if (!REDIRECTS.includes(response.status) || location === null) return response;
      await response.body?.cancel();
      const to = URL.canParse(location, from) ? new URL(location, from) : undefined;
      const mayFollow =
        to !== undefined && isSameServer(from, to) && (method === 'GET' || SAME_REQUEST.includes(response.status));
      if (!mayFollow) throw new Error(`it redirects to ${location.slice(0, 200)}, which is not followed`);
      from = to;
    }
    throw new Error('it redirects again and again');
  };
}

/** The same origin, or the same host over TLS. */
export function isSameServer(from: URL, to: URL): boolean {
  return to.origin === from.origin || (to.protocol === 'https:' && to.hostname === from.hostname && to.port === '');
}
