// Finds the ripgrep that VS Code ships, or one on the PATH, once.
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import * as vscode from 'vscode';

const NAME = process.platform === 'win32' ? 'rg.exe' : 'rg';

let found: Promise<string | undefined> | undefined;

export function findRipgrep(): Promise<string | undefined> {
  found ??= firstUsable(places(vscode.env.appRoot, process.env['PATH'] ?? ''));
  return found;
}

/** Since VS Code 1.122 one package contains all platforms; on the desktop it is outside the archive. */
function places(appRoot: string, path: string): string[] {
  const shipped = ['node_modules', 'node_modules.asar.unpacked'].flatMap((modules) => [
    join(appRoot, modules, '@vscode', 'ripgrep-universal', 'bin', `${process.platform}-${process.arch}`, NAME),
    join(appRoot, modules, '@vscode', 'ripgrep', 'bin', NAME),
  ]);
  // Relative entries would find a program of whatever folder is current.
  return [...shipped, ...path.split(delimiter).flatMap((folder) => (isAbsolute(folder) ? join(folder, NAME) : []))];
}

async function firstUsable(programs: readonly string[]): Promise<string | undefined> {
  for (const program of programs) {
    const usable = await access(program, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (usable) return program;
  }
  return undefined;
}
