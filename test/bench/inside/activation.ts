// Inside the extension host: activation times of extensions and the JavaScript that each has loaded.
import { statSync } from 'node:fs';
import { Session } from 'node:inspector';
import { sep } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import * as vscode from 'vscode';
import { writeResult, readOptions } from './report.ts';

export interface ActivationOptions {
  /** Ids of installed extensions, in the order in which they are activated. */
  readonly extensions: readonly string[];
}

export interface Activation {
  readonly id: string;
  readonly milliseconds: number;
  /** Bytes of its own loaded files, after it has had time to load more. */
  readonly bytes: number;
}

const SETTLED_MILLISECONDS = 1000;

/** Called by VS Code. */
export async function run(): Promise<void> {
  const { extensions } = readOptions() as ActivationOptions;
  const loaded = watchScripts();
  const results: Activation[] = [];
  for (const id of extensions) {
    const extension = vscode.extensions.getExtension(id);
    if (extension === undefined) throw new Error(`${id} is not installed`);
    if (extension.isActive) throw new Error(`${id} was activated before`);
    const start = performance.now();
    await extension.activate();
    const milliseconds = performance.now() - start;
    await pause(SETTLED_MILLISECONDS);
    const own = [...loaded].filter((file) => file.startsWith(extension.extensionPath + sep));
    results.push({ id, milliseconds, bytes: own.reduce((sum, file) => sum + statSync(file).size, 0) });
  }
  writeResult(results);
}

/** Records the file of every script that the engine compiles. */
function watchScripts(): ReadonlySet<string> {
  const files = new Set<string>();
  const session = new Session();
  session.connect();
  session.on('Debugger.scriptParsed', ({ params }) => {
    if (params.url.startsWith('file:')) files.add(fileURLToPath(params.url));
    else if (params.url.startsWith(sep)) files.add(params.url);
  });
  session.post('Debugger.enable');
  return files;
}
