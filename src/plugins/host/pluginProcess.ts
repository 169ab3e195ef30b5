// A plugin as a child process: starts it, connects its pipes, and ends it with everything that it has started.
import { type ChildProcess } from 'node:child_process';
import { type Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';
import { describeError } from '../../base/errors.ts';
import { COMMAND_MARK, endGroup, ProcessTree, spawnProgram } from '../../node/processTree.ts';
import { type PluginTransport } from '../connection.ts';

/** A plugin that was asked to end has this long. */
const ENDS_WITHIN = 5000;

/** Its end and the end of its output come in any order. */
const CLOSED_AFTER = 500;

export interface ProcessDeps {
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly clock: Clock;
  /** Identifies everything that the plugin starts. */
  readonly mark: string;
  stdout(chunk: Uint8Array): void;
  stderr(chunk: Uint8Array): void;
  /** Its output is closed, or it could not be started; `how` says what happened. */
  closed(how: string): void;
}

export class PluginProcess {
  readonly #deps: ProcessDeps;
  readonly #child: ChildProcess;
  readonly #tree: ProcessTree | undefined;
  readonly #exited = Promise.withResolvers<void>();
  readonly #killAtExit = () => endGroup(this.#child);
  #ending: Promise<void> | undefined;
  #closing: Disposable | undefined;

  constructor(deps: ProcessDeps) {
    this.#deps = deps;
    const { program, args, folder, mark } = deps;
    // The model's key is no plugin's business.
    const { EARSHOT_API_KEY: _, ...env } = process.env;
    // The editor's own program is Node only with this.
    const asNode = program === process.execPath && { ELECTRON_RUN_AS_NODE: '1' };
    this.#child = spawnProgram(program, args, folder, true, { ...env, ...asNode, [COMMAND_MARK]: mark });
    const { pid, stdin, stdout, stderr } = this.#child;
    this.#tree = pid === undefined ? undefined : new ProcessTree(pid, mark);
    // The extension host may be ended before anybody can wait for the plugin.
    process.once('exit', this.#killAtExit);
    stdin?.on('error', () => undefined);
    stdout?.on('data', (chunk: Uint8Array) => deps.stdout(chunk));
    stdout?.on('error', () => undefined);
    stderr?.on('data', (chunk: Uint8Array) => deps.stderr(chunk));
    stderr?.on('error', () => undefined);
    this.#child.on('error', (error) => {
      deps.closed(`It could not be started: ${describeError(error)}.`);
      this.#exited.resolve();
    });
    let exit = '';
    const closed = () => deps.closed(`It closed its output without “exit”.${exit}`);
    const closedSoon = () => {
      this.#closing ??= deps.clock.after(CLOSED_AFTER, closed);
    };
    this.#child.on('exit', (code, signal) => {
      exit = signal === null ? ` It ended with code ${code ?? 0}.` : ` It was ended by ${signal}.`;
      this.#exited.resolve();
      closedSoon();
    });
    this.#child.on('close', closed);
    // It may go on without its output, or what it has started may keep its pipes open.
    stdout?.on('end', closedSoon);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  readonly transport: PluginTransport = {
    write: (bytes, accepted) => {
      const { stdin } = this.#child;
      if (stdin === null || stdin.destroyed) accepted(new Error('the plugin is gone'));
      else stdin.write(bytes, (error) => accepted(error ?? undefined));
    },
    pause: () => void this.#child.stdout?.pause(),
    resume: () => void this.#child.stdout?.resume(),
  };

  /** It gets nothing more: one that still reads then knows it. */
  closeInput(): void {
    this.#child.stdin?.end();
  }

  /** Resolves once the process and everything that it has started is gone. It has 5 s to end by itself. */
  end(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = this.#deps.clock.after(ENDS_WITHIN, resolve);
    await Promise.race([this.#exited.promise, late]);
    timer.dispose();
    this.#closing?.dispose();
    process.off('exit', this.#killAtExit);
    // Also after its own end: what it has started may still run.
    await this.#tree?.end(true);
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) stream?.destroy();
    if (this.#tree !== undefined) await this.#exited.promise;
    this.#closing?.dispose();
  }
}
