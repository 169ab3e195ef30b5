// Composes storage: conversations, snapshots, checkpoints, permissions, drafts and the user's own files.
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { type Workspace } from '../../core/ports/workspace.ts';
import { realFileSystem } from '../../node/files/fileSystem.ts';
import { realClock } from '../../node/realClock.ts';
import { realIds } from '../../node/realIds.ts';
import { captureInProcess } from '../../storage/checkpoints/firstCapture.ts';
import { createPermissions } from '../../storage/permissions.ts';
import { createStorage } from '../../storage/storage.ts';
import { createUserFiles } from '../../storage/userFiles.ts';
import { createDraftsOf } from '../chat/drafts.ts';
import { createWindowMemory } from '../chat/windowMemory.ts';
import { type Window } from './window.ts';

const CLEAN_UP_AFTER = 5 * 60_000;

export function composeStorage({ context, logger, held, report }: Window, workspace: Workspace) {
  // With no folder open there is no workspace storage.
  const folder = (context.storageUri ?? context.globalStorageUri).fsPath;
  const { cleanUp, ...storage } = createStorage({
    files: realFileSystem,
    folder,
    index: {
      folder: context.globalStorageUri.fsPath,
      workspaceFolders: () => workspace.folders.map(({ absolute }) => absolute),
    },
    clock: realClock,
    ids: realIds,
    logger,
    window: vscode.workspace.name ?? 'no folder',
    captureFirst: captureInProcess(context.asAbsolutePath('dist/firstCapture.js')),
  });
  // Late, so that it does not slow down the start.
  held.add(realClock.after(CLEAN_UP_AFTER, () => void cleanUp().catch(report('the clean-up failed'))));
  return {
    ...storage,
    permissions: createPermissions({ files: realFileSystem, folder, logger }),
    userFiles: createUserFiles({ files: realFileSystem, folder: join(homedir(), '.earshot') }),
    draftsOf: createDraftsOf({ files: realFileSystem, folder, logger }),
    memory: createWindowMemory({ files: realFileSystem, folder, logger }),
  };
}
