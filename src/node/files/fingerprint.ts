// Determines what a command would run: the resolved program and all files that its arguments name, with their hashes.
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { delimiter, extname, isAbsolute, join, resolve } from 'node:path';
import { describeError, failed, type Result, succeeded } from '../../base/errors.ts';
import { hashFile } from './fileHashes.ts';

export interface CommandFile {
  readonly path: string;
  /** Hexadecimal. */
  readonly sha256: string;
}

export interface Fingerprint {
  /** The absolute path, so that the started program is the one that was hashed. */
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: string;
  /** The first one is the program. */
  readonly files: readonly CommandFile[];
}

const WINDOWS = process.platform === 'win32';

/** Relative names are relative to `folder`, in which the command runs. */
export async function fingerprintCommand(
  command: readonly string[],
  folder: string,
  hash: (path: string) => Promise<string> = hashFile,
): Promise<Result<Fingerprint>> {
  const [name = '', ...args] = command;
  const program = await findProgram(name, folder, process.env);
  if (program === undefined)
    return failed('plugin', `The program “${name}” was not found.`, 'Correct its command in the settings.');
  try {
    const paths = [...new Set([program, ...(await filesOf(args, folder))])];
    const files = await Promise.all(paths.map(async (path) => ({ path, sha256: await hash(path) })));
    return succeeded({ program, args, folder, files });
  } catch (error) {
    return failed('plugin', `A file of its command cannot be read: ${describeError(error)}.`);
  }
}

/** The key under which an approval is remembered. If the command, the folder or a file changes, so does the key. */
export function approvalKey({ args, folder, files }: Fingerprint, name: string): string {
  return createHash('sha256')
    .update(JSON.stringify([name, args, folder, files]))
    .digest('hex');
}

/** Paths at which the program and the files of a command are or could be. */
export function placesOf(command: readonly string[], folder: string): readonly string[] {
  const [name = '', ...args] = command;
  const named = args.flatMap((argument) => namesIn(argument).map((file) => resolve(folder, file)));
  return [...programPlaces(name, folder, process.env), ...named];
}

/** The path of a program; undefined if it is not found. `env` has the search path. */
export async function findProgram(name: string, folder: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  for (const path of programPlaces(name, folder, env)) if (await isProgram(path)) return path;
  return undefined;
}

function programPlaces(name: string, folder: string, env: NodeJS.ProcessEnv): readonly string[] {
  const places = /[\\/]/.test(name) ? [resolve(folder, name)] : searchPath(env).map((place) => join(place, name));
  return places.flatMap((place) => withEndings(place, env));
}

function searchPath(env: NodeJS.ProcessEnv): readonly string[] {
  const name = Object.keys(env).find((one) => one.toUpperCase() === 'PATH') ?? 'PATH';
  // Relative entries would find a different program in each folder.
  return (env[name] ?? '').split(delimiter).filter((place) => isAbsolute(place));
}

function withEndings(path: string, env: NodeJS.ProcessEnv): readonly string[] {
  if (!WINDOWS || extname(path) !== '') return [path];
  return (env['PATHEXT'] ?? '.EXE;.CMD;.BAT').split(';').map((ending) => path + ending.toLowerCase());
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/** The files that the arguments name, also in the form `--option=file`. */
export async function filesOf(args: readonly string[], folder: string): Promise<readonly string[]> {
  const files: string[] = [];
  for (const argument of args) {
    const named = await fileIn(argument, folder);
    if (named !== undefined) files.push(named);
  }
  return files;
}

async function fileIn(argument: string, folder: string): Promise<string | undefined> {
  for (const name of namesIn(argument)) {
    try {
      const path = await realpath(resolve(folder, name));
      if ((await stat(path)).isFile()) return path;
    } catch {
      // Not the name of a file.
    }
  }
  return undefined;
}

function namesIn(argument: string): readonly string[] {
  const isOption = argument.startsWith('-') && argument.includes('=');
  const names = [argument, ...(isOption ? [argument.slice(argument.indexOf('=') + 1)] : [])];
  return names.filter((name) => name !== '' && !name.includes('\0'));
}
