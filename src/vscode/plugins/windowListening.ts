// Opens the window's socket right after activation, without loading the code that serves it.
import { join } from 'node:path';
import * as vscode from 'vscode';
import { realFileSystem } from '../../node/files/fileSystem.ts';
import { hubFolder, outsideFolder } from '../../node/hubFolder.ts';
import { realClock } from '../../node/realClock.ts';
import { endEars } from '../../plugins/client/ears.ts';
import { WindowListener, type WindowListenerDeps } from '../../plugins/host/windowListener.ts';
import { absoluteOf } from '../workspace/fileUris.ts';

/** Undefined without a folder. `wanted` loads the code that serves the socket. */
export async function listenForPrograms(
  deps: Pick<WindowListenerDeps, 'wanted' | 'report'>,
): Promise<WindowListener | undefined> {
  const folder = workspaceFolder();
  if (folder === undefined) return undefined;
  const listener = new WindowListener({ folder: await hubFolder(folder), pid: process.pid, clock: realClock, ...deps });
  await listener.listen();
  // After the socket is there, so that it does not start again. Agents are served once their logs are free.
  await endEars(folder);
  return listener;
}

/** Whether the folder has logs of outside agents, which get notifications from the start. */
export async function hasOutsideAgents(): Promise<boolean> {
  const folder = workspaceFolder();
  if (folder === undefined) return false;
  return (await realFileSystem.list(join(await outsideFolder(folder), 'listeners'))).length > 0;
}

/** The first folder that is on this machine's disk. */
export function workspaceFolder(): string | undefined {
  return workspaceRoots()[0];
}

/** The folders of the workspace that are on this machine's disk. */
export function workspaceRoots(): readonly string[] {
  const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
  return folders.map(({ uri }) => absoluteOf(uri));
}
