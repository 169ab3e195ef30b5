// Signs in to MCP servers through the user's browser, which is redirected to a port of this machine.
import * as vscode from 'vscode';
import { type ConfiguredServer } from '../../mcp/config/configuration.ts';
import { type Disposable } from '../../base/disposable.ts';
import { type ServerSecrets, type SignIn } from '../../mcp/oauth/signInPort.ts';
import { openSignInReceiver } from '../../mcp/oauth/signInReceiver.ts';

const FIRST_PORT = 33_419;
const PORT = 'port';
const ALL_KEYS = ['tokens', 'client', 'verifier', PORT];

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

/** `isAsked`: the user wants to sign in now; otherwise no browser is opened. Disposing it closes the port. */
export async function createSignIn(
  secrets: ServerSecrets,
  isAsked: () => boolean,
  report: (error: unknown) => void,
): Promise<SignIn & Disposable> {
  const known = Number(await secrets.get(PORT)) || FIRST_PORT;
  const done = vscode.l10n.t('You are signed in. You can close this page and return to the editor.');
  const receiver = isAsked() ? await openSignInReceiver(known, done) : undefined;
  const port = receiver?.port ?? known;
  // A client is registered with its redirect address, so a new port needs a new client.
  if (port !== known) await secrets.set('client', undefined);
  if (receiver !== undefined) await secrets.set(PORT, String(port));
  let opened = false;
  return {
    secrets,
    redirectUrl: `http://127.0.0.1:${port}/callback`,
    isAsked: () => receiver?.isClosed === false,
    open: async (url, state) => {
      if (receiver === undefined || receiver.isClosed) return false;
      receiver.expect(state);
      // In a remote window this forwards the port.
      await vscode.env.asExternalUri(vscode.Uri.parse(`http://127.0.0.1:${port}/callback`)).then(undefined, report);
      opened = await vscode.env.openExternal(vscode.Uri.parse(url.toString(), true));
      if (!opened) receiver.dispose();
      return opened;
    },
    callback: async () => {
      if (!opened || receiver === undefined) return undefined;
      opened = false;
      return receiver.next();
    },
    dispose: () => receiver?.dispose(),
  };
}
