// Access control of the web chat: checks host and origin of a request before anything else is done with it, and
// then its token.
//
// A foreign page cannot know the token, and the token is in a header, which no form and no link can send. The other checks
// are there so that a foreign page learns nothing at all: `Host` refuses names that were made to point to this machine (DNS
// rebinding), `Origin` and `Sec-Fetch-Site` refuse requests from other pages.
import { createHash, timingSafeEqual } from 'node:crypto';
import { type IncomingHttpHeaders } from 'node:http';

export interface AccessRules {
  /** Allowed in addition to this machine's own names. */
  readonly hosts: readonly string[];
}

/** `page`: the document itself, which a link may open. `part`: everything that only the page itself requests. */
export type Wanted = 'page' | 'part';

export interface Refusal {
  readonly status: 403;
  readonly reason: string;
}

/** Names that always mean this machine. Any port is allowed, since a forwarded port may have another number. */
const OWN_NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Why a request is refused because of its host or origin; undefined if it is not. */
export function refusePlace(headers: IncomingHttpHeaders, wanted: Wanted, rules: AccessRules): Refusal | undefined {
  const { host = '', origin } = headers;
  if (!isKnownHost(host, rules))
    return forbidden(`The host ${quote(host)} is not allowed. See earshot.webChat.allowedHosts.`);
  if (origin !== undefined && !isOwnOrigin(origin, host, rules))
    return forbidden(`The origin ${quote(origin)} is not allowed.`);
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin') return undefined;
  const mode = headers['sec-fetch-mode'];
  const isNavigation =
    wanted === 'page' && (mode === undefined || mode === 'navigate') && headers['sec-fetch-dest'] !== 'iframe';
  return isNavigation ? undefined : forbidden('Requests of other pages are not allowed.');
}

/** The token of the request, which only its header can have. */
export function bearerOf({ authorization = '' }: IncomingHttpHeaders): string | undefined {
  return /^Bearer ([\w.-]{1,300})$/.exec(authorization)?.[1];
}

/** Takes the same time for every difference. */
export function isSameSecret(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other));
}

function isKnownHost(host: string, { hosts }: AccessRules): boolean {
  const name = hostName(host);
  if (name === undefined) return false;
  return OWN_NAMES.has(name) || hosts.some((one) => isSameHost(one, host));
}

/** Behind a proxy that changes `Host`, the origin is the allowed host by which the page was opened. */
function isOwnOrigin(origin: string, host: string, { hosts }: AccessRules): boolean {
  const [, place] = /^https?:\/\/([^/]+)$/.exec(origin) ?? [];
  if (place === undefined) return false;
  return place.toLowerCase() === host.toLowerCase() || hosts.some((one) => isSameHost(one, place));
}

/** An allowed host without a port allows every port. */
function isSameHost(allowed: string, host: string): boolean {
  const [one, other] = [allowed.toLowerCase(), host.toLowerCase()];
  return one === other || one === hostName(other);
}

/** The host without its port; undefined if it is not a host. */
function hostName(host: string): string | undefined {
  return /^(\[[\da-f:]+\]|[\w.-]+)(?::\d{1,5})?$/.exec(host.toLowerCase())?.[1];
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function forbidden(reason: string): Refusal {
  return { status: 403, reason };
}

function quote(text: string): string {
  return `“${text.slice(0, 100)}”`;
}
