// A server with scripted answers that checks each request by the rules of its vendor.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo } from 'node:net';
import { TITLE_PROMPT } from '../../../../src/core/agent/titles.ts';
import { atTestEnd } from '../../endings.ts';

export type Body = Readonly<Record<string, unknown>>;

export interface NativeRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Body;
}

/** A refusal, or an answer. */
export type Reply =
  | { readonly status: number; readonly body: object; readonly headers?: Readonly<Record<string, string>> }
  | { readonly sse: string };

export interface NativeEndpoint {
  readonly address: string;
  /** Without those for titles. */
  readonly requests: readonly NativeRequest[];
  /** The messages of all refusals. */
  readonly refusals: readonly string[];
}

export async function startNativeEndpoint(options: {
  reply(request: NativeRequest): Reply;
  /** The stream of a title. */
  readonly title: string;
}): Promise<NativeEndpoint> {
  const requests: NativeRequest[] = [];
  const refusals: string[] = [];
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      // It lists no models.
      response.writeHead(404).end();
      return;
    }
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const text = Buffer.concat(pieces).toString();
      const received = { path: request.url ?? '', headers: request.headers, body: JSON.parse(text) as Body };
      const isTitle = text.includes(JSON.stringify(TITLE_PROMPT));
      if (!isTitle) requests.push(received);
      const reply: Reply = isTitle ? { sse: options.title } : options.reply(received);
      if ('sse' in reply) {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(reply.sse);
        return;
      }
      refusals.push(JSON.stringify(reply.body));
      response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
      response.end(JSON.stringify(reply.body));
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  atTestEnd(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, refusals };
}

/** Whether a later request begins with everything that an earlier one sent, apart from `ignored` fields. */
export function findChangedPrefix(
  requests: readonly NativeRequest[],
  list: string,
  ignored: readonly string[],
): string | undefined {
  const clean = (value: unknown) =>
    JSON.stringify(value, (name, inner: unknown) => (ignored.includes(name) ? undefined : inner));
  for (const [number, { body }] of requests.entries()) {
    const before = requests[number - 1]?.body;
    if (before === undefined) continue;
    for (const name of new Set([...Object.keys(before), ...Object.keys(body)])) {
      if (name === list || ignored.includes(name) || clean(before[name]) === clean(body[name])) continue;
      return `request ${number} changes ${name}: ${clean(before[name])} to ${clean(body[name])}`;
    }
    const [earlier, later] = [before[list] as unknown[], body[list] as unknown[]];
    const at = earlier.findIndex((element, index) => clean(element) !== clean(later[index]));
    if (at !== -1) return `request ${number} changes ${list}[${at}]: ${clean(earlier[at])} to ${clean(later[at])}`;
  }
  return undefined;
}
