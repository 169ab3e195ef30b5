// Receives the browser's redirect after a sign-in, on a local port.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { type Disposable } from '../../base/disposable.ts';
import { isHeldByCommand } from '../../node/peerProcess.ts';

/** How long the user may take to sign in. */
const LONGEST = 10 * 60_000;

export interface SignInReceiver extends Disposable {
  readonly port: number;
  /** True once it was disposed, or the browser did not return in time. */
  readonly isClosed: boolean;
  /** Call it when a page is opened. The redirect of an earlier page is then ignored. */
  expect(state: string): void;
  /** The parameters of the redirect from the last page; undefined: the browser did not return. */
  next(): Promise<URLSearchParams | undefined>;
}

/** `done` is shown to the user in the browser. Uses another port if the preferred one is in use. */
export async function openSignInReceiver(preferred: number, done: string): Promise<SignInReceiver> {
  let returned = Promise.withResolvers<URLSearchParams | undefined>();
  let expected = '';
  let isClosed = false;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    // The state is on the command line of the browser, where processes of commands can read it.
    if (await isHeldByCommand(request.socket)) {
      response.writeHead(403, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
      response.end('A command of Earshot has started this browser. Start it yourself, and sign in again.');
      return;
    }
    // Null if the path is not valid, such as two slashes: any program can send requests to a local port.
    const url = URL.parse(request.url ?? '/', 'http://127.0.0.1');
    const isOurs = url?.pathname === '/callback' && expected !== '' && url.searchParams.get('state') === expected;
    response.writeHead(isOurs ? 200 : 404, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
    response.end(isOurs ? done : 'Not found');
    if (!isOurs) return;
    expected = '';
    returned.resolve(url.searchParams);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  const close = () => {
    isClosed = true;
    clearTimeout(timer);
    server.close();
    returned.resolve(undefined);
  };
  await bind(server, preferred);
  let timer = setTimeout(close, LONGEST);
  return {
    port: (server.address() as AddressInfo).port,
    get isClosed() {
      return isClosed;
    },
    expect: (state) => {
      if (isClosed) return;
      expected = state;
      returned.resolve(undefined);
      returned = Promise.withResolvers();
      clearTimeout(timer);
      timer = setTimeout(close, LONGEST);
    },
    next: () => returned.promise,
    dispose: close,
  };
}

async function bind(server: Server, preferred: number): Promise<void> {
  const tryPort = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => {
        server.off('error', reject);
        resolve();
      });
    });
  await tryPort(preferred).catch(() => tryPort(0));
  // Failing to accept one client, for lack of file descriptors, must not end the server.
  server.on('error', () => undefined);
}
