// Composes Earshot for one folder without an editor: files, git, commands, skills; nothing that needs a window.
import { createHash } from 'node:crypto';
import { realpath, stat } from 'node:fs/promises';
import { basename, isAbsolute, join } from 'node:path';
import { createFolderDisk } from '../../acp/folderDisk.ts';
import { type ClientFrontend } from '../../acp/frontend.ts';
import { type FolderAgent } from '../../acp/headlessFolder.ts';
import { modelsOf } from '../../acp/sessionState.ts';
import { DisposableStore } from '../../base/disposable.ts';
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { printWords } from '../../base/printPath.ts';
import { guardWorkspace } from '../../core/consent/door.ts';
import { missingModel } from '../../core/conversation/choices.ts';
import { Earshot } from '../../core/earshot.ts';
import { Frontends } from '../../core/frontend/frontends.ts';
import { type Logger, type Model } from '../../core/ports/ports.ts';
import { BUILT_IN_COMMANDS, listCommandSkills } from '../../core/prompt/builtInSkills.ts';
import { listPrompts } from '../../core/prompt/promptFiles.ts';
import { Handles } from '../../core/tools/handles.ts';
import { createHooks } from '../../hooks/hooks.ts';
import { realFileSystem } from '../../node/files/fileSystem.ts';
import { readSurroundings } from '../../node/files/surroundings.ts';
import { processObserver } from '../../node/processActivity.ts';
import { realClock } from '../../node/realClock.ts';
import { realIds } from '../../node/realIds.ts';
import { shellProgram, userEnvironment } from '../../node/shellProgram.ts';
import { createSupervision, launchSupervisor } from '../../node/supervision/supervision.ts';
import { createBudgetProducer } from '../../producers/budget.ts';
import { createConfigProducer } from '../../producers/config.ts';
import { createFilesProducer } from '../../producers/files/files.ts';
import { createGitProducer } from '../../producers/git/git.ts';
import { GitGate } from '../../producers/git/gitGate.ts';
import { createHandlesProducer } from '../../producers/handles.ts';
import { HOOK_EVENTS } from '../../protocol/outside/hooks.ts';
import { type Settings } from '../../protocol/settings.ts';
import { createPermissions } from '../../storage/permissions.ts';
import { createStorage } from '../../storage/storage.ts';
import { createUserFiles } from '../../storage/userFiles.ts';
import { createPdfReader } from '../../tools/files/pdfText.ts';
import { createFolderServers } from './folderServers.ts';
import { shippedTools } from './shippedTools.ts';

export interface FolderAgentDeps {
  readonly logger: Logger;
  readonly settings: Settings;
  /** The path of `dist/supervisor.cjs`. */
  readonly supervisor: string;
  /** The path of `dist/pdfText.js`. */
  readonly pdfText: string;
  /** Conversations are stored here, in one folder for each workspace folder. */
  readonly storage: string;
  /** The folder with the user's own skills and prompt files. */
  readonly userFolder: string;
  /** Whether checkpoints are taken before turns and commands. */
  readonly capture: boolean;
  /** Models by their references; the Guide has an empty one. */
  model(reference: string): Model | undefined;
}

export async function openFolderAgent(
  deps: FolderAgentDeps,
  folder: string,
  frontend: ClientFrontend,
  asks: boolean,
): Promise<Result<FolderAgent>> {
  if (!isAbsolute(folder)) return failed('bad_path', `cwd: ${folder} is not an absolute path.`);
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) return failed('not_found', `cwd: ${folder} is not a folder.`);
  const { logger } = deps;
  const { settings } = deps;
  const base = { clock: realClock, ids: realIds, logger };
  const hash = createHash('sha256')
    .update(await realpath(folder))
    .digest('hex')
    .slice(0, 16);
  const place = join(deps.storage, hash);
  const storage = createStorage({ ...base, files: realFileSystem, folder: place, window: `ACP ${basename(folder)}` });
  const { store, lock, snapshots, checkpoints } = storage;
  const workspace = guardWorkspace(createFolderDisk(folder));
  const userFiles = createUserFiles({ files: realFileSystem, folder: deps.userFolder });
  const shell = shellProgram(process.env['SHELL'] ?? '/bin/sh');
  const supervision = createSupervision({
    launch: (where, env) => launchSupervisor(deps.supervisor, where, env),
    clock: realClock,
    report: (what, error) => logger.error(what, error),
    folderOf: (conversation) => storage.folderOf(conversation),
    userShell: () => ({ shell, env: userEnvironment(process.env) }),
    unownedMilliseconds: () => settings['handles.ownerTimeout'] * 1000,
  });
  const servers = createFolderServers({ logger, folder, storage: place, settings: () => settings });
  const handles = new Handles({ supervision, tasks: servers.tasks, clock: realClock, logger });
  const frontends = new Frontends({ clock: realClock, logger });
  const attached = new DisposableStore();
  attached.add(frontends.add(frontend));
  attached.add(frontend.follow(frontends.requests, { questions: true }));
  const gate = new GitGate();
  const watching = { ...base, snapshots, workspace, gate };
  const earshot = new Earshot({
    ...base,
    ...{ store, lock, snapshots, workspace, userFiles, handles },
    ...(deps.capture && { checkpoints }),
    permissions: createPermissions({ files: realFileSystem, folder: place, logger }),
    frontend: frontends,
    tools: shippedTools(userFiles, asks, createPdfReader(deps.pdfText)),
    producers: [
      createFilesProducer(watching),
      createGitProducer(watching),
      createHandlesProducer({ ...base, handles }),
      createBudgetProducer(),
      createConfigProducer(),
    ],
    hooks: createHooks({
      ...base,
      // The user named the settings file, so hooks in it count as the user's own, unless they run code of the folder.
      configured: () =>
        HOOK_EVENTS.flatMap((event) =>
          (settings.hooks[event] ?? []).map((hook) => ({ event, hook, workspace: false })),
        ),
      folder: () => folder,
      roots: () => [folder],
      isTrusted: () => true,
      mode: () => settings.mode,
      approved: { has: async () => false, add: async () => undefined },
      approve: async ({ command }) => {
        logger.warn(
          `The hook ${printWords(command)} does not run: it runs code of the folder, which only VS Code can show you.`,
        );
        return false;
      },
      notice: (text) => logger.warn(text),
    }),
    ...servers.ports,
    processes: processObserver,
    shell: () => shell.path,
    surroundings: () => readSurroundings(folder),
    settings: () => settings,
    model: () => deps.model(settings.model) ?? missingModel(settings.model),
    models: { names: modelsOf(settings), get: (reference) => deps.model(reference) },
  });
  servers.start(earshot);
  return succeeded({
    folder,
    earshot,
    store,
    snapshots,
    settings: () => settings,
    addServers: (given) => servers.add(given),
    commands: async () => {
      const [prompts, skills] = await Promise.all([
        listPrompts(workspace, userFiles),
        listCommandSkills(workspace, userFiles),
      ]);
      const all = [...BUILT_IN_COMMANDS, ...prompts, ...skills].map(
        ({ name, description }) => [name, { name, description }] as const,
      );
      // A prompt file and a skill may have the same name: the prompt file is used.
      return [...new Map(all.toReversed()).values()];
    },
    stopCommands: (conversation) => handles.stopAll(conversation, 'its client is gone'),
    close: async () => {
      await earshot.shutDown();
      await servers.close();
      await checkpoints.close();
      handles.dispose();
      attached.dispose();
    },
  });
}
