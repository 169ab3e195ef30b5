// Fetches a page: checks every address, also of redirects, and limits size, time and text.
import { describeError } from '../../base/errors.ts';
import { wholeCharacters } from '../../base/text.ts';
import { isLocalAddress, isLocalHost } from '../../core/consent/addresses.ts';
import { type ToolContext, type ToolOutcome } from '../../core/ports/ports.ts';
import { answer, cancelled, refuse } from '../defineTool.ts';
import { htmlToText } from './htmlText.ts';
import { BrokenAnswerError, type Received, request } from './request.ts';

const MOST_REDIRECTS = 5;
const LONGEST_MILLISECONDS = 30_000;

export interface FetchDeps {
  /** All addresses of a host name. */
  lookup(hostname: string): Promise<readonly { readonly address: string; readonly family: number }[]>;
}

export interface PageSection {
  readonly url: string;
  readonly start: number;
  readonly most: number;
}

export async function fetchPage(
  deps: FetchDeps,
  { url, start, most }: PageSection,
  { signal, progress }: Pick<ToolContext, 'signal' | 'progress'>,
): Promise<ToolOutcome> {
  const timeout = AbortSignal.timeout(LONGEST_MILLISECONDS);
  const either = AbortSignal.any([signal, timeout]);
  try {
    const got = await follow(deps, url, either, progress);
    if (typeof got === 'string') return refuse('outside', got);
    return show(got, start, most);
  } catch (error) {
    if (signal.aborted) return cancelled();
    if (timeout.aborted) return refuse('slow', `${url} did not answer within ${LONGEST_MILLISECONDS / 1000} s.`);
    if (error instanceof BrokenAnswerError)
      return refuse('stream_cut', `${url} was not fetched: ${error.message}. Try again.`);
    return refuse('unreachable', `${url} cannot be reached: ${describeError(error)}.`);
  }
}

interface Got extends Received {
  readonly url: URL;
}

/** The final response, or why there is none. */
async function follow(
  deps: FetchDeps,
  start: string,
  signal: AbortSignal,
  progress: (text: string) => void,
): Promise<Got | string> {
  let url = parse(start);
  if (typeof url === 'string') return url;
  // A host named in the call was approved by the user; the target of a redirect was not.
  const allowed = isLocalHost(url.hostname) ? url.host : undefined;
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects += 1) {
    const address = await choose(deps, url, allowed === url.host);
    if (typeof address === 'string') return address;
    progress(`${url.href}\n`);
    const received = await request(url, address, signal);
    const { location } = received.headers;
    if (received.status < 300 || received.status >= 400 || location === undefined) return { ...received, url };
    const next = parse(location, url);
    if (typeof next === 'string') return `${url.href} leads elsewhere. ${next}`;
    if (url.protocol === 'https:' && next.protocol === 'http:') {
      return `${url.href} leads to ${next.href}, which is not encrypted. Fetch that address itself if you want it.`;
    }
    url = next;
  }
  return `${start} was not fetched: it led on more than ${MOST_REDIRECTS} times.`;
}

function parse(text: string, base?: URL): URL | string {
  const url = URL.parse(text, base?.href);
  if (url === null) return `url: ${text} is no address. Begin it with https://.`;
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return `url: only http and https can be fetched, not ${url.protocol}`;
  if (url.username !== '' || url.password !== '') return 'url: an address with a name or a password is not fetched.';
  return url;
}

interface Address {
  readonly address: string;
  readonly family: number;
}

/** Connects to the address that was checked, so that the name cannot resolve to another one meanwhile. */
async function choose(deps: FetchDeps, url: URL, allowed: boolean): Promise<Address | string> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (!allowed && isLocalHost(url.hostname)) return barred(url, 'is');
  const addresses = await deps.lookup(host);
  const [first] = addresses;
  if (first === undefined) return `${url.hostname} has no address.`;
  if (!allowed && addresses.some(({ address }) => isLocalAddress(address))) return barred(url, 'resolves to');
  return first;
}

function barred(url: URL, verb: string): string {
  return `${url.href} was not fetched: ${url.hostname} ${verb} an address of this machine or the network around it. If that is meant, fetch it by that address, so that the user is asked for it.`;
}

function show({ url, status, headers, body, cut }: Got, start: number, most: number): ToolOutcome {
  const type = headers['content-type'] ?? '';
  const text = decodePage(type, body);
  if (text === undefined)
    return refuse('not_text', `${url.href} is not text (${type || 'unknown type'}, ${body.length} bytes).`);
  if (start > 0 && start >= text.length)
    return refuse('bad_arguments', `start: there are only ${text.length} characters.`);
  const part = wholeCharacters(text.slice(start), most);
  const end = start + part.length;
  const notes = [
    `${url.href} (${status}${type === '' ? '' : `, ${type.split(';')[0]}`}):`,
    part,
    ...(end < text.length ? [`(It goes on: start ${end} of ${text.length}.)`] : []),
    ...(cut && end >= text.length ? ['(The rest was too long to fetch.)'] : []),
  ];
  return status >= 400 ? refuse('http_error', notes.join('\n')) : answer(notes.join('\n'));
}

/** Undefined if it is not text. */
function decodePage(type: string, body: Uint8Array): string | undefined {
  const isHtml = /html/i.test(type) || (type === '' && /^\s*<(!doctype|html)/i.test(latin(body.subarray(0, 200))));
  const known = isHtml || type === '' || /^text\/|json|xml|javascript|ecmascript|yaml|toml|x-sh|x-www-form/i.test(type);
  if (!known || body.subarray(0, 8192).includes(0)) return undefined;
  const charset = /charset="?([\w-]+)/i.exec(type)?.[1] ?? (isHtml ? charsetIn(body) : undefined) ?? 'utf-8';
  const text = decode(body, charset);
  return isHtml ? htmlToText(text) : text;
}

function charsetIn(body: Uint8Array): string | undefined {
  return /<meta[^>]{0,200}charset=["']?([\w-]+)/i.exec(latin(body.subarray(0, 2000)))?.[1];
}

function latin(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}

function decode(body: Uint8Array, charset: string): string {
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    return new TextDecoder().decode(body);
  }
}
