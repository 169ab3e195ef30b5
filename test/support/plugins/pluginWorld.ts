// Earshot without the editor, with the real plugin host and the window's socket, for tests that drive plugins with raw lines.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock } from '../../../src/base/clock.ts';
import { type Disposable } from '../../../src/base/disposable.ts';
import { LocalClients } from '../../../src/core/client/local/localClient.ts';
import { type Earshot } from '../../../src/core/earshot.ts';
import { type AttachedFrontend, Frontends } from '../../../src/core/frontend/frontends.ts';
import { KeepAlive } from '../../../src/core/keepAlive.ts';
import { Library } from '../../../src/core/library.ts';
import { type Ids, type Tool } from '../../../src/core/ports/ports.ts';
import { type Views } from '../../../src/core/ports/storage.ts';
import { base64 } from '../../../src/node/files/base64.ts';
import { realFileSystem } from '../../../src/node/files/fileSystem.ts';
import { hubFolder } from '../../../src/node/hubFolder.ts';
import { isAlive } from '../../../src/node/kernelLock.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { realIds } from '../../../src/node/realIds.ts';
import { AttachedPrograms } from '../../../src/plugins/host/attachedPrograms.ts';
import { type AttachConsent, ProgramConsent, type RunConsent } from '../../../src/plugins/host/consent.ts';
import { createApprovedPrograms } from '../../../src/plugins/host/approvedPrograms.ts';
import { PluginHost } from '../../../src/plugins/host/pluginHost.ts';
import { WindowListener } from '../../../src/plugins/host/windowListener.ts';
import { createInit, publicSettings } from '../../../src/plugins/initMessage.ts';
import { SharedParts } from '../../../src/plugins/sharedParts.ts';
import { type Program, programSchema } from '../../../src/protocol/plugin.ts';
import { readSettings, type SettingName } from '../../../src/protocol/settings.ts';
import { createPermissions } from '../../../src/storage/permissions.ts';
import { atTestEnd } from '../endings.ts';
import { recordingLogger } from '../recordingLogger.ts';
import { type Headless, startHeadless } from '../walk/headless.ts';
import { attachAnswering, attachRaw, type RawPlugin, type Relay, startRelay } from './rawPlugin.ts';
import { type ChosenControls, testControls } from './testControls.ts';
import { createStagedModel, type StagedAnswer, type StagedModel } from './stagedModel.ts';

export interface PluginWorldOptions {
  /** Tools instead of the usual ones. */
  readonly tools?: readonly Tool[];
  readonly answers?: readonly StagedAnswer[];
  readonly settings?: Partial<Record<SettingName, unknown>>;
  readonly programs?: Readonly<Record<string, Partial<Program>>>;
  readonly clock?: Clock;
  /** The token that `attach` must send, as on Windows. */
  readonly token?: string;
  /** Whether a view shows a conversation. By default the views of this window are asked. */
  readonly isShown?: (conversation: string) => boolean;
}

interface PluginWindow {
  readonly headless: Headless;
  readonly earshot: Earshot;
  readonly frontends: Frontends;
  readonly shared: SharedParts;
  readonly host: PluginHost;
  readonly listener: WindowListener;
  readonly attached: AttachedPrograms;
  readonly views: Views;
}

export interface PluginWorld extends PluginWindow {
  readonly model: StagedModel;
  /** The home folder that has the window's socket. */
  readonly home: string;
  /** What plugins have chosen in the window. */
  readonly chosen: ChosenControls;
  readonly programs: Map<string, Program>;
  /** The consents that the user was asked for; `user` has the answers. */
  readonly consents: (RunConsent | AttachConsent)[];
  user: { approves: boolean; trusts: boolean };
  /** What plugins printed and logged, and what the host logged about them. */
  readonly output: string[];
  readonly errors: string[];
  /** Creates an empty conversation. */
  conversation(): Promise<string>;
  /**
   * Attaches a plugin to the window's socket and waits for its `init`. `program` has its settings, for example
   * `approve`.
   */
  attach(name?: string, program?: Partial<Program>): Promise<RawPlugin>;
  /** Starts a plugin in its own process and waits for its `init`. */
  spawn(
    name?: string,
    program?: Partial<Program>,
    args?: readonly string[],
  ): Promise<RawPlugin & { readonly relay: Relay }>;
  /** Opens another window on the same folders, with the same model. */
  second(): Promise<PluginWindow>;
  /** Sends the user's message and waits for the end of the turn. */
  turn(conversation: string, text?: string): Promise<void>;
  add(frontend: AttachedFrontend): void;
  /** Disposes it when the test ends. */
  hold(disposable: Disposable): void;
}

/**
 * No scripted text ends with the first character of this key, so no piece of an answer is held back as a possible part
 * of it.
 */
const ids: Ids = { ...realIds, key: () => `_${realIds.key().slice(1)}` };

/** The number of the first window, used in the name of its socket. */
const FIRST = 1;

/** Everything is closed when the test ends. */
export async function createPluginWorld(options: PluginWorldOptions = {}): Promise<PluginWorld> {
  const model = createStagedModel(...(options.answers ?? []));
  const errors: string[] = [];
  const output: string[] = [];
  const consents: (RunConsent | AttachConsent)[] = [];
  const user = { approves: true, trusts: true };
  const programs = new Map(
    Object.entries(options.programs ?? {}).map(([name, program]) => [
      name,
      programSchema.parse({ command: ['x'], ...program }),
    ]),
  );
  const home = await mkdtemp(join(tmpdir(), 'earshot-hub-'));
  atTestEnd(() => rm(home, { recursive: true, force: true }));
  const { settings } = readSettings((name) => options.settings?.[name]);
  const chosen: ChosenControls = { model: 'one', settings: {} };
  const build = async (start: (frontends: Frontends) => Promise<Headless>, pid: number): Promise<PluginWindow> => {
    const logger = recordingLogger(errors);
    const frontends = new Frontends({ clock: options.clock ?? realClock, logger });
    const headless = await start(frontends);
    atTestEnd(() => (pid === FIRST ? headless.end() : headless.close()));
    const { earshot, ports, handles, wakes, supervision } = headless;
    const clock = options.clock ?? realClock;
    const keepAlive = new KeepAlive({ earshot, handles, supervision, wakes, clock, logger });
    atTestEnd(async () => keepAlive.dispose());
    const { lock, store } = ports;
    const { isShown } = options;
    const views =
      isShown === undefined ? headless.views : { ...headless.views, isShown: async (id: string) => isShown(id) };
    const clients = new LocalClients({
      ...{ earshot, keepAlive, handles, wakes, frontends, store, lock, views, clock, ids, logger, isAlive, base64 },
      library: new Library(ports, earshot),
      snapshots: ports.snapshots,
      files: ports,
      permissions: ports.permissions,
      controls: testControls(chosen),
      settings: () => ({ ...settings, ...chosen.settings }),
      config: () => publicSettings({ ...settings, ...chosen.settings }),
    });
    const shared = new SharedParts(clients);
    const consent = new ProgramConsent({
      approved: createApprovedPrograms({ files: realFileSystem, folder: join(home, 'global'), logger }),
      programs: () => programs,
      isTrusted: () => user.trusts,
      folder: () => headless.folder,
      roots: () => [headless.folder],
      confirmRun: async (asked) => {
        consents.push(asked);
        return user.approves;
      },
      confirmAttach: async (asked) => {
        consents.push(asked);
        return user.approves ? 'answer' : 'refuse';
      },
      confirmListen: async () => user.approves,
    });
    const workspace = { root: headless.folder, storage: headless.storage, id: 'test' };
    const common = {
      shared,
      consent,
      programs: () => programs,
      isTrusted: () => user.trusts,
      init: (given: Readonly<Record<string, unknown>>, args: readonly string[]) =>
        createInit({ workspace, paths: {}, settings: { ...settings, ...chosen.settings }, logLevel: 2 }, given, args),
      openOutput: (name: string) => ({
        append: (text: string) => void output.push(`${name}: ${text}`),
        log: (level: string, text: string) => void output.push(`${name} ${level}: ${text}`),
      }),
    };
    const host = new PluginHost(common);
    const listener = new WindowListener({
      folder: await hubFolder(headless.folder, home),
      pid,
      clock,
      wanted: async () => false,
      report: (message, error) => logger.error(message, error),
    });
    await listener.listen();
    const attached = new AttachedPrograms({
      ...common,
      token: options.token ?? listener.token,
      changed: () => undefined,
    });
    listener.serve((socket) => attached.serve(socket));
    atTestEnd(async () => {
      await Promise.all([host.close(), attached.close()]);
      await listener.close();
      shared.dispose();
      clients.dispose();
    });
    return { headless, earshot, frontends, shared, host, listener, attached, views };
  };
  const given = options.settings && { settings: options.settings };
  const permissions = createPermissions({
    files: realFileSystem,
    folder: join(home, 'rules'),
    logger: recordingLogger(errors),
  });
  const first = await build(
    (frontends) =>
      startHeadless({
        model,
        ...given,
        ports: {
          ...{ frontend: frontends, producers: [], ids, permissions },
          ...(options.clock && { clock: options.clock }),
          ...(options.tools && { tools: options.tools }),
        },
      }),
    FIRST,
  );
  const { earshot, listener, host, frontends, headless } = first;
  let windows = FIRST;
  const configure = (name: string, program: Partial<Program>, command: readonly string[]) =>
    void programs.set(name, programSchema.parse({ command, ...program }));
  const world: PluginWorld = {
    ...first,
    model,
    home,
    chosen,
    programs,
    consents,
    user,
    output,
    errors,
    conversation: async () => {
      const created = await earshot.create();
      if (!created.ok) throw new Error(created.failure.message);
      return created.value.log.id;
    },
    attach: async (name = 'tea', program) => {
      if (program !== undefined) configure(name, program, ['x']);
      const attach = programs.get(name)?.approve === true ? attachAnswering : attachRaw;
      const plugin = await attach(listener.path, { type: 'attach', name, version: '1' });
      atTestEnd(async () => plugin.destroy());
      await plugin.next('init');
      return plugin;
    },
    spawn: async (name = 'tea', program = {}, args = []) => {
      const relay = await startRelay(name);
      atTestEnd(() => relay.close());
      configure(name, program, relay.command);
      const ran = await host.run(name, args);
      if (!ran.ok) throw new Error(ran.failure.message);
      const plugin = await relay.connected();
      await plugin.next('init');
      return { ...plugin, relay };
    },
    second: () => {
      windows += 1;
      return build((fanOut) => headless.second(model, { ports: { frontend: fanOut, producers: [] } }), windows);
    },
    turn: async (conversation, text = 'Hello.') => {
      const sent = await earshot.send(conversation, text);
      if (!sent.ok) throw new Error(sent.failure.message);
      await earshot.settled(conversation);
    },
    add: (frontend) => world.hold(frontends.add(frontend)),
    hold: (disposable) => atTestEnd(async () => disposable.dispose()),
  };
  return world;
}
