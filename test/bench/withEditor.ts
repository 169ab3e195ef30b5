// Runs measurements inside a real extension host and prepares their folders.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { newTemporaryFolder } from '../host/install/cache.mjs';
import { runInsideEditor } from '../host/editor/insideEditor.ts';
import { repository } from '../host/setup.mjs';
import { environmentFor } from './inside/report.ts';

const NO_USER_CONFIG = { GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: '1' };

export const SEEN = ['src/a.ts', 'src/b.ts', 'src/c.ts'];

export interface Inside {
  /** The NAME of test/bench/inside/NAME.ts, which runs in its own window. */
  readonly name: string;
  /** The folder that is open. */
  readonly folder: string;
  /** The folder of the extension under development. */
  readonly extension: string;
  readonly options: unknown;
  /** Additional extensions to install. */
  readonly extensionsDir?: string;
}

/** Returns the results of the measurement. */
export async function inside<T>({ name, folder, extension, options, extensionsDir }: Inside): Promise<T> {
  const temporary = await newTemporaryFolder();
  const file = join(temporary, 'result.json');
  const lines: string[] = [];
  const exitCode = await runInsideEditor({
    folder,
    extension,
    tests: join(repository, '.build', 'vscode-tests', `${name}.cjs`),
    dataDir: join(temporary, 'data'),
    ...(extensionsDir !== undefined && { extensionsDir }),
    // The editor's git extension would list 10,000 changes for a moment, which alone takes half a second.
    settings: { 'git.enabled': false },
    env: { ...NO_USER_CONFIG, ...environmentFor(file, options) },
    longestMilliseconds: 60 * 60_000,
    // Shows the progress when debugging.
    log: process.env['EARSHOT_BENCH_VERBOSE'] === undefined ? (line) => lines.push(line) : console.log,
  });
  if (exitCode !== 0) throw new Error(`the measurement failed inside the editor:\n${lines.join('\n')}`);
  return JSON.parse(readFileSync(file, 'utf8')) as T;
}

/** An extension that does nothing, in its own folder. */
export function makeEmptyExtension(folder: string, more: object = {}): void {
  mkdirSync(folder, { recursive: true });
  const manifest = { name: 'nothing', publisher: 'nobody', version: '1.0.0', engines: { vscode: '^1.106.0' }, ...more };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
}

export function fill(folder: string, count: number, text: string): void {
  for (let index = 0; index < count; index += 1) {
    if (index % 100 === 0) mkdirSync(join(folder, `many/f${index / 100}`), { recursive: true });
    writeFileSync(join(folder, `many/f${Math.floor(index / 100)}/${index}.txt`), `${text} ${index}\n`);
  }
  mkdirSync(join(folder, 'src'), { recursive: true });
  for (const path of SEEN) writeFileSync(join(folder, path), `// ${text} ${path}\n`);
}

export function git(folder: string, ...args: readonly string[]): void {
  const who = ['-c', 'gc.auto=0', '-c', 'user.name=A', '-c', 'user.email=a@example.com'];
  execFileSync('git', ['-C', folder, ...who, ...args], { env: { ...process.env, ...NO_USER_CONFIG } });
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
