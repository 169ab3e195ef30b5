// Sends one request to a given address without cookies or credentials, and decodes the body up to a limit.
import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { describeError } from '../../base/errors.ts';
import { USER_AGENT } from '../../node/boundedBody.ts';

const MOST_BYTES = 2_000_000;

export interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
  /** The body was longer. */
  readonly cut: boolean;
}

/** The connection broke during the response. */
export class BrokenAnswerError extends Error {
  constructor(bytes: number, cause: unknown) {
    super(`the connection broke after ${bytes.toLocaleString('en')} bytes of the answer (${describeError(cause)})`);
    this.name = 'BrokenAnswerError';
  }
}

/** Rejects with the network's error. */
export function request(
  url: URL,
  { address, family }: { readonly address: string; readonly family: number },
  signal: AbortSignal,
): Promise<Received> {
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const sent = send(
      url,
      {
        signal,
        // A new connection to this address, whatever the name resolves to now.
        agent: false,
        lookup: (_name, options, found) =>
          options.all === true ? found(null, [{ address, family }]) : found(null, address, family),
        headers: {
          accept: 'text/html,text/plain,application/json;q=0.9,*/*;q=0.5',
          'accept-encoding': 'gzip, deflate, br',
          'user-agent': USER_AGENT,
        },
      },
      (response) => {
        read(response).then(
          ({ body, cut }) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body, cut }),
          reject,
        );
      },
    );
    sent.once('error', reject);
    sent.end();
  });
}

async function read(response: IncomingMessage): Promise<{ body: Uint8Array; cut: boolean }> {
  const chunks: Buffer[] = [];
  let length = 0;
  const stream = unpacked(response);
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      // A small response may decompress to a huge one.
      if (length >= MOST_BYTES) break;
    }
  } catch (error) {
    throw new BrokenAnswerError(length, error);
  }
  response.destroy();
  return { body: Buffer.concat(chunks).subarray(0, MOST_BYTES), cut: length >= MOST_BYTES };
}

function unpacked(response: IncomingMessage): Readable {
  switch (response.headers['content-encoding']?.toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return pipe(response, createGunzip());
    case 'deflate':
      return pipe(response, createInflate());
    case 'br':
      return pipe(response, createBrotliDecompress());
    default:
      return response;
  }
}

function pipe(response: IncomingMessage, into: ReturnType<typeof createGunzip>): Readable {
  response.once('error', (error) => into.destroy(error));
  return response.pipe(into);
}
