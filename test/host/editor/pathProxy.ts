// A reverse proxy like that of code-server: serves ports of this machine under /proxy/PORT/ and keeps the Host header.
import { createServer, request } from 'node:http';
import { type AddressInfo } from 'node:net';

export interface PathProxy {
  readonly port: number;
  /** The address of a port of this machine, with a slash at the end. */
  address(port: number | string, host?: string): string;
  close(): Promise<void>;
}

export async function startPathProxy(): Promise<PathProxy> {
  const server = createServer((incoming, outgoing) => {
    const [, port, rest] = /^\/proxy\/(\d{1,5})(\/.*)$/.exec(incoming.url ?? '') ?? [];
    if (port === undefined) return void outgoing.writeHead(404).end('Not found\n');
    const { method, headers } = incoming;
    const passed = request({ host: '127.0.0.1', port, path: rest, method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      outgoing.flushHeaders();
      answer.pipe(outgoing);
    });
    passed.on('error', () => (outgoing.headersSent ? outgoing.destroy() : outgoing.writeHead(502).end()));
    outgoing.on('close', () => passed.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port: own } = server.address() as AddressInfo;
  return {
    port: own,
    address: (port, host = '127.0.0.1') => `http://${host}:${own}/proxy/${port}/`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
