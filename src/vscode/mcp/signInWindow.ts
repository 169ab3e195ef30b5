// Signs in to MCP servers through the user's browser, which returns to a port of this machine.
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import * as vscode from 'vscode';
import { type ConfiguredServer } from '../../mcp/config/configuration.ts';
import { type ServerSecrets, type SignIn } from '../../mcp/oauth/signInPort.ts';

const FIRST_PORT = 33_419;
const PORT = 'port';
const ALL_KEYS = ['tokens', 'client', 'verifier', PORT];
/** How long the user has for the pages of the browser. */
const LONGEST = 10 * 60_000;

export function serverSecrets(secrets: vscode.SecretStorage, { identity }: ConfiguredServer): ServerSecrets {
  const name = (key: string) => `earshot.mcp:${identity}:${key}`;
  return {
    get: (key) => Promise.resolve(secrets.get(name(key))),
    set: async (key, value) => {
      await (value === undefined ? secrets.delete(name(key)) : secrets.store(name(key), value));
    },
  };
}

/** Resolves to whether anything was stored. */
export async function signOut(secrets: vscode.SecretStorage, server: ConfiguredServer): Promise<boolean> {
  const own = serverSecrets(secrets, server);
  const hadTokens = (await own.get('tokens')) !== undefined;
  for (const key of ALL_KEYS) await own.set(key, undefined);
  return hadTokens;
}

/** `isAsked`: the user wants to sign in now; otherwise no browser is opened. */
export async function createSignIn(
  secrets: ServerSecrets,
  isAsked: () => boolean,
  report: (error: unknown) => void,
): Promise<SignIn> {
  const known = Number(await secrets.get(PORT)) || FIRST_PORT;
  const receiver = isAsked() ? await listen(known) : undefined;
  const port = receiver?.port ?? known;
  // A client is registered with the address that it returns to.
  if (port !== known) await secrets.set('client', undefined);
  if (receiver !== undefined) await secrets.set(PORT, String(port));
  let opened = false;
  return {
    secrets,
    redirectUrl: `http://127.0.0.1:${port}/callback`,
    open: async (url, state) => {
      if (receiver === undefined) return false;
      receiver.expect(state);
      // In a remote window this forwards the port.
      await vscode.env.asExternalUri(vscode.Uri.parse(`http://127.0.0.1:${port}/callback`)).then(undefined, report);
      opened = await vscode.env.openExternal(vscode.Uri.parse(url.toString(), true));
      if (!opened) receiver.close();
      return opened;
    },
    callback: async () => {
      if (!opened || receiver === undefined) return undefined;
      opened = false;
      return receiver.next();
    },
  };
}

interface Receiver {
  readonly port: number;
  expect(state: string): void;
  next(): Promise<URLSearchParams | undefined>;
  close(): void;
}

async function listen(preferred: number): Promise<Receiver> {
  const { promise, resolve } = Promise.withResolvers<URLSearchParams | undefined>();
  let expected = '';
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    // Anything can call a port of this machine: only the page that was opened knows the state.
    const isOurs = url.pathname === '/callback' && expected !== '' && url.searchParams.get('state') === expected;
    response.writeHead(isOurs ? 200 : 404, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
    const done = vscode.l10n.t('You are signed in. You can close this page and return to the editor.');
    response.end(isOurs ? done : 'Not found');
    if (isOurs) resolve(url.searchParams);
  });
  await bind(server, preferred);
  const timer = setTimeout(() => resolve(undefined), LONGEST);
  const close = () => {
    clearTimeout(timer);
    server.close();
  };
  return {
    port: (server.address() as AddressInfo).port,
    expect: (state) => {
      expected = state;
    },
    next: () => promise.finally(close),
    close,
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
}
