// Starts commands under supervisors, and reattaches to them after a restart of the window.
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock } from '../../base/clock.ts';
import { describeError, failed, type Result, succeeded } from '../../base/errors.ts';
import { type ProcessCode } from '../../base/failureCodes.ts';
import { defined } from '../../base/json/defined.ts';
import { realFileSystem } from '../files/fileSystem.ts';
import { platform } from '../platform/platform.ts';
import { type ShellProgram } from '../shellProgram.ts';
import { Supervised } from './supervised.ts';
import { OWN_NODE_OPTIONS, readSpec, readState, type SupervisorSpec, writeSpec } from './supervisorFiles.ts';

export interface UserShell {
  readonly shell: ShellProgram;
  readonly env: NodeJS.ProcessEnv;
}

export interface SupervisionDeps {
  /** Starts a supervisor for the command in this folder; resolves once its state is on disk. */
  launch(folder: string, env: NodeJS.ProcessEnv): Promise<void>;
  readonly clock: Clock;
  report(what: string, error: unknown): void;
  /** The folder of a conversation. */
  folderOf(conversation: string): Promise<string>;
  userShell(): UserShell;
  /** Variables in the environment of one command. Absent: none. */
  environment?(run: Run): Promise<Readonly<Record<string, string>>>;
  /** How long a supervisor waits for an owner. */
  unownedMilliseconds(): number;
  /** Default: 3 s. */
  readonly graceMilliseconds?: number;
}

export interface Run {
  readonly conversation: string;
  readonly run: string;
}

const GRACE = 3000;

export function createSupervision(deps: SupervisionDeps) {
  const root = async (conversation: string) => join(await deps.folderOf(conversation), 'handles');
  // A model may choose any call id, so it is encoded as a safe folder name that can be decoded.
  const folderOf = async ({ conversation, run }: Run) => join(await root(conversation), folderName(run));
  return {
    start: async (
      wanted: Run & { readonly command: string; readonly folder: string; readonly input: boolean },
    ): Promise<Result<Supervised, ProcessCode>> => {
      if (wanted.command.includes('\0')) return failed('bad_command', 'The command contains a NUL character.');
      try {
        const folder = await folderOf(wanted);
        await realFileSystem.makeFolder(folder);
        const { shell, env } = deps.userShell();
        const spec: SupervisorSpec = {
          command: wanted.command,
          shell,
          folder: wanted.folder,
          input: wanted.input,
          token: randomBytes(16).toString('base64url'),
          socket: await socketFor(folder),
          unownedMilliseconds: deps.unownedMilliseconds(),
          graceMilliseconds: deps.graceMilliseconds ?? GRACE,
        };
        await writeSpec(folder, spec);
        await deps.launch(folder, { ...env, ...(await deps.environment?.(wanted)) });
        const started = await reattach(deps, folder);
        return started === undefined
          ? failed('not_started', 'The command could not be started: its supervisor did not report a state.')
          : succeeded(started);
      } catch (error) {
        return failed('not_started', `The command could not be started: ${describeError(error)}.`);
      }
    },
    reattach: async (conversation: string, run: string): Promise<Supervised | undefined> =>
      reattach(deps, await folderOf({ conversation, run })),
    runs: async (conversation: string): Promise<readonly string[]> => {
      const names = await readdir(await root(conversation)).catch((): string[] => []);
      return names.flatMap((name) => runOf(name) ?? []);
    },
    hasUnfinished: async (conversation: string): Promise<boolean> => {
      const place = await root(conversation);
      const names = await readdir(place).catch((): string[] => []);
      const states = await Promise.all(names.map((name) => readState(join(place, name))));
      return states.some((state) => state !== undefined && state.end === undefined);
    },
    remove: async (conversation: string, run: string): Promise<void> =>
      rm(await folderOf({ conversation, run }), { recursive: true, force: true }),
  };
}

async function reattach(deps: SupervisionDeps, folder: string): Promise<Supervised | undefined> {
  const spec = await readSpec(folder);
  const state = spec && (await readState(folder));
  if (spec === undefined || state === undefined) return undefined;
  return Supervised.follow({ clock: deps.clock, report: deps.report, folder, spec }, state);
}

/** Starts this program file as a separate process. */
export function launchSupervisor(program: string, folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  return new Promise((resolve, reject) => {
    const { NODE_OPTIONS: options, ...rest } = env;
    const child = spawn(process.execPath, [program, folder], {
      detached: true,
      env: { ...rest, ELECTRON_RUN_AS_NODE: '1', ...defined({ [OWN_NODE_OPTIONS]: options }) },
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
    });
    let complaint = '';
    const settle = (action: () => void) => {
      child.stdout.destroy();
      child.stderr.destroy();
      child.unref();
      action();
    };
    child.stderr.on('data', (chunk: Buffer) => {
      if (complaint.length < 2000) complaint += chunk.toString('utf8');
    });
    child.stdout.once('data', () => settle(resolve));
    child.once('error', (error) => settle(() => reject(error)));
    // Not on exit: its output may still be in transit.
    child.once('close', (code) =>
      settle(() =>
        reject(new Error(`its supervisor ended with ${code ?? 'a signal'}. ${complaint.split('\n')[0] ?? ''}`)),
      ),
    );
  });
}

/** An unguessable address. */
function socketFor(folder: string): Promise<string> {
  const name = createHash('sha256').update(folder).update(randomBytes(8)).digest('hex').slice(0, 16);
  return platform.sockets.forName(name);
}

const PREFIX = 'run-';

function folderName(run: string): string {
  const name = PREFIX + Buffer.from(run, 'utf8').toString('hex');
  if (name.length <= 200) return name;
  throw new Error('the id of the call is too long');
}

function runOf(name: string): string | undefined {
  return name.startsWith(PREFIX) ? Buffer.from(name.slice(PREFIX.length), 'hex').toString('utf8') : undefined;
}
