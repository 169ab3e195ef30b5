// A plugin as a child process: starts it, connects its pipes, and ends it with all processes that it started.
import { type ChildProcess } from 'node:child_process';
import { ignore, within } from '../../base/async.ts';
import { type Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';
import { describeError } from '../../base/errors.ts';
import { withoutKeys } from '../../node/shellProgram.ts';
import { COMMAND_MARK } from '../../node/platform/marks.ts';
import { type ProcessTree } from '../../node/platform/parts.ts';
import { platform } from '../../node/platform/platform.ts';
import { spawnProgram } from '../../node/processTree.ts';
import { type PluginTransport } from '../connection.ts';

/** How long a plugin that was asked to end may take. */
const ENDS_WITHIN = 5000;

/** Wait after the exit or the end of the output, which come in any order, before the plugin counts as closed. */
const CLOSED_AFTER = 500;

export interface ProcessDeps {
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly clock: Clock;
  /** Identifies all processes that the plugin starts. */
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
  readonly #killAtExit = () => platform.processes.kill(this.#child);
  #ending: Promise<void> | undefined;
  #closing: Disposable | undefined;

  constructor(deps: ProcessDeps) {
    this.#deps = deps;
    const { program, args, folder, mark } = deps;
    // The editor's own executable runs as Node only with this variable.
    const asNode = program === process.execPath && { ELECTRON_RUN_AS_NODE: '1' };
    this.#child = spawnProgram(program, args, folder, true, {
      ...withoutKeys(process.env),
      ...asNode,
      [COMMAND_MARK]: mark,
    });
    const { pid, stdin, stdout, stderr } = this.#child;
    this.#tree = pid === undefined ? undefined : platform.processes.tree(this.#child, mark);
    // The extension host may end before it can wait for the plugin.
    process.once('exit', this.#killAtExit);
    stdin?.on('error', ignore);
    stdout?.on('data', (chunk: Uint8Array) => deps.stdout(chunk));
    stdout?.on('error', ignore);
    stderr?.on('data', (chunk: Uint8Array) => deps.stderr(chunk));
    stderr?.on('error', ignore);
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
    // The plugin may continue after it closed its output, or processes that it started may keep its pipes open.
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

  /** Closes its stdin: nothing more is sent. */
  closeInput(): void {
    this.#child.stdin?.end();
  }

  /** Gives the plugin 5 s to exit. Resolves once it and all processes that it started have ended. */
  end(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    await within(this.#deps.clock, ENDS_WITHIN, this.#exited.promise);
    this.#closing?.dispose();
    process.off('exit', this.#killAtExit);
    // Needed even if the plugin itself has exited: processes that it started may still run.
    await this.#tree?.end(true);
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) stream?.destroy();
    if (this.#tree !== undefined) await this.#exited.promise;
    this.#closing?.dispose();
  }
}
