// What a command would run: the resolved program and every file that its arguments name, with their hashes.
import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { delimiter, extname, isAbsolute, join, resolve } from 'node:path';
import { failed, type Result, succeeded } from '../base/errors.ts';

export interface CommandFile {
  readonly path: string;
  /** Hexadecimal. */
  readonly sha256: string;
}

export interface Fingerprint {
  /** Absolute: what is started is what was hashed. */
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: string;
  /** The program first. */
  readonly files: readonly CommandFile[];
}

const WINDOWS = process.platform === 'win32';
const HASHED_AT_ONCE = 1024 * 1024;

/** Relative names are relative to the folder, in which the command runs. */
export async function fingerprintCommand(
  command: readonly string[],
  folder: string,
  hash: (path: string) => Promise<string> = hashFile,
): Promise<Result<Fingerprint>> {
  const [name = '', ...args] = command;
  const program = await findProgram(name, folder, process.env);
  if (program === undefined)
    return failed('plugin', `The program “${name}” was not found.`, 'Correct its command in the settings.');
  const paths = [program];
  for (const argument of args) {
    const named = await fileIn(argument, folder);
    if (named !== undefined && !paths.includes(named)) paths.push(named);
  }
  try {
    const files = await Promise.all(paths.map(async (path) => ({ path, sha256: await hash(path) })));
    return succeeded({ program, args, folder, files });
  } catch (error) {
    return failed(
      'plugin',
      `A file of its command cannot be read: ${error instanceof Error ? error.message : String(error)}.`,
    );
  }
}

/** What an approval is remembered by: any change of the command, the folder or the files makes another one. */
export function approvalKey({ args, folder, files }: Fingerprint, name: string): string {
  return createHash('sha256')
    .update(JSON.stringify([name, args, folder, files]))
    .digest('hex');
}

/** Where the program and the files of a command are, or would be. */
export function placesOf(command: readonly string[], folder: string): readonly string[] {
  const [name = '', ...args] = command;
  const named = args.flatMap((argument) => namesIn(argument).map((file) => resolve(folder, file)));
  return [...programPlaces(name, folder, process.env), ...named];
}

async function findProgram(name: string, folder: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  for (const path of programPlaces(name, folder, env)) if (await isProgram(path)) return path;
  return undefined;
}

function programPlaces(name: string, folder: string, env: NodeJS.ProcessEnv): readonly string[] {
  const places = /[\\/]/.test(name) ? [resolve(folder, name)] : searchPath(env).map((place) => join(place, name));
  return places.flatMap((place) => withEndings(place, env));
}

function searchPath(env: NodeJS.ProcessEnv): readonly string[] {
  const name = Object.keys(env).find((one) => one.toUpperCase() === 'PATH') ?? 'PATH';
  // Relative entries would find another program in each folder.
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

/** The file that an argument names, also as `--option=file`; undefined if there is none. */
async function fileIn(argument: string, folder: string): Promise<string | undefined> {
  for (const name of namesIn(argument)) {
    try {
      const path = await realpath(resolve(folder, name));
      if ((await stat(path)).isFile()) return path;
    } catch {
      // It names no file.
    }
  }
  return undefined;
}

/** What may be the name of a file in an argument: all of it, and the value of `--option=file`. */
export function namesIn(argument: string): readonly string[] {
  const isOption = argument.startsWith('-') && argument.includes('=');
  const names = [argument, ...(isOption ? [argument.slice(argument.indexOf('=') + 1)] : [])];
  return names.filter((name) => name !== '' && !name.includes('\0'));
}

/**
 * Hashes of files that have not changed since, as far as size and times say. Only for what is shown: times can be
 * forged, so a program that is started is always hashed.
 */
export class KnownHashes {
  readonly #known = new Map<string, { readonly stamp: string; readonly sha256: string }>();

  async hash(path: string): Promise<string> {
    const { size, mtimeMs, ctimeMs, ino } = await stat(path);
    const stamp = [size, mtimeMs, ctimeMs, ino].join(' ');
    const known = this.#known.get(path);
    if (known?.stamp === stamp) return known.sha256;
    const sha256 = await hashFile(path);
    this.#known.set(path, { stamp, sha256 });
    return sha256;
  }
}

export function hashFile(path: string): Promise<string> {
  return new Promise((fulfil, reject) => {
    const hash = createHash('sha256');
    createReadStream(path, { highWaterMark: HASHED_AT_ONCE })
      .on('error', reject)
      .on('data', (chunk) => hash.update(chunk))
      .on('end', () => fulfil(hash.digest('hex')));
  });
}
