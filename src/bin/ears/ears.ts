// Watches one folder for outside agents while no window of VS Code has it open: the producers of a folder without an
// editor, the logs of its agents, and the same kind of socket as a window's.
import { mkdir, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type Socket } from 'node:net';
import { type Disposable } from '../../base/disposable.ts';
import { type Event } from '../../base/emitter.ts';
import { failed, succeeded } from '../../base/errors.ts';
import { missingModel } from '../../core/conversation/choices.ts';
import { Frontends } from '../../core/frontend/frontends.ts';
import { Listeners } from '../../core/listeners.ts';
import { type Logger } from '../../core/ports/ports.ts';
import { hubFolder, outsideFolder, socketHome } from '../../node/hubFolder.ts';
import { tryKernelLock } from '../../node/kernelLock.ts';
import { realClock } from '../../node/realClock.ts';
import { type EarsState } from '../../plugins/client/ears.ts';
import { findWindows } from '../../plugins/client/windows.ts';
import { createEarsApprovals } from '../../plugins/host/approvedPrograms.ts';
import { AttachedPrograms } from '../../plugins/host/attachedPrograms.ts';
import { listenKey } from '../../plugins/host/consent.ts';
import { WindowListener } from '../../plugins/host/windowListener.ts';
import { createInit } from '../../plugins/initMessage.ts';
import { SharedParts } from '../../plugins/sharedParts.ts';
import { type Settings } from '../../protocol/settings.ts';
import { createListenerTools } from '../../tools/listenerTools.ts';
import { composeHeadless } from '../headless/headless.ts';
import { createHeadlessClients } from '../headless/headlessClients.ts';

/** It ends after this time without a listener. */
const IDLE = 30 * 60_000;
/** How often it looks for a window, which ends it itself when it opens. */
const LOOK_EVERY = 5000;
const NAME = 'earshot-ears';

interface EarsDeps {
  readonly folder: string;
  readonly logger: Logger;
  readonly home?: string;
  readonly idleMilliseconds?: number;
  readonly settings: {
    readonly current: Settings;
    /** What is wrong with them, for the user. */
    readonly problem?: string | undefined;
    /** Absent: they stay. */
    readonly onDidChange?: Event<void>;
  };
}

export interface Ears {
  /** Resolves once everything is released and closed: after the idle time, for a window, or after `close`. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** Undefined: a window or another one watches the folder already. Two never watch. */
export async function openEars(deps: EarsDeps): Promise<Ears | undefined> {
  const { home = socketHome() } = deps;
  const folder = await realpath(deps.folder);
  const storage = await outsideFolder(folder, home);
  await mkdir(storage, { recursive: true, mode: 0o700 });
  const lock = tryKernelLock(join(storage, 'ears.db'));
  if (lock === undefined) return undefined;
  try {
    if (await hasWindow(folder, home)) {
      lock.release();
      return undefined;
    }
    const ears = new RunningEars(deps, { folder, home, storage, lock });
    await ears.start();
    // A window that has opened meanwhile may have looked for this one before its socket was there.
    if (!(await hasWindow(folder, home))) return ears;
    await ears.close();
    return undefined;
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function hasWindow(folder: string, home: string): Promise<boolean> {
  return (await findWindows(folder, home)).length > 0;
}

interface Place {
  readonly folder: string;
  readonly home: string;
  readonly storage: string;
  readonly lock: { release(): void };
}

class RunningEars implements Ears {
  readonly #deps: EarsDeps;
  readonly #place: Place;
  readonly #since = new Date().toISOString();
  readonly #ended = Promise.withResolvers<void>();
  readonly #sockets = new Set<Socket>();
  #opened: ReturnType<typeof openParts> | undefined;
  #listener: WindowListener | undefined;
  #idle: Disposable | undefined;
  #looking: Disposable | undefined;
  #releasing: Promise<void> | undefined;

  constructor(deps: EarsDeps, place: Place) {
    this.#deps = deps;
    this.#place = place;
  }

  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  async start(): Promise<void> {
    const { folder, home } = this.#place;
    const listener = new WindowListener({
      folder: await hubFolder(folder, home),
      ...{ pid: process.pid, by: 'ears', clock: realClock },
      // Programs wait on the socket until everything is composed.
      wanted: async () => true,
      report: (message, error) => this.#deps.logger.error(message, error),
    });
    this.#listener = listener;
    await listener.listen();
    const opened = openParts(this.#deps, this.#place, {
      token: listener.token,
      answer: (type) => this.#answer(type),
    });
    this.#opened = opened;
    await opened.listeners.start();
    listener.serve((socket) => {
      this.#sockets.add(socket);
      this.#idle?.dispose();
      socket.on('close', () => {
        this.#sockets.delete(socket);
        this.#endWhenIdle();
      });
      opened.attached.serve(socket);
    });
    this.#endWhenIdle();
    this.#lookForWindow();
  }

  async close(): Promise<void> {
    await this.#release();
    await this.#listener?.close();
    this.#ended.resolve();
  }

  #answer(type: string): Promise<object> | undefined {
    if (type === 'status') return Promise.resolve(this.#state());
    if (type !== 'release') return undefined;
    // The socket that asked is closed last.
    setImmediate(() => this.#closeFor('a window or the user asked for it'));
    return this.#release().then(() => ({ type: 'done' }));
  }

  #state(): EarsState {
    const live = this.#opened?.listeners.live ?? [];
    const agents = live.map(({ log }) => log.state.summary.title.split(' ')[0] ?? '');
    return {
      pid: process.pid,
      root: this.#place.folder,
      since: this.#since,
      agents,
      problems: this.#opened?.problems.all ?? [],
    };
  }

  /** Ends everything but the socket. The agents' logs are free afterwards. */
  #release(): Promise<void> {
    this.#releasing ??= (async () => {
      this.#idle?.dispose();
      this.#looking?.dispose();
      await this.#opened?.close();
      this.#place.lock.release();
    })();
    return this.#releasing;
  }

  #endWhenIdle(): void {
    if (this.#sockets.size > 0 || this.#releasing !== undefined) return;
    this.#idle?.dispose();
    this.#idle = realClock.after(this.#deps.idleMilliseconds ?? IDLE, () => this.#closeFor('no agent listens'));
  }

  #lookForWindow(): void {
    this.#looking = realClock.after(LOOK_EVERY, () => {
      this.#lookForWindow();
      const { folder, home } = this.#place;
      void hasWindow(folder, home).then(
        (found) => found && this.#closeFor('a window has the folder open'),
        (error: unknown) => this.#deps.logger.error('windows cannot be found', error),
      );
    });
  }

  #closeFor(reason: string): void {
    this.#deps.logger.info(`ends: ${reason}`);
    void this.close().catch((error: unknown) => this.#deps.logger.error('it could not be ended', error));
  }
}

function openParts(
  { logger, settings: given }: EarsDeps,
  { folder, home, storage }: Place,
  own: Pick<ConstructorParameters<typeof AttachedPrograms>[0], 'token' | 'answer'>,
) {
  const settings = () => given.current;
  const frontends = new Frontends({ clock: realClock, logger });
  const headless = composeHeadless({
    ...{ folder, storage, logger, settings, home },
    window: NAME,
    userFolder: join(home, '.earshot'),
    frontend: frontends,
    capture: false,
    launch: () => Promise.reject(new Error('there is no agent here that could run commands')),
    model: () => missingModel(''),
    tools: () => [],
  });
  const { earshot, ports, scripts } = headless;
  const noticeSettings = () => headless.problems.set('settings', given.problem);
  noticeSettings();
  const following = given.onDidChange?.(() => {
    noticeSettings();
    headless.servers.refresh();
  });
  const { clock, ids, snapshots, workspace } = ports;
  const stored = headless.storage.listenersIn(storage, () => true);
  const listeners = new Listeners({ ...stored, clock, ids, logger, snapshots, workspace, earshot, settings });
  const local = createHeadlessClients(headless, frontends);
  const shared = new SharedParts(local.clients);
  const approved = createEarsApprovals(home, logger);
  const attached = new AttachedPrograms({
    ...{ shared, listeners, ...own },
    consent: {
      allowAttach: async () =>
        failed('plugin', 'Program plugins attach to a window of VS Code.', 'Open the folder there.'),
      allowListen: async ({ agent }) =>
        (await approved.has(listenKey(agent)))
          ? succeeded(undefined)
          : failed(
              'not_approved',
              `Notifications are not installed for ${agent}.`,
              'The user can do that with earshot-ears install.',
            ),
    },
    programs: () => new Map(),
    init: () =>
      createInit(
        {
          workspace: { root: folder, storage, id: basename(storage) },
          paths: { home },
          settings: settings(),
          logLevel: 0,
        },
        {},
        [],
      ),
    openOutput: () => ({ append: () => undefined, log: () => undefined }),
    changed: () => undefined,
    tools: createListenerTools({ clock, ids, workspace, handles: headless.handles, wakes: headless.wakes }),
    spooled: (id) => scripts.taken(id),
  });
  return {
    listeners,
    attached,
    problems: headless.problems,
    close: async () => {
      following?.dispose();
      await attached.close();
      await listeners.close();
      shared.dispose();
      local.dispose();
      await headless.close();
    },
  };
}
