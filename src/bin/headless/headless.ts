// Composes Earshot for one folder without an editor: files, git, commands, subagents, skills, hooks and MCP servers;
// nothing that needs a window. The ACP agent, the walks of the tests and the benchmarks call it.
import { guardWorkspace } from '../../core/consent/door.ts';
import { Earshot } from '../../core/earshot.ts';
import { type Frontend, type Ids, type Logger, type Model, type Producer, type Tool } from '../../core/ports/ports.ts';
import { type RemoteTasks, type Supervision } from '../../core/ports/processes.ts';
import { type Workspace } from '../../core/ports/workspace.ts';
import { createFolderDisk } from '../../acp/folderDisk.ts';
import { type Clock } from '../../base/clock.ts';
import { printWords } from '../../base/printPath.ts';
import { Subagents } from '../../core/subagents.ts';
import { Handles } from '../../core/tools/handles.ts';
import { type Services } from '../../core/tools/services.ts';
import { Wakes, type WakesDeps } from '../../core/wakes/wakes.ts';
import { createHooks } from '../../hooks/hooks.ts';
import { type FileSystem, realFileSystem } from '../../node/files/fileSystem.ts';
import { readSurroundings } from '../../node/files/surroundings.ts';
import { notifyEnvironment } from '../../node/scripts/notifyProgram.ts';
import { processObserver } from '../../node/processActivity.ts';
import { realClock } from '../../node/realClock.ts';
import { realIds } from '../../node/realIds.ts';
import { realFolders } from '../../node/scripts/scriptSpool.ts';
import { shellProgram, userEnvironment } from '../../node/shellProgram.ts';
import { createSupervision, type SupervisionDeps } from '../../node/supervision/supervision.ts';
import { terminalShell } from '../../node/terminalProfile.ts';
import { createBudgetProducer } from '../../producers/budget.ts';
import { createConfigProducer } from '../../producers/config.ts';
import { createFilesProducer } from '../../producers/files/files.ts';
import { createForge, type Forge, type ForgeDeps } from '../../producers/forge/forge.ts';
import { createGitProducer } from '../../producers/git/git.ts';
import { GitGate } from '../../producers/git/gitGate.ts';
import { createHandlesProducer } from '../../producers/handles.ts';
import { createLines } from '../../producers/lines/lines.ts';
import { OpenPorts } from '../../producers/ports/openPorts.ts';
import { createPortsProducer } from '../../producers/ports/ports.ts';
import { createDevServersProducer } from '../../producers/devServers/devServers.ts';
import { createScripts, type Scripts } from '../../producers/scripts/scripts.ts';
import { SourceProblems } from '../../producers/sourceProblems.ts';
import { createWakesProducer, probePort } from '../../producers/wakes.ts';
import { HOOK_EVENTS } from '../../protocol/outside/hooks.ts';
import { type Settings } from '../../protocol/settings.ts';
import { createPermissions } from '../../storage/permissions.ts';
import { createStorage } from '../../storage/storage.ts';
import { createUserFiles } from '../../storage/userFiles.ts';
import { createFolderServers, type FolderServers } from './folderServers.ts';

/** What is composed before the tools and the producers, which may use it. */
interface HeadlessParts extends Pick<Services, 'snapshots' | 'userFiles' | 'settings'> {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly workspace: Workspace;
  readonly handles: Handles;
  readonly subagents: Subagents;
  readonly wakes: Wakes;
  readonly forge: Forge;
  readonly problems: SourceProblems;
}

export interface HeadlessOptions {
  readonly folder: string;
  /** The folder in which conversations are stored. */
  readonly storage: string;
  /** The name by which other processes know this one as the owner of a conversation. */
  readonly window: string;
  /** The folder with the user's own skills and prompt files. */
  readonly userFolder: string;
  readonly logger: Logger;
  /** The account's home with the spool of scripts; default: the user's. */
  readonly home?: string;
  readonly frontend: Frontend;
  /** Whether checkpoints are taken before turns and commands. */
  readonly capture: boolean;
  /** Starts the supervisor of a command. */
  readonly launch: SupervisionDeps['launch'];
  /** Installs `earshot-notify`; resolves to its path. Absent: commands do not get it. */
  notifyProgram?(): Promise<string | undefined>;
  /** Limits of supervisors that differ from the defaults. */
  readonly supervision?: Partial<SupervisionDeps>;
  /** The file system that stores conversations. */
  readonly files?: FileSystem;
  /** Finds tasks of MCP servers again. Absent: those of the configured servers. */
  readonly tasks?: RemoteTasks;
  settings(): Settings;
  /** The model of conversations for which none was chosen. */
  model(): Model;
  tools(parts: HeadlessParts): readonly Tool[];
  /** Absent: files, git, commands, their ports and dev servers, lines, scripts, budget and configuration. */
  producers?(parts: HeadlessParts): readonly Producer[];
  /** Sources of facts for conditions, besides commands, files and ports. */
  readonly wakes?: Partial<WakesDeps>;
  /** How CI and pull requests are asked for, where that differs from the defaults. */
  readonly forge?: Partial<ForgeDeps>;
  /** Parts that replace those that are composed here. */
  readonly ports?: Partial<Services>;
}

export interface ComposedHeadless {
  readonly earshot: Earshot;
  readonly ports: Services;
  readonly handles: Handles;
  readonly subagents: Subagents;
  readonly supervision: Supervision;
  readonly wakes: Wakes;
  readonly scripts: Scripts;
  readonly servers: FolderServers;
  readonly problems: SourceProblems;
  readonly storage: ReturnType<typeof createStorage>;
  /** Ends every turn and closes every file. Commands keep running until their time without an owner is over. */
  close(): Promise<void>;
}

export function composeHeadless(options: HeadlessOptions): ComposedHeadless {
  const { folder, logger, files = realFileSystem, settings, model } = options;
  const base = { clock: realClock, ids: realIds, logger, ...options.ports };
  const stored = { files, folder: options.storage };
  const storage = createStorage({ ...stored, clock: realClock, ids: realIds, logger, window: options.window });
  const { store, lock, snapshots, checkpoints } = storage;
  const workspace = options.ports?.workspace ?? guardWorkspace(createFolderDisk(folder));
  const userFiles = createUserFiles({ files: realFileSystem, folder: options.userFolder });
  const shell = shellProgram(terminalShell());
  const supervision = createSupervision({
    launch: options.launch,
    clock: realClock,
    report: (what, error) => logger.error(what, error),
    folderOf: (conversation) => storage.folderOf(conversation),
    userShell: () => ({ shell, env: userEnvironment(process.env) }),
    unownedMilliseconds: () => settings()['handles.ownerTimeout'] * 1000,
    environment: async ({ conversation, run }) =>
      notifyEnvironment(await options.notifyProgram?.(), conversation, run, keyOf(conversation)),
    ...options.supervision,
  });
  const keyOf = (conversation: string) => earshot.get(conversation)?.log.state.turn.key ?? '';
  const models = { names: [], get: () => undefined };
  const subagents: Subagents = new Subagents({
    ...{ store, settings, model, models },
    ...base,
    host: () => ({ earshot, handles }),
  });
  const tasks: RemoteTasks = options.tasks ?? { reattach: (task) => servers.tasks.reattach(task) };
  const handles: Handles = new Handles({ supervision, tasks, agents: subagents, clock: base.clock, logger });
  const problems = new SourceProblems();
  const forge = createForge({
    ...{ clock: base.clock, logger, workspace, env: process.env },
    way: () => settings().forge,
    trouble: (message) => logger.warn(message),
    looked: (host, needs) => problems.set(`ci/${host}`, needs && `CI and pull requests: ${needs}`),
    ...options.forge,
  });
  const followed = {
    forge: forge.facts,
    handles,
    workspace,
    snapshots,
    probe: probePort,
    due: store.due,
    ...options.wakes,
  };
  const wakes = new Wakes({ clock: base.clock, ids: base.ids, logger, ...followed });
  const parts: HeadlessParts = {
    ...base,
    settings,
    snapshots,
    userFiles,
    workspace,
    handles,
    subagents,
    wakes,
    forge,
    problems,
  };
  const scripts = createScripts({
    ...{ handles, clock: base.clock, logger, home: options.home },
    folders: () => realFolders([folder]),
    mayWake: () => settings()['scripts.wake'],
  });
  const ports: Services = {
    ...{ clock: realClock, ids: realIds, logger },
    ...{ store, lock, snapshots, workspace, userFiles, handles, subagents, settings, model, models, wakes },
    ...(options.capture && { checkpoints }),
    permissions: createPermissions({ ...stored, logger }),
    frontend: options.frontend,
    tools: options.tools(parts),
    producers: options.producers?.(parts) ?? headlessProducers(parts, scripts),
    hooks: folderHooks(options),
    toolsReady: () => servers.ports.toolsReady(),
    moreInstructions: () => servers.ports.moreInstructions(),
    processes: processObserver,
    shell: () => shell.path,
    surroundings: () => readSurroundings(folder),
    ...options.ports,
  };
  const earshot: Earshot = new Earshot(ports);
  const servers: FolderServers = createFolderServers({
    ...{ logger, folder, storage: options.storage, settings, earshot, snapshots, problems },
  });
  return {
    ...{ earshot, ports, handles, subagents, supervision, servers, storage, wakes, scripts, problems },
    close: async () => {
      await earshot.shutDown();
      await servers.close();
      await checkpoints.close();
      handles.dispose();
      wakes.dispose();
    },
  };
}

function headlessProducers({ handles, ...parts }: HeadlessParts, scripts: Scripts): readonly Producer[] {
  const watching = { ...parts, gate: new GitGate() };
  const lines = createLines({ ...parts, handles });
  const ports = new OpenPorts({ ...parts, handles });
  return [
    createFilesProducer(watching),
    createGitProducer(watching),
    createHandlesProducer({ ...parts, handles, ended: lines.ended }),
    lines.producer,
    scripts.producer,
    createPortsProducer({ ...parts, ports }),
    createDevServersProducer({ ...parts, ports }),
    createWakesProducer(parts.wakes),
    parts.forge.producer,
    parts.problems.producer,
    createBudgetProducer(),
    createConfigProducer(),
  ];
}

function folderHooks({ folder, logger, settings }: HeadlessOptions): ReturnType<typeof createHooks> {
  return createHooks({
    clock: realClock,
    logger,
    // The user named the settings file, so hooks in it count as the user's own, unless they run code of the folder.
    configured: () =>
      HOOK_EVENTS.flatMap((event) =>
        (settings().hooks[event] ?? []).map((hook) => ({ event, hook, workspace: false })),
      ),
    folder: () => folder,
    roots: () => [folder],
    isTrusted: () => true,
    mode: () => settings().mode,
    approved: { has: async () => false, add: async () => undefined },
    approve: async ({ command }) => {
      logger.warn(
        `The hook ${printWords(command)} does not run: it runs code of the folder, which only VS Code can show you.`,
      );
      return false;
    },
    notice: (text) => logger.warn(text),
  });
}
