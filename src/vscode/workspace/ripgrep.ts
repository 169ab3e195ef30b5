// Finds the ripgrep that VS Code ships, or one on the PATH, once.
import { join } from 'node:path';
import * as vscode from 'vscode';
import { firstUsable, placesOnPath } from '../../node/files/findProgram.ts';
import { platform } from '../../node/platform/platform.ts';

const NAME = platform.programs.fileName('rg');

let found: Promise<string | undefined> | undefined;

export function findRipgrep(): Promise<string | undefined> {
  found ??= firstUsable(places(vscode.env.appRoot, process.env['PATH'] ?? ''));
  return found;
}

/** Since VS Code 1.122 one package contains all platforms; on the desktop it is outside the archive. */
function places(appRoot: string, path: string): string[] {
  const shipped = ['node_modules', 'node_modules.asar.unpacked'].flatMap((modules) => [
    join(appRoot, modules, '@vscode', 'ripgrep-universal', 'bin', platform.programs.target, NAME),
    join(appRoot, modules, '@vscode', 'ripgrep', 'bin', NAME),
  ]);
  return [...shipped, ...placesOnPath('rg', path)];
}
