// A window that outside agents connect to: Earshot without the editor, with real files, git, and the window's socket.
import { Listeners } from '../../../src/core/listeners.ts';
import { base64 } from '../../../src/node/files/base64.ts';
import { realFileSystem } from '../../../src/node/files/fileSystem.ts';
import { hubFolder, outsideFolder, socketHome } from '../../../src/node/hubFolder.ts';
import { isAlive } from '../../../src/node/kernelLock.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { realIds } from '../../../src/node/realIds.ts';
import { Frontends } from '../../../src/core/frontend/frontends.ts';
import { KeepAlive } from '../../../src/core/keepAlive.ts';
import { LocalClients } from '../../../src/core/client/local/localClient.ts';
import { Library } from '../../../src/core/library.ts';
import { endEars } from '../../../src/plugins/client/ears.ts';
import { createApprovedPrograms } from '../../../src/plugins/host/approvedPrograms.ts';
import { AttachedPrograms } from '../../../src/plugins/host/attachedPrograms.ts';
import { ProgramConsent } from '../../../src/plugins/host/consent.ts';
import { WindowListener } from '../../../src/plugins/host/windowListener.ts';
import { createInit } from '../../../src/plugins/initMessage.ts';
import { SharedParts } from '../../../src/plugins/sharedParts.ts';
import { createFilesProducer } from '../../../src/producers/files/files.ts';
import { createGitProducer } from '../../../src/producers/git/git.ts';
import { GitGate } from '../../../src/producers/git/gitGate.ts';
import { readSettings } from '../../../src/protocol/settings.ts';
import { createListenerTools } from '../../../src/tools/listenerTools.ts';
import { recordingLogger } from '../recordingLogger.ts';
import { type Headless, startHeadlessIn } from '../walk/headless.ts';
import { createStagedModel } from './stagedModel.ts';
import { startWindowServers } from './windowServers.ts';
import { testControls } from './testControls.ts';

export interface ListeningOptions {
  readonly home?: string;
  readonly pid?: number;
  readonly trusted?: () => boolean;
  /** The user's answer to the question whether an agent may connect. */
  readonly allows?: () => boolean | Promise<boolean>;
  /** Of VS Code, by their names without `earshot.`: MCP servers, their events, and the way to ask for CI. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

export interface ListeningWindow {
  readonly headless: Headless;
  readonly listeners: Listeners;
  /** The agents that the user was asked about. */
  readonly asked: readonly string[];
  readonly errors: readonly string[];
  close(): Promise<void>;
}

/** `root` contains the folders of a headless window. */
export async function openListeningWindow(root: string, options: ListeningOptions = {}): Promise<ListeningWindow> {
  const { home = socketHome(), pid = process.pid } = options;
  const errors: string[] = [];
  const logger = recordingLogger(errors);
  const given = readSettings((name) => options.settings?.[name]).settings;
  const headless = await startHeadlessIn(root, {
    model: createStagedModel(),
    ...(given.forge !== 'ask' && { forge: { way: () => given.forge } }),
    scripts: { home },
    producers: (deps) => {
      const gate = new GitGate();
      return [createFilesProducer({ ...deps, gate }), createGitProducer({ ...deps, gate })];
    },
  });
  const { earshot, ports, handles, wakes, supervision, storage, folder, views } = headless;
  const { lock, store, snapshots, workspace, permissions } = ports;
  const base = { clock: realClock, ids: realIds, logger };
  const settings = ports.settings;
  const place = await outsideFolder(folder, home);
  const stored = headless.listenersIn(place, () => listeners.live.length > 0);
  const listeners: Listeners = new Listeners({ ...base, ...stored, snapshots, workspace, earshot, settings });
  const keepAlive = new KeepAlive({ earshot, handles, supervision, wakes, ...base });
  const frontends = new Frontends({ clock: realClock, logger });
  const library = new Library(ports, earshot);
  const parts = { earshot, keepAlive, handles, wakes, frontends, store, lock, views, isAlive, settings, library };
  const controls = testControls({ model: 'one', settings: {} });
  const rest = { permissions, snapshots, controls, base64, files: { workspace }, config: () => ({}) };
  const clients = new LocalClients({ ...base, ...parts, ...rest });
  const shared = new SharedParts(clients);
  const asked: string[] = [];
  const consent = new ProgramConsent({
    approved: createApprovedPrograms({ files: realFileSystem, folder: storage, logger }),
    programs: () => new Map(),
    isTrusted: options.trusted ?? (() => true),
    folder: () => folder,
    roots: () => [folder],
    confirmRun: async () => false,
    confirmAttach: async () => 'refuse',
    confirmListen: async ({ agent }) => {
      asked.push(agent);
      return (await options.allows?.()) ?? true;
    },
  });
  const init = () =>
    createInit(
      { workspace: { root: folder, storage, id: 'test' }, paths: {}, settings: settings(), logLevel: 0 },
      {},
      [],
    );
  const listener = new WindowListener({
    folder: await hubFolder(folder, home),
    pid,
    clock: realClock,
    wanted: async () => false,
    report: (message, error) => logger.error(message, error),
  });
  await listener.listen();
  await endEars(folder, home);
  await listeners.start();
  const servers = await startWindowServers(headless, given, logger);
  const attached = new AttachedPrograms({
    ...{ shared, consent, init, listeners, token: listener.token },
    programs: () => new Map(),
    openOutput: () => ({ append: () => undefined, log: () => undefined }),
    changed: () => undefined,
    tools: createListenerTools({ ...base, workspace, handles, wakes: headless.wakes }),
    spooled: async (id) => (await headless.scripts?.taken(id)) ?? 0,
  });
  const serving = listener.serve((socket) => attached.serve(socket));
  if (options.allows === undefined) {
    for (const agent of ['claude-code', 'codex', 'copilot']) await consent.answerListen(agent, true);
  }
  return {
    headless,
    listeners,
    asked,
    errors,
    close: async () => {
      serving.dispose();
      await attached.close();
      await listener.close();
      await listeners.close();
      servers.dispose();
      await servers.close();
      shared.dispose();
      clients.dispose();
      keepAlive.dispose();
      await headless.close();
    },
  };
}

// Also a program of its own, so that a test can kill it: `listeningWindow.ts <folder of storage and workspace> [settings]`.
if (process.argv[1] === import.meta.filename) {
  const [, , root = '', settings = '{}'] = process.argv;
  await openListeningWindow(root, { settings: JSON.parse(settings) as Record<string, unknown> });
  process.stdout.write('listening\n');
}
