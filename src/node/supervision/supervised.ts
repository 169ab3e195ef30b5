// A window's view of a supervised command: from its supervisor's messages or, once that has ended, from disk.
import { rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { type Clock } from '../../base/clock.ts';
import { type CommandEnd } from '../../base/commandEnd.ts';
import { type Disposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/emitter.ts';
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { type ProcessCode } from '../../base/failureCodes.ts';
import { defined } from '../../base/json/defined.ts';
import { LineSplitter } from '../../base/lines.ts';
import { measureOutput, type OutputMeasure, readOutput } from '../outputFile.ts';
import { platform } from '../platform/platform.ts';
import {
  type FromSupervisor,
  LINE_LIMIT,
  markOf,
  type ProcessIdentity,
  readMessage,
  readState,
  type SupervisorSpec,
  type SupervisorState,
  type ToSupervisor,
} from './supervisorFiles.ts';

export interface SupervisedDeps {
  readonly clock: Clock;
  report(what: string, error: unknown): void;
  readonly folder: string;
  readonly spec: SupervisorSpec;
}

interface Status extends OutputMeasure {
  readonly startedAt: string;
  readonly inputOpen: boolean;
  readonly end?: CommandEnd;
  readonly lost?: true;
}

const RETRY_MILLISECONDS = 500;

export class Supervised implements Disposable {
  readonly #deps: SupervisedDeps;
  readonly #emitter: Emitter<void>;
  readonly #asked = new Map<number, (result: Result<void, ProcessCode>) => void>();
  #state: SupervisorState;
  #measure: OutputMeasure;
  #lost = false;
  #socket: Socket | undefined;
  #next = 0;
  #retry: Disposable | undefined;
  #disposed = false;

  private constructor(deps: SupervisedDeps, state: SupervisorState, measure: OutputMeasure) {
    this.#deps = deps;
    this.#state = state;
    this.#measure = measure;
    this.#emitter = new Emitter((error) => deps.report('a listener failed', error));
  }

  /** Resolves once the command's present state is known. */
  static async follow(deps: SupervisedDeps, state: SupervisorState): Promise<Supervised> {
    const supervised = new Supervised(deps, state, await measureOutput(deps.folder));
    if (state.end === undefined) await supervised.#reach();
    return supervised;
  }

  get command(): string {
    return this.#deps.spec.command;
  }

  get pid(): number {
    return this.#state.supervisor.pid;
  }

  get startTime(): string {
    return this.#state.supervisor.startTime;
  }

  get shell(): number | undefined {
    return this.#state.process?.pid;
  }

  /** The value of COMMAND_MARK in the environment of the command's processes. */
  get mark(): string {
    return markOf(this.#deps.spec);
  }

  get status(): Status {
    const { startedAt, inputOpen, end } = this.#state;
    const status = { startedAt, inputOpen: inputOpen && !this.#lost, ...this.#measure };
    return { ...status, ...defined({ end }), ...(this.#lost && { lost: true as const }) };
  }

  get onDidChange(): Emitter<void>['event'] {
    return this.#emitter.event;
  }

  read(from: number, limit: number): Promise<{ from: number; bytes: Uint8Array }> {
    return readOutput(this.#deps.folder, from, limit);
  }

  write(text: string, last = false): Promise<Result<void, ProcessCode>> {
    if (this.#socket === undefined) return Promise.resolve(failed('not_running', 'It does not run any more.'));
    const id = this.#next++;
    return new Promise((resolve) => {
      this.#asked.set(id, resolve);
      this.#send({ type: 'input', id, text, last });
    });
  }

  stop(reason: string): void {
    this.#send({ type: 'stop', reason });
  }

  interrupt(): void {
    this.#send({ type: 'interrupt' });
  }

  dispose(): void {
    this.#disposed = true;
    this.#retry?.dispose();
    this.#socket?.destroy();
    this.#emitter.dispose();
  }

  #send(message: ToSupervisor): void {
    this.#socket?.write(`${JSON.stringify(message)}\n`);
  }

  /** Connects; if that fails, reads the state from disk and retries while the supervisor is alive. */
  async #reach(): Promise<void> {
    if (!(await this.#connect()) && !this.#disposed) await this.#readFromDisk();
  }

  async #readFromDisk(): Promise<void> {
    const { folder, clock } = this.#deps;
    this.#state = (await readState(folder)) ?? this.#state;
    if (this.#state.end === undefined && !(await isAlive(this.#state.supervisor))) {
      // The supervisor may have written its last state just before it ended.
      this.#state = (await readState(folder)) ?? this.#state;
      if (this.#state.end === undefined) await this.#markLost();
    }
    this.#measure = await measureOutput(folder);
    if (this.#disposed) return;
    this.#emitter.fire();
    if (this.#state.end !== undefined || this.#lost) return;
    this.#retry = clock.after(RETRY_MILLISECONDS, () => this.#reachAgain());
  }

  #reachAgain(): void {
    void this.#reach().catch((error: unknown) => this.#deps.report('a command could not be followed', error));
  }

  /** The supervisor died without a final state. Its processes are ended here, since nobody else could end them. */
  async #markLost(): Promise<void> {
    const { process } = this.#state;
    if (process !== undefined && (await isOurs(process))) {
      await platform.processes.tree(process, markOf(this.#deps.spec)).end(true);
    }
    if (platform.sockets.areFiles) rmSync(this.#deps.spec.socket, { force: true });
    this.#lost = true;
  }

  /** Resolves once the supervisor has answered; false if it cannot be reached. */
  #connect(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.#deps.spec.socket);
      const lines = new LineSplitter(LINE_LIMIT);
      socket.setEncoding('utf8');
      socket.on('connect', () => socket.write(`${JSON.stringify({ type: 'hello', token: this.#deps.spec.token })}\n`));
      socket.on('error', () => socket.destroy());
      socket.on('data', (text: string) => {
        const complete = lines.take(text);
        if (complete === undefined) socket.destroy();
        for (const line of complete ?? []) {
          const message = readMessage(line);
          if (message === undefined) continue;
          this.#socket ??= socket;
          this.#received(message);
          resolve(true);
        }
      });
      socket.on('close', () => {
        resolve(false);
        if (this.#socket !== socket) return;
        this.#socket = undefined;
        for (const answer of this.#asked.values()) answer(failed('not_running', 'It does not run any more.'));
        this.#asked.clear();
        if (!this.#disposed && this.#state.end === undefined) this.#reachAgain();
      });
    });
  }

  #received(message: FromSupervisor): void {
    if (message.type === 'input_taken') {
      const { id, problem } = message;
      this.#asked.get(id)?.(problem === undefined ? succeeded(undefined) : failed('no_input', problem));
      this.#asked.delete(id);
      return;
    }
    if (message.type === 'state') this.#state = message.state;
    this.#measure = { size: message.size, kept: message.kept };
    this.#emitter.fire();
  }
}

function isAlive({ pid, startTime }: ProcessIdentity): Promise<boolean> {
  return platform.processes.isRunning(pid, startTime);
}

/**
 * The command may have ended and left other processes in its group. The id of a group is not reused while the group
 * exists, so within one boot a group without its leader still belongs to the command.
 */
async function isOurs(process: ProcessIdentity): Promise<boolean> {
  const { isSameBoot, startTimeOf } = platform.processes;
  if (await isAlive(process)) return true;
  return isSameBoot(process.startTime) && startTimeOf(process.pid) === undefined;
}
