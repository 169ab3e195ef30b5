// Composes the hub: when this window joins it, and the tools that use it.
import * as vscode from 'vscode';
import { type Disposable, toDisposable } from '../../base/disposable.ts';
import { type Earshot } from '../../core/earshot.ts';
import { type Workspace } from '../../core/ports/workspace.ts';
import { realFileSystem } from '../../node/files/fileSystem.ts';
import { tryKernelLock } from '../../node/kernelLock.ts';
import { realClock } from '../../node/realClock.ts';
import { realIds } from '../../node/realIds.ts';
import { createMessageTools } from '../../tools/messageTools.ts';
import { showHubState } from '../hub/showHubState.ts';
import { type HubOptions, WindowHub } from '../hub/windowHub.ts';
import { COMMANDS } from '../ids.ts';
import { versionOf, type Window } from './window.ts';
import { loadSqlite } from '../../node/sqlite.ts';

export function composeHub({ context, settings, held, logger, report }: Window, workspace: Workspace) {
  const warn = (message: string, error?: unknown) => {
    logger.warn(`hub: ${message}${error instanceof Error ? `: ${error.message}` : ''}`);
  };
  const hub = new WindowHub({
    options: () => optionsFor(settings.current, workspace),
    join: async (options, events) => {
      const { joinAsWindow } = await import('../../hub/agents/windowMembership.ts');
      return joinAsWindow({
        files: realFileSystem,
        clock: realClock,
        tryLock: tryKernelLock,
        sqlite: loadSqlite(),
        workspaceFolder: options.folder,
        version: versionOf(context),
        role: options.role,
        port: options.port,
        identity: readIdentity(options.identity),
        allowedOrigins: options.allowedOrigins,
        ...(options.machines && { machines: options.machines }),
        ulid: () => realIds.ulid(),
        toScope: (path) => withoutFolder(workspace, path),
        report: warn,
        ...events,
      });
    },
    report: warn,
  });
  held.add(hub);
  const refresh = () => void hub.refresh().catch(report('the hub could not be joined or left'));
  held.add(settings.onDidChange(refresh));
  held.add(vscode.workspace.onDidGrantWorkspaceTrust(refresh));
  held.add(vscode.workspace.onDidChangeWorkspaceFolders(refresh));
  refresh();
  return {
    hub,
    tools: createMessageTools(hub),
    commands: { [COMMANDS.showHubState]: () => showHubState(hub, () => logger.show()) },
  };
}

/** The tools are registered while the hub is on. */
export function offerMessageTools(
  { held }: Window,
  { hub, tools }: ReturnType<typeof composeHub>,
  earshot: Earshot,
): void {
  let offered: Disposable | undefined;
  const update = () => {
    if (hub.isOn === (offered !== undefined)) return;
    offered?.dispose();
    offered = hub.isOn ? earshot.tools.register(tools) : undefined;
  };
  held.add(hub.onDidChange(update));
  held.add(toDisposable(() => offered?.dispose()));
  update();
}

/** For the hub of the first folder. Undefined without a folder on disk, in an untrusted workspace, or if turned off. */
function optionsFor(settings: Window['settings']['current'], { trusted }: Workspace): HubOptions | undefined {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  if (!settings['hub.enabled'] || !trusted || folder?.uri.scheme !== 'file') return undefined;
  return {
    folder: folder.uri.fsPath,
    role: settings['hub.role'],
    port: settings['hub.port'],
    identity: settings['hub.identity'],
    allowedOrigins: settings['hub.allowedOrigins'],
    machines: {
      server: settings['hub.server'],
      name: settings['hub.name'],
      machine: settings['hub.machine'],
      credentials: settings['hub.credentials'],
    },
  };
}

/** Paths in the first folder are relative to it, as every other program on its hub names them. */
function withoutFolder({ folders }: Workspace, path: string): string {
  const prefix = folders.length > 1 ? `${folders[0]?.path ?? ''}/` : '';
  return path.startsWith(prefix) ? path.slice(prefix.length) : path;
}

function readIdentity(text: string): { name: string; role: string; module: string } | undefined {
  const [name = '', role = '', module = ''] = text.split(':');
  return name === '' ? undefined : { name, role, module };
}
