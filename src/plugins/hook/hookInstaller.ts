// Installs Earshot's hook for other agents: finds their settings files, plans and applies the change of each, and
// copies the program that they run.
import { randomUUID } from 'node:crypto';
import { chmod, lstat, mkdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { ignore } from '../../base/async.ts';
import { describeError, failed, type Result, succeeded } from '../../base/errors.ts';
import { realpathOfExisting } from '../../node/files/resolvePath.ts';
import { forgetHookRun, lastHookRun } from './hookRuns.ts';
import { hasHook, withHook, withoutHook } from './hookSettings.ts';
import {
  hookEntries,
  hookTargets,
  type HookedAgent,
  type HookTarget,
  isOwnPlugin,
  opencodePlugin,
} from './hookTargets.ts';
import { renameFile } from '../../node/files/renameFile.ts';

const LARGEST = 5 * 1024 * 1024;
const PROGRAM = 'notifications-hook.mjs';

export interface HookChange {
  readonly target: HookTarget;
  /** Where the settings file really is. */
  readonly place: string;
  readonly before: string;
  /** Empty: the file contains nothing but the hook, so it is deleted. */
  readonly after: string;
}

export interface HookInstallerDeps {
  readonly home: string;
  /** The workspace folder; undefined without one. */
  readonly folder: string | undefined;
  /** The shipped program. It is copied, since its path changes with each version of the extension. */
  readonly program: string;
  /** The beginning of the command line, which runs Node. */
  readonly node: string;
}

export class HookInstaller {
  readonly #deps: HookInstallerDeps;

  constructor(deps: HookInstallerDeps) {
    this.#deps = deps;
  }

  get targets(): readonly HookTarget[] {
    return hookTargets(this.#deps.home, this.#deps.folder);
  }

  /** The targets that have the hook. */
  async installed(): Promise<readonly HookTarget[]> {
    const found = await Promise.all(this.targets.map(async (target) => hasHook((await readText(target.file)) ?? '')));
    return this.targets.filter((_, index) => found[index]);
  }

  /** When the agent has last run the hook; undefined: never since it was installed. */
  lastRun({ agent }: HookTarget): Promise<Date | undefined> {
    return lastHookRun(this.#deps.home, agent);
  }

  /** Computes the new content of the file without writing it. */
  async plan(target: HookTarget, action: 'install' | 'remove'): Promise<Result<HookChange>> {
    const place = await realpathOfExisting(target.file);
    if (target.scope === 'folder' && !(await this.#isInFolder(place))) {
      const problem = `${target.file} leads to ${place}, which is outside the folder.`;
      return failed('refused', problem, 'Remove the link, or install the hook for all folders.');
    }
    const before = await readText(place);
    if (before === undefined) return failed('too_big', `${target.file} cannot be read.`, 'Check it, then try again.');
    const after = this.#change(target.agent, before, action);
    if (after.ok) return succeeded({ target, place, before, after: await emptyIfUnused(target.file, after.value) });
    const problem = `${target.file} cannot be changed: ${after.failure.message}.`;
    return failed('refused', problem, 'Correct the file, then try again.');
  }

  /** Changes the file, unless it has changed or its path leads elsewhere since the plan was made. */
  async apply({ target, place, before, after }: HookChange): Promise<Result<void>> {
    const { file } = target;
    if ((await realpathOfExisting(file)) !== place || (await readText(place)) !== before) {
      return failed('stale', `${file} was changed meanwhile.`, 'Try again.');
    }
    if (before === after) return succeeded(undefined);
    if (hasHook(before) && !hasHook(after)) await forgetHookRun(this.#deps.home, target.agent);
    return orWriteFailure(file, () => (after === '' ? rm(place, { force: true }) : writeAt(file, place, after)));
  }

  #change(agent: HookedAgent, before: string, action: 'install' | 'remove'): Result<string> {
    const command = this.#command(agent);
    const entries = hookEntries(agent, command);
    if (entries !== undefined) return action === 'install' ? withHook(before, entries) : withoutHook(before);
    if (before !== '' && !isOwnPlugin(before)) return failed('refused', 'it is not the plugin of Earshot');
    return succeeded(action === 'install' ? opencodePlugin(command) : '');
  }

  async #isInFolder(place: string): Promise<boolean> {
    const { folder } = this.#deps;
    const way = folder === undefined ? '..' : relative(await realpath(folder), place);
    return !isAbsolute(way) && way.split(sep)[0] !== '..';
  }

  /** Copies the program to the place that the hooks run it from. */
  async copyProgram(): Promise<Result<void>> {
    const bytes = await readFile(this.#deps.program);
    const copy = this.#copy;
    const before = await readFile(copy).catch(ignore);
    return before?.equals(bytes) === true
      ? succeeded(undefined)
      : orWriteFailure(copy, async () => writeAt(copy, await realpathOfExisting(copy), bytes));
  }

  /** Updates the copy after an update of the extension, if there is one. */
  async refreshProgram(): Promise<void> {
    const isThere = await stat(this.#copy).then(
      () => true,
      () => false,
    );
    if (isThere) await this.copyProgram();
  }

  get #copy(): string {
    return join(this.#deps.home, '.earshot', 'bin', PROGRAM);
  }

  #command(agent: string): string {
    return `${this.#deps.node} ${JSON.stringify(this.#copy)} --agent ${agent}`;
  }
}

/**
 * Empty instead of an object with nothing but its version, so that the file is deleted. A symbolic link belongs to the
 * user and stays.
 */
async function emptyIfUnused(file: string, text: string): Promise<string> {
  if (!/^\s*\{\s*(?:"version"\s*:\s*1\s*)?\}\s*$/.test(text)) return text;
  return (await lstat(file).catch(ignore))?.isSymbolicLink() === true ? text : '';
}

/** Empty: there is no file. Undefined: it cannot be read, or is too large for a settings file. */
async function readText(file: string): Promise<string | undefined> {
  try {
    const { size } = await stat(file);
    return size > LARGEST ? undefined : await readFile(file, 'utf8');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? '' : undefined;
  }
}

/** A failure asks the user to fix the file. */
async function orWriteFailure(file: string, write: () => Promise<void>): Promise<Result<void>> {
  try {
    await write();
    return succeeded(undefined);
  } catch (error) {
    const problem = `${file} cannot be written: ${describeError(error)}.`;
    return failed('refused', problem, 'Correct that, then try again.');
  }
}

/** Replaces the file at its real path atomically, and keeps its mode. Fails if that path leads elsewhere now. */
async function writeAt(file: string, place: string, content: string | Uint8Array): Promise<void> {
  const isLink = (await lstat(file).catch(ignore))?.isSymbolicLink() === true;
  if (isLink && (await stat(file).catch(ignore)) === undefined) {
    throw new Error('it is a link to a file that does not exist');
  }
  const folder = dirname(place);
  await mkdir(folder, { recursive: true });
  const mode = await stat(place).then(
    (found) => found.mode & 0o777,
    () => 0o600,
  );
  const temporary = `${place}.${randomUUID()}.tmp`;
  const isMoved = async () => (await realpath(folder)) !== folder;
  try {
    if (await isMoved()) throw new Error('a folder above it leads elsewhere now');
    await writeFile(temporary, content, { mode, flag: 'wx' });
    await chmod(temporary, mode);
    // Checked again, since what is written now belongs to the place that the user saw.
    if (await isMoved()) throw new Error('a folder above it leads elsewhere now');
    await renameFile(temporary, place);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
