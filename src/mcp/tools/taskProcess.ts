// Presents a task of a server as a background command with output, state and end that is reattached after a restart.
import { parseObject } from '../../base/json/outsideJson.ts';
import { ignore, pause } from '../../base/async.ts';
import { type Clock } from '../../base/clock.ts';
import { type CommandEnd } from '../../base/commandEnd.ts';
import { Emitter } from '../../base/emitter.ts';
import { describeError, failed, type Result, succeeded } from '../../base/errors.ts';
import { defined } from '../../base/json/defined.ts';
import { type SupervisedCommand } from '../../core/ports/processes.ts';
import { pageOf } from '../elicitation.ts';
import {
  type McpContent,
  type McpTask,
  type TaskAnswer,
  type TaskEnd,
  type TaskFollower,
} from '../session/sessionPort.ts';
import { resultText } from './contentText.ts';

/** Bytes of output that are kept; later output is dropped. */
const MOST_OUTPUT = 2 * 1024 * 1024;
/** After this many failures in a row, the task is not followed any more. */
const MOST_FAILURES = 20;
/** Further questions are declined. */
const MOST_QUESTIONS = 20;
/** The model's answer that opens a page. */
const OPEN = 'open';

export interface TaskProcessDeps {
  readonly server: string;
  /** The name under which the model calls the tool. */
  readonly tool: string;
  readonly reference: string;
  readonly startedAt: string;
  /** The process id of its server; undefined for a server over HTTP, or one that is not connected. */
  readonly pid: number | undefined;
  readonly clock: Clock;
  /** Why its server cannot be asked at present; undefined: it is connected. */
  whyUnknown(): string | undefined;
  /** Waits until the server is connected. Undefined: the server is not configured any more. */
  resume(follower: TaskFollower, signal: AbortSignal): Promise<McpTask | undefined>;
  /** Resolves once the cancellation was sent, or is stored to be sent later. */
  cancel(): Promise<void>;
  /** Asks the user while the call waits; undefined: the call does not wait any more. */
  askUser(params: unknown): Promise<TaskAnswer | undefined>;
  openExternal(url: string): Promise<boolean>;
  /** Shows progress on the card of the call that waits for the task. */
  progress(text: string): void;
  report(error: unknown): void;
}

export class TaskProcess implements SupervisedCommand, TaskFollower {
  readonly command: string;
  readonly pid = 0;
  readonly startTime: string;
  /** The process of its server, which may change files while the task runs. */
  readonly shell: number | undefined;
  readonly task: { readonly server: string; readonly reference: string };
  readonly #deps: TaskProcessDeps;
  readonly #emitter: Emitter<void>;
  readonly #over = new AbortController();
  #output = Buffer.alloc(0);
  #end: CommandEnd | undefined;
  #lost = false;
  /** Whether the task is not being followed at present and its server has to be asked for it. */
  #sought = true;
  #isStopped = false;
  #failures = 0;
  #questions = 0;
  #said: string | undefined;
  #current: McpTask | undefined;
  #result: McpContent | undefined;
  #answer: ((text: string) => Promise<void>) | undefined;

  constructor(deps: TaskProcessDeps) {
    this.#deps = deps;
    this.command = deps.tool;
    this.startTime = deps.startedAt;
    this.shell = deps.pid;
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
      ...defined({ end: this.#end }),
      ...(this.#lost && { lost: true as const }),
      ...defined({ unknown }),
    };
  }

  /** Set once the task has completed. */
  get result(): McpContent | undefined {
    return this.#result;
  }

  /** Follows it to its end. */
  follow(): void {
    this.#follow().catch((error: unknown) => {
      if (this.#over.signal.aborted) return;
      this.#print(`The task cannot be followed any more: ${describeError(error)}\n`);
      this.#lost = true;
      this.#emitter.fire();
    });
  }

  /** While the call waits, the user answers. Later the model answers through the handle, which needs approval. */
  async ask(params: unknown, signal: AbortSignal): Promise<TaskAnswer> {
    this.#questions += 1;
    if (this.#questions > MOST_QUESTIONS) return { action: 'decline' };
    const given = await this.#deps.askUser(params);
    if (given !== undefined || signal.aborted) return given ?? { action: 'cancel' };
    const { promise, resolve } = Promise.withResolvers<TaskAnswer>();
    const page = pageOf(params);
    const answer = async (text: string) =>
      resolve(page === undefined ? readAnswer(text) : await this.#openPage(page, text));
    this.#answer = answer;
    signal.addEventListener('abort', () => this.#answer === answer && this.#stopAsking(), { once: true });
    const { message } = params as { readonly message?: unknown };
    const how =
      page === undefined
        ? 'Answer (a text, or JSON with the fields):'
        : `It wants to open ${page}\nAnswer ${OPEN} to open this page in the user’s browser, or anything else to decline:`;
    this.#print(`\n${typeof message === 'string' ? message.slice(0, 1000) : 'It needs an answer'}\n${how}`);
    return promise;
  }

  working(text: string | undefined): void {
    // The server still knows the task: losing the connection again must not end it.
    this.#failures = 0;
    if (text === undefined || text === this.#said) return;
    this.#said = text;
    const line = `${text.slice(0, 1000)}\n`;
    this.#print(line);
    this.#deps.progress(line);
  }

  async read(from: number, limit: number): Promise<{ readonly from: number; readonly bytes: Uint8Array }> {
    return { from, bytes: this.#output.subarray(from, from + limit) };
  }

  async write(text: string): Promise<Result<void>> {
    const answer = this.#answer;
    if (answer === undefined) return failed('no_input', 'The task does not ask for anything.');
    this.#stopAsking();
    await answer(text);
    return succeeded(undefined);
  }

  stop(reason: string): void {
    this.#isStopped = true;
    this.#current?.detach().catch((error: unknown) => this.#deps.report(error));
    // Counts as stopped even if the server refuses to cancel it.
    const finish = () => this.#finish({ cause: 'stopped', code: null, reason });
    void this.#deps.cancel().then(finish, finish);
  }

  interrupt(): void {
    this.stop('interrupted');
  }

  /** Stops following the task, which continues on its server. */
  dispose(): void {
    this.#over.abort();
    this.#current?.detach().catch(ignore);
    this.#emitter.dispose();
  }

  /** A method, so that the compiler does not assume the same value after an `await`. */
  #hasEnded(): boolean {
    return this.#over.signal.aborted || this.#isStopped || this.#end !== undefined;
  }

  async #follow(): Promise<void> {
    for (;;) {
      try {
        const task = await this.#deps.resume(this, this.#over.signal);
        if (task === undefined) break;
        this.#current = task;
        if (this.#hasEnded()) {
          await task.detach();
          return;
        }
        this.#sought = false;
        this.#settle(await task.settle(this.#over.signal));
        return;
      } catch (error) {
        if (this.#hasEnded()) return;
        // The connection was lost, or the server has dropped the task. Tries again once the server is connected.
        this.#failures += 1;
        if (this.#failures >= MOST_FAILURES) throw error;
        this.#deps.report(error);
        this.#sought = true;
        await pause(this.#deps.clock, this.#failures * 1000, this.#over.signal);
      }
    }
    if (!this.#hasEnded()) throw new Error('its server is not configured any more');
  }

  async #openPage(url: string, text: string): Promise<TaskAnswer> {
    if (text.trim() !== OPEN) return { action: 'decline' };
    return { action: (await this.#deps.openExternal(url)) ? 'accept' : 'cancel' };
  }

  #stopAsking(): void {
    this.#answer = undefined;
    this.#print('\n');
  }

  #settle(end: TaskEnd): void {
    if (end.type === 'cancelled') {
      this.#finish({ cause: 'stopped', code: null, reason: 'its server cancelled it' });
      return;
    }
    if (end.type === 'completed') this.#result = end.content;
    const isFine = end.type === 'completed' && !end.content.isError;
    this.#print(end.type === 'completed' ? resultText(end.content) : end.message);
    this.#finish({ cause: 'exited', code: isFine ? 0 : 1 });
  }

  #finish({ cause, code, reason }: Pick<CommandEnd, 'cause' | 'code' | 'reason'>): void {
    if (this.#end !== undefined) return;
    const now = this.#deps.clock.now();
    const milliseconds = Math.max(0, now - Date.parse(this.#deps.startedAt));
    const at = new Date(now).toISOString();
    this.#end = { cause, code, signal: null, at, milliseconds, ...defined({ reason }) };
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

/** The answer is JSON with the fields, or the text of the only field. */
function readAnswer(text: string): TaskAnswer {
  const trimmed = text.trim();
  if (trimmed === '') return { action: 'decline' };
  const content = parseObject(trimmed);
  return content ? { action: 'accept', content } : { action: 'accept', text: trimmed };
}
