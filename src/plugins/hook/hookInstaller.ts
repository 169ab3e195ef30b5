// Installs our hook for other agents: the files it goes to, the program they run, and the change of each file.
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { failed, type Result, succeeded } from '../../base/errors.ts';
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
  /** The file is only ours. */
  readonly own: boolean;
}

export interface HookChange {
  readonly target: HookTarget;
  readonly before: string;
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
    const grouped = { grouped: true, own: false } as const;
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
        ...{ agent: 'copilot', scope: 'user', grouped: false, own: true },
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
    return after.ok ? succeeded({ target, before, after: after.value }) : after;
  }

  /** Changes the file only if it is as it was planned. */
  async apply({ target, before, after }: HookChange): Promise<Result<void>> {
    const { file, own } = target;
    if ((await readText(file)) !== before) {
      return failed('stale', `${file} was changed meanwhile.`, 'Try again.');
    }
    if (before === after) return succeeded(undefined);
    if (own && !hasHook(after)) await rm(file, { force: true });
    else await writeInPlace(file, after);
    return succeeded(undefined);
  }

  /** Puts the program where the hooks run it. Resolves to whether it was not there or is another version. */
  async copyProgram(): Promise<boolean> {
    const bytes = await readFile(this.#deps.program);
    const copy = this.#copy;
    const before = await readFile(copy).catch(() => undefined);
    if (before?.equals(bytes) === true) return false;
    await writeInPlace(copy, bytes);
    return true;
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

/** Empty: there is none. Undefined: it cannot be read, or is too large to be one. */
async function readText(file: string): Promise<string | undefined> {
  try {
    const { size } = await stat(file);
    return size > LARGEST ? undefined : await readFile(file, 'utf8');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? '' : undefined;
  }
}

/** Whole or not at all; a link stays one, and the mode stays. */
async function writeInPlace(file: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const place = await realpath(file).catch(() => file);
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
