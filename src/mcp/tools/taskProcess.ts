// A task of a server as a background command: it has output, a state and an end, and is found again after a restart.
import { type Clock } from '../../base/clock.ts';
import { type CommandEnd } from '../../base/commandEnd.ts';
import { Emitter } from '../../base/emitter.ts';
import { describeError, failed, type Result, succeeded } from '../../base/errors.ts';
import { type SupervisedCommand } from '../../core/ports/processes.ts';
import { type McpTask, type TaskAnswer } from '../session/sessionPort.ts';
import { resultText } from './contentText.ts';

/** What is kept of its output. */
const MOST_OUTPUT = 2 * 1024 * 1024;
/** So often it is looked for again after a failure. */
const MOST_FAILURES = 20;

export interface TaskProcessDeps {
  readonly server: string;
  /** As the model calls it. */
  readonly tool: string;
  readonly reference: string;
  readonly startedAt: string;
  readonly clock: Clock;
  /** Why its server cannot be asked now; undefined: it is connected. */
  whyUnknown(): string | undefined;
  /** Undefined: its server is not configured any more. Waits for the server to be connected. */
  resume(ask: (params: unknown) => Promise<TaskAnswer>, signal: AbortSignal): Promise<McpTask | undefined>;
  /** Asks the user while the call waits; undefined: there is no call any more. */
  askUser(params: unknown): Promise<TaskAnswer | undefined>;
  report(error: unknown): void;
}

export class TaskProcess implements SupervisedCommand {
  readonly command: string;
  readonly pid = 0;
  readonly startTime: string;
  readonly shell = undefined;
  readonly task: { readonly server: string; readonly reference: string };
  readonly #deps: TaskProcessDeps;
  readonly #emitter: Emitter<void>;
  readonly #over = new AbortController();
  #output = Buffer.alloc(0);
  #end: CommandEnd | undefined;
  #lost = false;
  /** It was not found at its server yet. */
  #sought = false;
  #stopping: string | undefined;
  #current: McpTask | undefined;
  #answer: ((answer: TaskAnswer) => void) | undefined;

  constructor(deps: TaskProcessDeps) {
    this.#deps = deps;
    this.command = deps.tool;
    this.startTime = deps.startedAt;
    this.task = { server: deps.server, reference: deps.reference };
    this.#emitter = new Emitter(deps.report);
  }

  get onDidChange(): Emitter<void>['event'] {
    return this.#emitter.event;
  }

  get status(): SupervisedCommand['status'] {
    const isOpen = this.#end === undefined && !this.#lost;
    const unknown = this.#sought && isOpen ? this.#deps.whyUnknown() : undefined;
    return {
      startedAt: this.#deps.startedAt,
      inputOpen: this.#answer !== undefined,
      size: this.#output.length,
      kept: 0,
      ...(this.#end !== undefined && { end: this.#end }),
      ...(this.#lost && { lost: true as const }),
      ...(unknown !== undefined && { unknown }),
    };
  }

  /** Follows it to its end; without a task it is looked for on its server first. */
  follow(started?: McpTask): void {
    this.#follow(started).catch((error: unknown) => {
      if (this.#over.signal.aborted) return;
      this.#print(`The task cannot be followed any more: ${describeError(error)}\n`);
      this.#lost = true;
      this.#emitter.fire();
    });
  }

  /** The question of a task: the call that waits for it asks the user; later the model answers, which needs approval. */
  async ask(params: unknown): Promise<TaskAnswer> {
    const given = await this.#deps.askUser(params);
    if (given !== undefined) return given;
    const { promise, resolve } = Promise.withResolvers<TaskAnswer>();
    this.#answer = resolve;
    const { message } = params as { readonly message?: unknown };
    this.#print(
      `\n${typeof message === 'string' ? message.slice(0, 1000) : 'It needs an answer'}\nAnswer (a text, or JSON with the fields):`,
    );
    return promise;
  }

  async read(from: number, limit: number): Promise<{ readonly from: number; readonly bytes: Uint8Array }> {
    return { from, bytes: this.#output.subarray(from, from + limit) };
  }

  async write(text: string): Promise<Result<void>> {
    const answer = this.#answer;
    if (answer === undefined) return failed('no_input', 'The task does not ask for anything.');
    this.#answer = undefined;
    this.#print('\n');
    answer(readAnswer(text));
    return succeeded(undefined);
  }

  stop(reason: string): void {
    this.#stopping = reason;
    const cancelled = this.#current?.cancel() ?? Promise.resolve();
    // A server that refuses to cancel keeps it running; nobody waits for it any more.
    cancelled.catch(this.#deps.report).finally(() => this.#finish({ cause: 'stopped', code: null, reason }));
  }

  interrupt(): void {
    this.stop('interrupted');
  }

  /** It goes on at its server. */
  dispose(): void {
    this.#over.abort();
    this.#current?.detach().catch(() => undefined);
    this.#emitter.dispose();
  }

  /** A method, since it changes while a task is awaited. */
  #hasEnded(): boolean {
    return this.#over.signal.aborted || this.#end !== undefined;
  }

  async #follow(started: McpTask | undefined): Promise<void> {
    let task = started;
    let failures = 0;
    const show = (state: string, message: string | undefined) => {
      // Its server knows it: a connection that is lost again and again does not end it.
      if (state === 'working') failures = 0;
      this.#show(state, message);
    };
    for (;;) {
      try {
        this.#sought = task === undefined;
        task ??= await this.#deps.resume((params) => this.ask(params), this.#over.signal);
        if (this.#hasEnded()) return;
        if (task === undefined) break;
        this.#sought = false;
        this.#current = task;
        this.#settle(await task.settle(show, this.#over.signal));
        return;
      } catch (error) {
        if (this.#hasEnded()) return;
        // The connection was lost: it is followed again once the server is back. A server may also have forgotten the task.
        failures += 1;
        if (failures >= MOST_FAILURES) throw error;
        this.#deps.report(error);
        task = undefined;
        this.#sought = true;
        await this.#pause(failures * 1000);
      }
    }
    throw new Error('its server is not configured any more');
  }

  async #pause(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const done = () => resolve();
    const timer = this.#deps.clock.after(milliseconds, done);
    this.#over.signal.addEventListener('abort', done, { once: true });
    await promise;
    this.#over.signal.removeEventListener('abort', done);
    timer.dispose();
  }

  #settle(end: Awaited<ReturnType<McpTask['settle']>>): void {
    if (end.type === 'cancelled') {
      this.#finish({ cause: 'stopped', code: null, reason: this.#stopping ?? 'its server cancelled it' });
      return;
    }
    const isFine = end.type === 'completed' && !end.content.isError;
    this.#print(end.type === 'completed' ? resultText(end.content) : end.message);
    this.#finish({ cause: 'exited', code: isFine ? 0 : 1 });
  }

  #show(state: string, message: string | undefined): void {
    if (message !== undefined && state === 'working') this.#print(`${message.slice(0, 1000)}\n`);
  }

  #finish({ cause, code, reason }: Pick<CommandEnd, 'cause' | 'code' | 'reason'>): void {
    if (this.#end !== undefined) return;
    const now = this.#deps.clock.now();
    const milliseconds = Math.max(0, now - Date.parse(this.#deps.startedAt));
    const at = new Date(now).toISOString();
    this.#end = { cause, code, signal: null, at, milliseconds, ...(reason !== undefined && { reason }) };
    this.#answer = undefined;
    this.#emitter.fire();
  }

  #print(text: string): void {
    const room = MOST_OUTPUT - this.#output.length;
    if (room <= 0) return;
    this.#output = Buffer.concat([this.#output, Buffer.from(text).subarray(0, room)]);
    this.#emitter.fire();
  }
}

/** JSON with the fields, or the text of the only one. */
function readAnswer(text: string): TaskAnswer {
  const trimmed = text.trim();
  if (trimmed === '') return { action: 'decline' };
  try {
    const value: unknown = JSON.parse(trimmed);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return { action: 'accept', content: value as Record<string, string> };
    }
  } catch {
    // A plain text.
  }
  return { action: 'accept', text: trimmed };
}
