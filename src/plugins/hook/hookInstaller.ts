// Installs our hook for other agents: the files it goes to, the program they run, and the change of each file.
import { randomUUID } from 'node:crypto';
import { chmod, lstat, mkdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describeError, failed, type Result, succeeded } from '../../base/errors.ts';
import { hasHook, withHook, withoutHook } from './hookSettings.ts';

/** Claude Code and Codex read additional context at these moments, VS Code's agent at all but the second. */
const MOMENTS = ['PostToolUse', 'UserPromptSubmit', 'SessionStart'] as const;
const LARGEST = 5 * 1024 * 1024;
const PROGRAM = 'notifications-hook.mjs';

/** As people call them. */
export const AGENT_NAMES = { 'claude-code': 'Claude Code', codex: 'Codex', copilot: 'GitHub Copilot' } as const;

export interface HookTarget {
  /** As the hook names itself to the window. */
  readonly agent: keyof typeof AGENT_NAMES;
  readonly scope: 'folder' | 'user';
  /** The settings file. */
  readonly file: string;
  readonly grouped: boolean;
}

export interface HookChange {
  readonly target: HookTarget;
  readonly before: string;
  /** Empty: there is nothing in the file but the hook, so it is removed. */
  readonly after: string;
}

export interface HookInstallerDeps {
  readonly home: string;
  /** The workspace folder; undefined without one. */
  readonly folder: string | undefined;
  /** The program as it ships: it moves with each version of the extension, so it is copied. */
  readonly program: string;
  /** What runs it, as the beginning of a command line. */
  readonly node: string;
}

export class HookInstaller {
  readonly #deps: HookInstallerDeps;

  constructor(deps: HookInstallerDeps) {
    this.#deps = deps;
  }

  get targets(): readonly HookTarget[] {
    const { home, folder } = this.#deps;
    const grouped = { grouped: true } as const;
    const inFolder = folder === undefined ? [] : [folder];
    return [
      ...inFolder.map((root) => ({
        ...grouped,
        agent: 'claude-code' as const,
        scope: 'folder' as const,
        file: join(root, '.claude', 'settings.local.json'),
      })),
      { ...grouped, agent: 'claude-code', scope: 'user', file: join(home, '.claude', 'settings.json') },
      {
        ...{ agent: 'copilot', scope: 'user', grouped: false },
        file: join(home, '.copilot', 'hooks', 'earshot-notifications.json'),
      },
      ...inFolder.map((root) => ({
        ...grouped,
        agent: 'codex' as const,
        scope: 'folder' as const,
        file: join(root, '.codex', 'hooks.json'),
      })),
      { ...grouped, agent: 'codex', scope: 'user', file: join(home, '.codex', 'hooks.json') },
    ];
  }

  /** Those that have the hook. */
  async installed(): Promise<readonly HookTarget[]> {
    const found = await Promise.all(this.targets.map(async (target) => hasHook((await readText(target.file)) ?? '')));
    return this.targets.filter((_, index) => found[index]);
  }

  /** What the file would become. Nothing is written. */
  async plan(target: HookTarget, action: 'install' | 'remove'): Promise<Result<HookChange>> {
    const before = await readText(target.file);
    if (before === undefined) return failed('too_big', `${target.file} cannot be read.`, 'Look at it, then try again.');
    const { agent, grouped } = target;
    const events = MOMENTS.filter((moment) => agent !== 'copilot' || moment !== 'UserPromptSubmit');
    const after =
      action === 'install' ? withHook(before, { events, command: this.#command(agent), grouped }) : withoutHook(before);
    if (after.ok) return succeeded({ target, before, after: await withoutRest(target.file, after.value) });
    const problem = `${target.file} cannot be changed: ${after.failure.message}.`;
    return failed('refused', problem, 'Correct the file, then try again.');
  }

  /** Changes the file only if it is as it was planned. */
  async apply({ target, before, after }: HookChange): Promise<Result<void>> {
    const { file } = target;
    if ((await readText(file)) !== before) {
      return failed('stale', `${file} was changed meanwhile.`, 'Try again.');
    }
    if (before === after) return succeeded(undefined);
    return attempt(file, () => (after === '' ? rm(file, { force: true }) : writeInPlace(file, after)));
  }

  /** Puts the program where the hooks run it. */
  async copyProgram(): Promise<Result<void>> {
    const bytes = await readFile(this.#deps.program);
    const copy = this.#copy;
    const before = await readFile(copy).catch(() => undefined);
    return before?.equals(bytes) === true ? succeeded(undefined) : attempt(copy, () => writeInPlace(copy, bytes));
  }

  /** After an update of the extension: only if it was installed before. */
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

/** An empty object is as good as no file; a link is somebody's and stays. */
async function withoutRest(file: string, text: string): Promise<string> {
  if (!/^\s*\{\s*\}\s*$/.test(text)) return text;
  return (await lstat(file).catch(() => undefined))?.isSymbolicLink() === true ? text : '';
}

/** Empty: there is none. Undefined: it cannot be read, or is too large to be one. */
async function readText(file: string): Promise<string | undefined> {
  try {
    const { size } = await stat(file);
    return size > LARGEST ? undefined : await readFile(file, 'utf8');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? '' : undefined;
  }
}

/** A file that cannot be written is the user's to correct. */
async function attempt(file: string, write: () => Promise<void>): Promise<Result<void>> {
  try {
    await write();
    return succeeded(undefined);
  } catch (error) {
    const problem = `${file} cannot be written: ${describeError(error)}.`;
    return failed('refused', problem, 'Correct that, then try again.');
  }
}

/** Whole or not at all; a link stays one, and the mode stays. */
async function writeInPlace(file: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const place = await realpath(file).catch(() => file);
  if ((await lstat(place).catch(() => undefined))?.isSymbolicLink() === true) {
    throw new Error('it is a link to a file that does not exist');
  }
  const mode = await stat(place).then(
    (found) => found.mode & 0o777,
    () => 0o600,
  );
  const temporary = `${place}.${randomUUID()}.tmp`;
  try {
    await writeFile(temporary, content, { mode });
    await chmod(temporary, mode);
    await rename(temporary, place);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
