// Runs a server as a child process that speaks JSON lines. Limits the length and number of its lines, ignores other
// output, and ends the whole process tree.
import { type ChildProcess, spawn } from 'node:child_process';
import { type Readable } from 'node:stream';
import { type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import { ignore } from '../../base/async.ts';
import { LineSplitter } from '../../base/json/jsonLines.ts';
import { isDeeperThan, MOST_DEPTH, parseObject, TOO_DEEP } from '../../base/json/outsideJson.ts';
import { platform } from '../../node/platform/platform.ts';
import { type ProgramLaunch } from '../config/launch.ts';
import { FloodGate, inPieces } from './flood.ts';

/** The longest message that a server may send. */
export const MOST_MESSAGE_BYTES = 16 * 1024 * 1024;
const MOST_LOG_LINE = 4000;
/** How many lines that are not messages are logged; a program that prints more is probably not a server. */
const MOST_GARBAGE = 20;
const TERMINATE_AFTER = 1500;
const KILL_AFTER = 3000;
/** How long output that a process has left behind is read. */
const LEFT_MILLISECONDS = 1000;

export interface StdioDeps {
  readonly launch: ProgramLaunch;
  /** A line for the server's log. */
  log(line: string): void;
}

/** With `pid` and `stderr`, the client library treats it as a child process and does not start it twice to probe it. */
export class StdioTransport implements Transport {
  readonly stderr = null;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #deps: StdioDeps;
  readonly #ended = Promise.withResolvers<void>();
  #child: ChildProcess | undefined;
  #closed = false;
  #end: string | undefined;
  #garbage = 0;
  /** Why it was ended, if it sent too much. */
  #refused: string | undefined;

  constructor(deps: StdioDeps) {
    this.#deps = deps;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** How the process ended, for the user; undefined while it runs. */
  get end(): string | undefined {
    return this.#end;
  }

  async start(): Promise<void> {
    const { program, args, folder, env } = this.#deps.launch;
    const { file, args: given, isVerbatim } = platform.programs.start(program, args);
    const child = spawn(file, given, {
      cwd: folder,
      env: { ...env },
      // In its own process group, so that processes it starts can be ended with it.
      ...platform.programs.options,
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
      windowsVerbatimArguments: isVerbatim,
    });
    this.#child = child;
    const started = Promise.withResolvers<void>();
    child.once('spawn', () => started.resolve());
    child.once('error', (error) => {
      this.#finish(`could not be started: ${error.message}`);
      started.reject(error);
    });
    const read = this.#readMessages(child.stdout).catch(ignore);
    child.once('exit', (code, signal) => {
      // Its last answers may not have been read yet. A process that it has left behind could keep its output open.
      this.#signal('SIGKILL');
      const end = code === null ? `was ended by ${signal ?? 'a signal'}` : `ended with exit code ${code}`;
      const finish = () => this.#finish(this.#refused === undefined ? end : `was ended: ${this.#refused}`);
      const late = setTimeout(finish, LEFT_MILLISECONDS);
      read.then(finish, finish).finally(() => clearTimeout(late));
    });
    // Its input may be closed at any time; `exit` follows.
    child.stdin.on('error', () => undefined);
    void this.#readLog(child.stderr).catch(ignore);
    await started.promise;
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const input = this.#child?.stdin;
    if (input === undefined || input === null || !input.writable) throw new Error('the process does not run any more');
    await new Promise<void>((resolve, reject) => {
      input.write(`${JSON.stringify(message)}\n`, (error) => {
        if (error === undefined || error === null) resolve();
        else reject(error);
      });
    });
  }

  /** Closes its input, as the protocol requires, then ends the process tree. Resolves once the process has ended. */
  async close(): Promise<void> {
    const child = this.#child;
    if (child === undefined || this.#end !== undefined) {
      this.#announceClose();
      return;
    }
    child.stdin?.end();
    const timers = [
      setTimeout(() => this.#signal('SIGTERM'), TERMINATE_AFTER),
      setTimeout(() => this.#signal('SIGKILL'), KILL_AFTER),
    ];
    await this.#ended.promise;
    for (const timer of timers) clearTimeout(timer);
  }

  /** Ends the process tree at once, for a server that does not answer, or when the window closes. */
  kill(): void {
    if (this.#end === undefined) this.#signal('SIGKILL');
  }

  #signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    if (this.#child !== undefined) platform.processes.kill(this.#child, signal);
  }

  #finish(end: string): void {
    if (this.#end !== undefined) return;
    // Ends processes that it has left in its group.
    this.#signal('SIGKILL');
    this.#end = end;
    this.#deps.log(`The process ${end}.`);
    this.#ended.resolve();
    this.#announceClose();
  }

  #announceClose(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.onclose?.();
  }

  /** Resolves at the end of its output. While a piece of it is handled, no more of it is read. */
  async #readMessages(output: Readable): Promise<void> {
    const gate = new FloodGate();
    const lines = new LineSplitter(MOST_MESSAGE_BYTES, {
      onLine: (line) => {
        const flood = gate.count(line?.length ?? 0);
        if (flood === undefined) return this.#take(line);
        lines.end();
        this.#refuse(flood);
      },
      onTooLong: () => this.#refuse(`it sent a message of more than ${MOST_MESSAGE_BYTES / 1024 / 1024} MiB`),
    });
    for await (const chunk of output as AsyncIterable<Buffer>) await inPieces(chunk, (piece) => lines.write(piece));
  }

  #refuse(why: string): void {
    this.#refused = why;
    this.#deps.log(`It is ended: ${why}.`);
    this.#signal('SIGKILL');
  }

  /** Some servers print other text between messages, which is logged and ignored. */
  #take(line: string | undefined): void {
    if (line?.trim() === '') return;
    const message = line === undefined ? undefined : parseObject(line);
    if (message?.['jsonrpc'] !== '2.0') {
      this.#garbage += 1;
      if (this.#garbage <= MOST_GARBAGE) this.#deps.log(`Not a message: ${(line ?? '(no UTF-8)').slice(0, 200)}`);
      return;
    }
    if (isDeeperThan(message, MOST_DEPTH)) {
      this.#deps.log(`A message was ignored: it is ${TOO_DEEP}.`);
      return;
    }
    // The client library validates the message itself.
    this.onmessage?.(message as unknown as JSONRPCMessage);
  }

  async #readLog(output: Readable): Promise<void> {
    const gate = new FloodGate();
    const lines = new LineSplitter(MOST_LOG_LINE, {
      onLine: (line) => {
        gate.count(line?.length ?? 0);
        if (line !== undefined && line.trim() !== '') this.#deps.log(line);
      },
      onTooLong: () => this.#deps.log('It printed a very long line; its further output is not logged.'),
    });
    for await (const chunk of output as AsyncIterable<Buffer>) {
      await inPieces(chunk, (piece) => gate.isFlood || lines.write(piece));
    }
  }
}
