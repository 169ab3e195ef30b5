// Earshot without an editor for one folder of an ACP client.
import { createHash } from 'node:crypto';
import { realpath, stat } from 'node:fs/promises';
import { basename, isAbsolute, join } from 'node:path';
import { type AcpFolder } from '../../acp/acpFolder.ts';
import { modelsOf } from '../../acp/sessionState.ts';
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { missingModel } from '../../core/conversation/choices.ts';
import { type Earshot } from '../../core/earshot.ts';
import { Frontends } from '../../core/frontend/frontends.ts';
import { type Logger, type Model } from '../../core/ports/ports.ts';
import { realClock } from '../../node/realClock.ts';
import { launchSupervisor } from '../../node/supervision/supervision.ts';
import { type Settings } from '../../protocol/settings.ts';
import { createPdfReader } from '../../tools/files/pdfText.ts';
import { composeHeadless } from '../headless/headless.ts';
import { createHeadlessClients } from '../headless/headlessClients.ts';
import { headlessTools } from '../headless/headlessTools.ts';

export interface FolderAgentDeps {
  readonly logger: Logger;
  readonly settings: Settings;
  /** The path of `dist/supervisor.cjs`. */
  readonly supervisor: string;
  /** Installs `earshot-notify`. Resolves to its path; undefined: it cannot be installed. */
  notifyProgram(): Promise<string | undefined>;
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
  asks: boolean,
): Promise<Result<AcpFolder & { readonly earshot: Earshot }>> {
  if (!isAbsolute(folder)) return failed('bad_path', `cwd: ${folder} is not an absolute path.`);
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) return failed('not_found', `cwd: ${folder} is not a folder.`);
  const { logger, settings, userFolder, capture } = deps;
  const hash = createHash('sha256')
    .update(await realpath(folder))
    .digest('hex')
    .slice(0, 16);
  const frontends = new Frontends({ clock: realClock, logger });
  const headless = composeHeadless({
    ...{ folder, logger, userFolder, capture },
    storage: join(deps.storage, hash),
    window: `ACP ${basename(folder)}`,
    frontend: frontends,
    launch: (place, env) => launchSupervisor(deps.supervisor, place, env),
    notifyProgram: () => deps.notifyProgram(),
    settings: () => settings,
    model: () => deps.model(settings.model) ?? missingModel(settings.model),
    tools: ({ userFiles, wakes, clock }) =>
      headlessTools({ userFiles, asks, readPdf: createPdfReader(deps.pdfText), wakes: { wakes, clock } }),
    ports: { models: { names: modelsOf(settings), get: (reference) => deps.model(reference) } },
  });
  const { earshot, ports, servers, handles } = headless;
  const local = createHeadlessClients(headless, frontends);
  const client = local.clients.as({ by: 'user' });
  return succeeded({
    ...{ folder, client, earshot, isWindow: false, snapshots: ports.snapshots },
    effectOf: (tool) => earshot.tools.known(tool)?.effect,
    traitsOf: (tool) => earshot.tools.traits(tool),
    addServers: (given) => servers.add(given),
    close: async (sessions) => {
      // No user is left who could see or stop what runs.
      for (const session of sessions) {
        await earshot.stop(session);
        await handles.stopAll(session, 'its client is gone');
      }
      client.dispose();
      local.dispose();
      await headless.close();
    },
  });
}
