// The web chat as in a window: the real plugin host starts it, without the editor.
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { expect } from 'vitest';
import { keyedHash } from '../../../src/node/scripts/keyedHash.ts';
import { hashedTexts, type WebChatOptions, WEB_CHAT } from '../../../src/protocol/webChat.ts';
import { linkCode } from '../../../src/vscode/plugins/webChatLink.ts';
import { builtProgram } from '../builtProgram.ts';
import { createPluginWorld, type PluginWorld, type PluginWorldOptions } from '../plugins/pluginWorld.ts';

const root = resolve(import.meta.dirname, '../../..');
export const KEY = 'test-key-test-key-test-key-test-key-te';
/** The token of a page. */
export const TOKEN = `page.${keyedHash(KEY, hashedTexts.page('page'))}`;

/** What a link to the page has after the #. */
export const freshCode = (): string => linkCode(KEY, Date.now());

export interface WebChatWorld extends PluginWorld {
  readonly port: number;
  readonly origin: string;
  /** Starts the plugin again, on the same port with the same token. */
  startWebChat(): Promise<void>;
}

interface WebChatWorldOptions extends PluginWorldOptions {
  /** Runs the program in `dist/`, with the page's files, instead of its own copy. */
  readonly built?: boolean;
  readonly hosts?: readonly string[];
}

export async function createWebChatWorld(options: WebChatWorldOptions = {}): Promise<WebChatWorld> {
  const world = await createPluginWorld(options);
  const port = await freePort();
  const program = options.built === true ? join(root, 'dist', 'webChat.js') : await builtProgram('src/webchat/main.ts');
  const given: WebChatOptions = {
    key: KEY,
    port,
    hosts: [...(options.hosts ?? [])],
    root,
    language: 'en',
    version: '1.0.0',
    hostVersion: '1.106.0',
    folder: 'tea-shop',
    model: { label: 'test-model', detail: 'localhost', contextWindow: 100_000 },
  };
  world.programs.set(WEB_CHAT, {
    command: [process.execPath, program],
    run: 'allow',
    start: 'manual',
    approve: true,
    options: given,
  });
  const origin = `http://127.0.0.1:${port}`;
  const startWebChat = async () => {
    const started = await world.host.run(WEB_CHAT);
    expect(started).toMatchObject({ ok: true });
    await expect.poll(() => isServed(origin), { interval: 20 }).toBe(true);
  };
  await startWebChat();
  return { ...world, port, origin, startWebChat };
}

async function isServed(origin: string): Promise<boolean> {
  return fetch(origin).then(
    (response) => response.ok,
    () => false,
  );
}

export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await new Promise<number>((done) =>
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      done(typeof address === 'object' && address !== null ? address.port : 0);
    }),
  );
  await new Promise((done) => server.close(done));
  return port;
}
