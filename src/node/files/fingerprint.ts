// Determines what a command would run: the resolved program and all files whose code it runs, with their hashes.
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { describeError, failed, type Result, succeeded } from '../../base/errors.ts';
import { platform } from '../platform/platform.ts';
import { type Unpinned } from './codePins.ts';
import { pinCommand } from './commandPins.ts';
import { hashFile } from './fileHashes.ts';
import { realpathOfExisting } from './resolvePath.ts';

export interface CommandFile {
  readonly path: string;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** What a command runs, before its files are hashed. */
export interface InspectedCommand {
  /** The absolute path, so that the started program is the one that was hashed. */
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: string;
  /** The first one is the program. */
  readonly paths: readonly string[];
  /** Code that may run besides these files. An approval of such a command holds for one window. */
  readonly unpinned: readonly Unpinned[];
  /** Whether code of the workspace runs. Such a command needs approval as the workspace's own, whoever configured it. */
  readonly isInWorkspace: boolean;
}

export interface Fingerprint extends InspectedCommand {
  readonly files: readonly CommandFile[];
}

export interface CommandContext {
  /** Where the command runs; relative names are relative to it. */
  readonly folder: string;
  /** The folders of the workspace. */
  readonly roots: readonly string[];
}

export async function inspectCommand(
  command: readonly string[],
  { folder, roots }: CommandContext,
): Promise<Result<InspectedCommand>> {
  const [name = '', ...args] = command;
  const program = await findProgram(name, folder, process.env);
  if (program === undefined)
    return failed('plugin', `The program “${name}” was not found.`, 'Correct its command in the settings.');
  return succeeded(await inspectProgram({ program, args, folder, roots, env: process.env, configured: {} }));
}

/** `env` has the search path; `configured` are the variables that the command's configuration sets. */
export async function inspectProgram(
  start: CommandContext & {
    readonly program: string;
    readonly args: readonly string[];
    readonly env: NodeJS.ProcessEnv;
    readonly configured: Readonly<Record<string, string>>;
  },
): Promise<InspectedCommand> {
  const { program, args, folder, env, configured } = start;
  // Links in the path of a folder lead to the same files.
  const roots = [...new Set([...start.roots, ...(await Promise.all(start.roots.map(realpathOfExisting)))])];
  const find = (name: string) => findProgram(name, folder, env);
  const { files, unpinned, isInWorkspace } = await pinCommand(program, args, { folder, roots, configured, find });
  return { program, args, folder, paths: [...files], unpinned, isInWorkspace };
}

/** Fails if a file cannot be read. */
export async function hashCommand(inspected: InspectedCommand): Promise<Result<Fingerprint>> {
  try {
    return succeeded({ ...inspected, files: await hashFiles(inspected.paths, hashFile) });
  } catch (error) {
    return failed('plugin', `A file of its command cannot be read: ${describeError(error)}.`);
  }
}

export function hashFiles(
  paths: readonly string[],
  hash: (path: string) => Promise<string>,
): Promise<readonly CommandFile[]> {
  return Promise.all(paths.map(async (path) => ({ path, sha256: await hash(path) })));
}

/** The key under which an approval is remembered. If the command, the folder or a file changes, so does the key. */
export function approvalKey({ args, folder, files, unpinned }: Fingerprint, name: string): string {
  return createHash('sha256')
    .update(JSON.stringify([name, args, folder, files, unpinned]))
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
  return places.flatMap((place) => platform.programs.withEndings(place, env));
}

function searchPath(env: NodeJS.ProcessEnv): readonly string[] {
  const name = Object.keys(env).find((one) => one.toUpperCase() === 'PATH') ?? 'PATH';
  // Relative entries would find a different program in each folder.
  return (env[name] ?? '').split(delimiter).filter((place) => isAbsolute(place));
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

function namesIn(argument: string): readonly string[] {
  const isOption = argument.startsWith('-') && argument.includes('=');
  const names = [argument, ...(isOption ? [argument.slice(argument.indexOf('=') + 1)] : [])];
  return names.filter((name) => name !== '' && !name.includes('\0'));
}
