// Opens the window's socket right after activation, without loading the code that serves it.
import * as vscode from 'vscode';
import { hubFolder } from '../../node/hubFolder.ts';
import { realClock } from '../../node/realClock.ts';
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
  return listener;
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
