// Receives the browser that returns from a sign-in, on a port of this machine.
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { type Disposable } from '../../base/disposable.ts';

/** How long the user has for the pages of the browser. */
const LONGEST = 10 * 60_000;

export interface SignInReceiver extends Disposable {
  readonly port: number;
  /** Nothing is received any more: it was disposed, or nobody came back in time. */
  readonly isClosed: boolean;
  /** A page is opened; an earlier one is not waited for any more. */
  expect(state: string): void;
  /** What the browser came back with from the last page; undefined: nobody came back. */
  next(): Promise<URLSearchParams | undefined>;
}

/** `done` is shown to the user in the browser. Another port is taken if the preferred one is in use. */
export async function openSignInReceiver(preferred: number, done: string): Promise<SignInReceiver> {
  let returned = Promise.withResolvers<URLSearchParams | undefined>();
  let expected = '';
  let isClosed = false;
  const server = createServer((request, response) => {
    // Null for what is no address, such as two slashes: anything can call a port of this machine.
    const url = URL.parse(request.url ?? '/', 'http://127.0.0.1');
    // Only the page that was opened knows the state.
    const isOurs = url?.pathname === '/callback' && expected !== '' && url.searchParams.get('state') === expected;
    response.writeHead(isOurs ? 200 : 404, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
    response.end(isOurs ? done : 'Not found');
    if (!isOurs) return;
    expected = '';
    returned.resolve(url.searchParams);
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
  // A client that cannot be accepted, for want of file descriptors, is no reason to end.
  server.on('error', () => undefined);
}
