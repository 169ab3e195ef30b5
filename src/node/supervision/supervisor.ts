// Runs one command: stores its output and end on disk, passes input, and ends the process tree when nobody owns it.
import { type ChildProcess } from 'node:child_process';
import { createServer, type Server, type Socket } from 'node:net';
import { pause } from '../../base/async.ts';
import { type CommandEnd, type Survivor } from '../../base/commandEnd.ts';
import { describeError } from '../../base/errors.ts';
import { defined } from '../../base/json/defined.ts';
import { LineSplitter } from '../../base/lines.ts';
import { type FileSystem } from '../files/fileSystem.ts';
import { OutputWriter } from '../outputFile.ts';
import { COMMAND_MARK } from '../platform/marks.ts';
import { type ProcessTree } from '../platform/parts.ts';
import { platform } from '../platform/platform.ts';
import { spawnShell } from '../processTree.ts';
import { realClock } from '../realClock.ts';
import { CommandOutput } from './commandOutput.ts';
import {
  type FromSupervisor,
  LINE_LIMIT,
  markOf,
  readRequest,
  readSpec,
  StateKeeper,
  type SupervisorSpec,
  type SupervisorState,
  type ToSupervisor,
} from './supervisorFiles.ts';

/** Bytes of input that the command has not read yet; beyond this limit input is refused. */
const MOST_INPUT = 1024 * 1024;
const ANNOUNCE_MILLISECONDS = 30;
const POLL_MILLISECONDS = 25;
/** Time for leftover processes to end on their own. */
const LEFTOVER_MILLISECONDS = 500;
/** The least time for the first owner to connect: on a busy machine that may take longer than later owners may be away. */
const FIRST_OWNER_MILLISECONDS = 30_000;
/** Interval at which an end that could not be written is retried. */
const RETRY_MILLISECONDS = 1000;
/** At most this many are listed. */
const MOST_SURVIVORS = 20;

export interface SupervisorDeps {
  /** Folder with the spec that the owner has written. */
  readonly folder: string;
  /** Environment of the command. */
  readonly env: NodeJS.ProcessEnv;
  /** Default: the real disk. */
  readonly files?: Pick<FileSystem, 'writeWhole'>;
  /** Called once the state on disk says that the command is running or could not be started. */
  ready(): void;
}

export async function createSupervisor(deps: SupervisorDeps): Promise<Supervisor> {
  const spec = await readSpec(deps.folder);
  if (spec === undefined) throw new Error('there is no command to run');
  return new Supervisor(deps, spec);
}

export class Supervisor {
  readonly #deps: SupervisorDeps;
  readonly #spec: SupervisorSpec;
  readonly #output: CommandOutput;
  readonly #keeper: StateKeeper;
  readonly #server: Server;
  readonly #owners = new Set<Socket>();
  readonly #started = Date.now();
  #state: SupervisorState;
  #child: ChildProcess | undefined;
  #tree: ProcessTree | undefined;
  #announcing: NodeJS.Timeout | undefined;
  #unowned: NodeJS.Timeout | undefined;
  /** Why it is being stopped. */
  #stopping: Pick<CommandEnd, 'cause' | 'reason'> | undefined;
  #force: NodeJS.Timeout | undefined;
  /** Leftover processes were ended. */
  #left = false;

  constructor(deps: SupervisorDeps, spec: SupervisorSpec) {
    this.#deps = deps;
    this.#spec = spec;
    this.#output = new CommandOutput(new OutputWriter(deps.folder), () => this.#announce());
    this.#keeper = new StateKeeper(deps.folder, deps.files);
    this.#server = createServer((socket) => this.#connected(socket));
    this.#state = {
      supervisor: { pid: process.pid, startTime: platform.processes.stampOf(process.pid) },
      startedAt: new Date(this.#started).toISOString(),
      inputOpen: spec.input,
    };
  }

  /** Resolves once the command has ended and that is on disk. */
  async run(): Promise<void> {
    // Reserve and listen first, so that the command can always be reached and its end can always be recorded.
    await this.#keeper.reserve();
    await new Promise<void>((resolve, reject) => {
      // The handler stays: a client that cannot be accepted, for lack of file descriptors, must not end the process.
      this.#server.on('error', reject);
      this.#server.listen(this.#spec.socket, resolve);
    });
    this.#watchOwner(Math.max(FIRST_OWNER_MILLISECONDS, this.#spec.unownedMilliseconds));
    const exit = await this.#command();
    await this.#endLeftovers();
    await this.#finish(exit, await this.#survivors());
  }

  /** Resolves when the command itself has ended, even if processes are left. */
  async #command(): Promise<Pick<CommandEnd, 'code' | 'signal'> | { readonly failed: string }> {
    const child = (this.#child = spawnShell({
      ...this.#spec,
      env: { ...this.#deps.env, [COMMAND_MARK]: markOf(this.#spec) },
    }));
    const exited = new Promise<Pick<CommandEnd, 'code' | 'signal'> | { failed: string }>((resolve) => {
      child.once('error', (error) => resolve({ failed: describeError(error) }));
      child.once('exit', (code, signal) => resolve({ code, signal }));
    });
    if (child.pid !== undefined) {
      this.#tree = platform.processes.tree(child, markOf(this.#spec));
      const process = { pid: child.pid, startTime: platform.processes.stampOf(child.pid) };
      this.#state = { ...this.#state, process };
    }
    this.#output.read([child.stdout, child.stderr]);
    child.stdin?.on('error', () => this.#inputClosed());
    child.stdin?.on('close', () => this.#inputClosed());
    try {
      await this.#keeper.write(this.#state);
    } catch (error) {
      // Without a state on disk nobody would find the command, so it must not keep running.
      await this.#tree?.end(true);
      throw error;
    }
    this.#deps.ready();
    return exited;
  }

  #connected(socket: Socket): void {
    const lines = new LineSplitter(LINE_LIMIT);
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => {
      const complete = lines.take(text);
      if (complete === undefined) socket.destroy();
      for (const line of complete ?? []) this.#received(socket, readRequest(line));
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      if (this.#owners.delete(socket)) this.#watchOwner();
    });
  }

  #received(socket: Socket, request: ToSupervisor | undefined): void {
    const known = this.#owners.has(socket);
    if (request === undefined || (!known && request.type !== 'hello')) {
      socket.destroy();
      return;
    }
    switch (request.type) {
      case 'hello':
        if (request.token !== this.#spec.token) {
          socket.destroy();
          return;
        }
        this.#owners.add(socket);
        clearTimeout(this.#unowned);
        return this.#send({ type: 'state', state: this.#state, ...this.#output.measure }, [socket]);
      case 'input':
        return this.#feed(socket, request);
      case 'stop':
        return this.stop(request.reason);
      case 'interrupt':
        this.#tree?.interrupt().catch(ignoreFailedSignal);
        return;
    }
  }

  #feed(socket: Socket, { id, text, last }: Extract<ToSupervisor, { type: 'input' }>): void {
    const input = this.#child?.stdin ?? undefined;
    const problem =
      input === undefined || !input.writable
        ? 'Its input is closed.'
        : input.writableLength + text.length > MOST_INPUT
          ? 'It does not read its input; what was sent before is still waiting.'
          : undefined;
    if (problem === undefined) {
      input?.write(text);
      if (last) input?.end();
    }
    this.#send({ type: 'input_taken', id, ...defined({ problem }) }, [socket]);
  }

  #inputClosed(): void {
    if (!this.#state.inputOpen || this.#state.end !== undefined) return;
    this.#state = { ...this.#state, inputOpen: false };
    this.#send({ type: 'state', state: this.#state, ...this.#output.measure });
  }

  #announce(): void {
    this.#announcing ??= setTimeout(() => {
      this.#announcing = undefined;
      this.#send({ type: 'output', ...this.#output.measure });
    }, ANNOUNCE_MILLISECONDS);
  }

  #send(message: FromSupervisor, to: Iterable<Socket> = this.#owners): void {
    const line = `${JSON.stringify(message)}\n`;
    for (const socket of to) socket.write(line);
  }

  #watchOwner(milliseconds = this.#spec.unownedMilliseconds): void {
    if (this.#owners.size > 0) return;
    clearTimeout(this.#unowned);
    this.#unowned = setTimeout(() => this.#stop({ cause: 'unowned' }), milliseconds);
  }

  stop(reason: string): void {
    this.#stop({ cause: 'stopped', reason });
  }

  #stop(why: Pick<CommandEnd, 'cause' | 'reason'>): void {
    if (this.#stopping !== undefined || this.#state.end !== undefined) return;
    this.#stopping = why;
    const tree = this.#tree;
    if (tree === undefined) return;
    void tree.end(false).catch(ignoreFailedSignal);
    this.#force = setTimeout(() => void tree.end(true).catch(ignoreFailedSignal), this.#spec.graceMilliseconds);
  }

  /** Ends the processes that are left in the command's group. To keep them running, use a handle. */
  async #endLeftovers(): Promise<void> {
    const tree = this.#tree;
    if (tree === undefined) return;
    const { graceMilliseconds: grace } = this.#spec;
    if (this.#stopping === undefined && (await gone(tree, LEFTOVER_MILLISECONDS))) return;
    if (this.#stopping === undefined) {
      await tree.end(false, false);
      this.#left = true;
    }
    const isGone = await gone(tree, grace);
    // The command may have started further processes while it was being stopped.
    const stopped = this.#stopping !== undefined;
    if (isGone && !(stopped && (await tree.survivors()).length > 0)) return;
    await tree.end(true, stopped);
    await gone(tree, grace);
  }

  /** Daemons may outlive the command; the result lists them. */
  async #survivors(): Promise<readonly Survivor[]> {
    const tree = this.#tree;
    if (tree === undefined || this.#stopping !== undefined) return [];
    const until = Date.now() + LEFTOVER_MILLISECONDS;
    for (;;) {
      const found = await tree.survivors();
      if (found.length === 0 || Date.now() > until) return found.map(({ pid, name }) => ({ pid, name }));
      await pause(realClock, POLL_MILLISECONDS);
    }
  }

  async #finish(
    exit: Pick<CommandEnd, 'code' | 'signal'> | { readonly failed: string },
    survivors: readonly Survivor[],
  ): Promise<void> {
    clearTimeout(this.#force);
    clearTimeout(this.#unowned);
    const now = Date.now();
    await this.#output.end();
    clearTimeout(this.#announcing);
    const failed = 'failed' in exit ? exit.failed : undefined;
    const end: CommandEnd = {
      ...('failed' in exit ? { code: null, signal: null } : exit),
      ...(failed === undefined ? (this.#stopping ?? { cause: 'exited' }) : { cause: 'not_started', reason: failed }),
      ...(this.#left && { left: true as const }),
      ...(survivors.length > 0 && { survivors: survivors.slice(0, MOST_SURVIVORS) }),
      ...defined({ outputProblem: this.#output.problem }),
      at: new Date(now).toISOString(),
      milliseconds: now - this.#started,
    };
    const ended = { ...this.#state, inputOpen: false, end };
    // On disk before it is announced, if the disk accepts it.
    let kept = await this.#keep(ended);
    this.#state = ended;
    this.#send({ type: 'state', state: this.#state, ...this.#output.measure });
    // While only this process knows the end, it stays alive to report it.
    for (let unownedFor = 0; !kept && unownedFor < this.#spec.unownedMilliseconds; kept = await this.#keep(ended)) {
      await pause(realClock, RETRY_MILLISECONDS);
      unownedFor = this.#owners.size > 0 ? 0 : unownedFor + RETRY_MILLISECONDS;
    }
    await this.#keeper.close();
    this.#server.close();
    for (const socket of this.#owners) socket.end();
  }

  async #keep(state: SupervisorState): Promise<boolean> {
    try {
      await this.#keeper.write(state);
      return true;
    } catch {
      return false;
    }
  }
}

async function gone(tree: ProcessTree, within: number): Promise<boolean> {
  const until = Date.now() + within;
  while (await tree.isAlive()) {
    if (Date.now() > until) return false;
    await pause(realClock, POLL_MILLISECONDS);
  }
  return true;
}

/** A failed signal needs no handling: a stronger one follows. */
function ignoreFailedSignal(): void {}
