// Limits the size of what an HTTP server sends: a document, or one event of a stream, and their number. Also sends requests to Unix sockets
// and to given addresses.
import { type IncomingMessage, request } from 'node:http';
import { request as requestHttps } from 'node:https';
import { type LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
import { TooLargeError } from '../../node/boundedBody.ts';
import { FloodGate, inPieces } from './flood.ts';

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** Reading a body of more than `most` bytes fails with a TooLargeError. In a stream the limit is for each event. */
export function boundFetch(fetch: Fetch, most: number): Fetch {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (response.body === null) return response;
    const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true;
    const body = response.body.pipeThrough(limitBytes(most, isStream));
    const { status, statusText, headers } = response;
    const bounded = new Response(body, { status, statusText, headers });
    Object.defineProperty(bounded, 'url', { value: response.url });
    Object.defineProperty(bounded, 'redirected', { value: response.redirected });
    return bounded;
  };
}

function limitBytes(most: number, perEvent: boolean): TransformStream<Uint8Array, Uint8Array> {
  const gate = new FloodGate();
  let size = 0;
  let lineIsEmpty = true;
  let hasEnded = false;
  /** Returns which limit is exceeded. */
  const measure = (piece: Uint8Array): string | undefined => {
    let from = 0;
    let problem: string | undefined;
    for (let at = perEvent ? piece.indexOf(NEWLINE) : -1; at !== -1; at = piece.indexOf(NEWLINE, from)) {
      const isEmpty = lineIsEmpty && (at === from || (at === from + 1 && piece[from] === RETURN));
      if (isEmpty) problem ??= gate.count(size);
      size = isEmpty ? 0 : size + (at + 1 - from);
      lineIsEmpty = true;
      from = at + 1;
    }
    if (from < piece.length) lineIsEmpty = false;
    size += piece.length - from;
    return size > most ? `a message is larger than ${most / 1024 / 1024} MiB` : problem;
  };
  return new TransformStream({
    transform: (chunk, controller) =>
      inPieces(chunk, (piece) => {
        if (hasEnded) return;
        const problem = measure(piece);
        hasEnded = problem !== undefined;
        if (problem === undefined) controller.enqueue(piece);
        else controller.error(new TooLargeError(problem));
      }),
  });
}

/** Where a request goes: to a local socket, or to this address, whatever the host's name resolves to. */
export type Destination =
  | { readonly socketPath: string }
  | { readonly address: { readonly address: string; readonly family: number } };

/** One request over a new connection, without redirects. */
export async function sendOver(to: Destination, url: URL, init: RequestInit): Promise<Response> {
  const body = init.body === undefined || init.body === null ? undefined : await new Response(init.body).text();
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const send = url.protocol === 'https:' ? requestHttps : request;
  const sent = send(
    url,
    {
      ...('address' in to ? { lookup: alwaysFind(to.address), agent: false } : { ...to, host: null }),
      method: init.method ?? 'GET',
      headers: { host: 'address' in to ? url.host : url.hostname, ...Object.fromEntries(new Headers(init.headers)) },
      ...(init.signal !== undefined && init.signal !== null && { signal: init.signal }),
    },
    resolve,
  );
  sent.on('error', reject);
  sent.end(body);
  return toResponse(await promise);
}

function alwaysFind({ address, family }: { readonly address: string; readonly family: number }): LookupFunction {
  return (_name, { all }, found) => (all === true ? found(null, [{ address, family }]) : found(null, address, family));
}

function toResponse(received: IncomingMessage): Response {
  const headers = new Headers();
  for (const [name, value] of Object.entries(received.headers)) {
    for (const one of [value ?? []].flat()) headers.append(name, one);
  }
  const status = received.statusCode ?? 500;
  const isEmpty = status === 204 || status === 304;
  const body = isEmpty ? null : (Readable.toWeb(received) as ReadableStream<Uint8Array>);
  if (isEmpty) received.resume();
  return new Response(body, { status, statusText: received.statusMessage ?? '', headers });
}
