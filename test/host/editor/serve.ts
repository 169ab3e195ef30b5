// Starts and stops a VS Code server with Earshot, and builds its addresses.
import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { cacheFolder, newTemporaryFolder } from '../install/cache.mjs';
import { UserError } from '../console/errors.mjs';
import { createExtensionHosts, type ExtensionHostExit } from './extensionHosts.ts';
import { installLanguage } from './installLanguage.ts';
import { startPathProxy } from './pathProxy.ts';
import { lastLines, spawnNode } from '../processes/runCommand.mjs';
import { serverEnvironment } from './serverEnvironment.ts';
import { defaultSettings, mergeSettings, type Settings } from './serverSettings.ts';
import { setUp } from '../setup.mjs';

const host = '127.0.0.1';
const startWithinMilliseconds = 60_000;
const keptOutputLines = 400;

export interface VscodeServerOptions {
  /** Holds the server's state, its log (server.log) and its own home folder. */
  readonly dataDir: string;
  readonly extensionsDir?: string;
  /**
   * The folder of an extension that is linked as installed. Such a server runs no tests and no extension under
   * development.
   */
  readonly installed?: string;
  /** Merged into the defaults of tests; null restores VS Code's default. */
  readonly settings?: Settings;
  /** Default: a free one. */
  readonly port?: number;
  /** Added to the environment of the server and its extension hosts; undefined removes a variable. */
  readonly env?: NodeJS.ProcessEnv;
  /** If true, folders are untrusted until the user trusts them. Default: every folder is trusted. */
  readonly workspaceTrust?: boolean;
  /** The display language; default: English. */
  readonly language?: string;
}

interface PageOptions {
  /** The folder of the extension under development. */
  readonly extension?: string;
  /** A file that exports run(), to be run in the extension host. */
  readonly tests?: string;
}

export interface VscodeServer {
  readonly port: number;
  /** The address that opens a folder, or an empty window, in any browser on this machine. */
  url(folder: string | undefined, page: PageOptions): string;
  /** The extension hosts of all open windows, oldest first. */
  extensionHostPids(): number[];
  onDidExitExtensionHost(listener: (exit: ExtensionHostExit) => void): () => void;
  onOutput(listener: (line: string) => void): () => void;
  /** The last lines the server printed. */
  recentOutput(): string;
  /** Settles when the server has ended for any reason. */
  readonly ended: Promise<void>;
  /** Ends the server, its extension hosts, terminals and language servers; resolves when none of them is left. */
  stop(): Promise<void>;
}

export async function startVscodeServer(options: VscodeServerOptions): Promise<VscodeServer> {
  const { node, vscode } = await setUp(['vscode']);
  const { dataDir, extensionsDir = join(dataDir, 'extensions') } = options;
  const home = join(dataDir, 'home');
  const runtimeFolder = await newTemporaryFolder();
  await Promise.all([home, extensionsDir].map((folder) => mkdir(folder, { recursive: true })));
  await writeMachineSettings(dataDir, options.settings ?? {});
  if (options.language !== undefined) await installLanguage(options.language, dataDir);
  if (options.installed !== undefined) await linkExtension(options.installed, extensionsDir);
  const { token, tokenFile } = await connectionToken(dataDir);
  const proxy = await startPathProxy();

  const flags = ['--host', host, '--port', String(options.port ?? 0), '--connection-token-file', tokenFile]
    .concat('--server-data-dir', dataDir, '--extensions-dir', extensionsDir)
    .concat('--accept-server-license-terms', '--telemetry-level', 'off')
    // Only a driven workbench loads an extension under development; it shows messages only in the notification centre.
    .concat(options.installed === undefined ? '--enable-smoke-test-driver' : [])
    .concat(options.workspaceTrust === true ? [] : '--disable-workspace-trust')
    .concat(options.language === undefined ? [] : ['--locale', options.language]);
  const { child, end } = spawnNode(node, [join(vscode, 'out', 'server-main.js'), ...flags], {
    cwd: home,
    // Without VSCODE_PROXY_URI, VS Code would use addresses that only the front end of code-server serves.
    env: serverEnvironment(
      process.env,
      { home, runtimeFolder, node },
      { VSCODE_PROXY_URI: proxy.address('{{port}}'), ...options.env },
    ),
    output: 'pipe',
  });

  const output = readOutput([child.stdout, child.stderr], join(dataDir, 'server.log'));
  const extensionHosts = createExtensionHosts();
  output.onLine(extensionHosts.readLine);
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => resolve());
  });
  const stop = async () => {
    await end();
    await ended;
    await proxy.close();
    await rm(runtimeFolder, { recursive: true, force: true });
  };

  try {
    const port = await listeningPort(output, ended);
    return {
      port,
      url: (folder, page) => pageUrl(port, token, folder, page),
      extensionHostPids: extensionHosts.pids,
      onDidExitExtensionHost: extensionHosts.onDidExit,
      onOutput: output.onLine,
      recentOutput: output.recent,
      ended,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Machine settings have lower precedence than changes made in the window or the folder. Open windows apply them at
 * once.
 */
export async function writeMachineSettings(dataDir: string, settings: Settings): Promise<void> {
  const folder = join(dataDir, 'data', 'Machine');
  await mkdir(folder, { recursive: true });
  const text = `${JSON.stringify(mergeSettings(defaultSettings, settings), null, 2)}\n`;
  // Written in place, since VS Code watches the file itself and may miss its replacement.
  await writeFile(join(folder, 'settings.json'), text);
}

/** The link's name has no version: VS Code remembers the folder, and later versions must be found there too. */
async function linkExtension(folder: string, extensionsDir: string): Promise<void> {
  const link = join(extensionsDir, 'earshot');
  await rm(link, { recursive: true, force: true });
  await symlink(folder, link, 'junction');
  // Without this list VS Code scans the folder instead of using what it remembers of an older manifest.
  await rm(join(extensionsDir, 'extensions.json'), { force: true });
}

/**
 * Without a token, any web page that the user visits could reach the server, and with it a shell. Browsers keep the
 * token in a cookie that is not bound to a port, so all servers of one user must share one token.
 */
async function connectionToken(dataDir: string): Promise<{ token: string; tokenFile: string }> {
  for (const folder of [cacheFolder(), dataDir]) {
    const tokenFile = join(folder, 'connection-token');
    try {
      await mkdir(folder, { recursive: true });
      await writeFile(tokenFile, randomBytes(16).toString('hex'), { flag: 'wx', mode: 0o600 });
    } catch {
      // The file exists already, or this folder cannot be written to.
    }
    const token = (await readFile(tokenFile, 'utf8').catch(() => '')).trim();
    if (/^[0-9a-f]{32}$/.test(token)) return { token, tokenFile };
  }
  throw new UserError(
    `The folder ${dataDir} cannot be written to.`,
    'Free some space on its disk or change its permissions.',
  );
}

type Output = ReturnType<typeof readOutput>;

function readOutput(streams: readonly (NodeJS.ReadableStream | null)[], logFile: string) {
  const recent: string[] = [];
  const listeners = new Set<(line: string) => void>();
  const log = createWriteStream(logFile).on('error', () => {});
  for (const stream of streams) {
    if (stream === null) continue;
    stream.pipe(log, { end: false });
    createInterface({ input: stream.pipe(new PassThrough()) }).on('line', (line) => {
      recent.push(line);
      if (recent.length > keptOutputLines) recent.shift();
      for (const listener of listeners) listener(line);
    });
  }
  return {
    onLine(listener: (line: string) => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    recent: () => recent.join('\n'),
  };
}

function listeningPort(output: Output, ended: Promise<void>): Promise<number> {
  return new Promise((resolve, reject) => {
    let port = 0;
    const fail = (what: string) => {
      const nextStep = output.recent().includes('EADDRINUSE')
        ? 'The port was taken in the meantime: choose another with --port N.'
        : 'Run the command again; if it fails again, remove the folder named vscode-… in the cache folder.';
      reject(new UserError(`The VS Code server ${what}.`, nextStep, { details: lastLines(output.recent(), 12) }));
    };
    const timer = setTimeout(
      () => fail(`was not ready within ${startWithinMilliseconds / 1000} s`),
      startWithinMilliseconds,
    );
    const forget = output.onLine((line) => {
      port = Number(/Extension host agent listening on (\d+)/.exec(line)?.[1] ?? port);
      if (!line.includes('Extension host agent started')) return;
      clearTimeout(timer);
      forget();
      resolve(port);
    });
    ended.then(() => {
      clearTimeout(timer);
      fail('ended before it was ready');
    }, reject);
  });
}

/** The payload contains what a desktop VS Code gets as flags. */
function pageUrl(port: number, token: string, folder: string | undefined, { extension, tests }: PageOptions): string {
  const remote = (path: string) => `vscode-remote://${host}:${port}${pathToFileURL(path).pathname}`;
  const payload = [
    ...(extension === undefined ? [] : [['extensionDevelopmentPath', remote(extension)]]),
    ...(tests === undefined ? [] : [['extensionTestsPath', remote(tests)]]),
  ];
  const query = new URLSearchParams({ tkn: token });
  if (folder !== undefined) query.set('folder', decodeURIComponent(pathToFileURL(folder).pathname));
  query.set('payload', JSON.stringify(payload));
  return `http://${host}:${port}/?${query.toString().replaceAll('+', '%20')}`;
}
