// A subagent as a handle of its parent conversation: its log is printed as output, its last answer is the result.
import { type CommandEnd } from '../base/commandEnd.ts';
import { Emitter } from '../base/emitter.ts';
import { failed, type Result } from '../base/errors.ts';
import { defined } from '../base/json/defined.ts';
import { printPath } from '../base/printPath.ts';
import { markLines, wholeCharacters } from '../base/text.ts';
import { type EventOf, type LogEvent } from '../protocol/event.ts';
import { maskKey } from './conversation/key.ts';
import { type LiveConversation } from './conversation/liveConversation.ts';
import { type SupervisedCommand } from './ports/processes.ts';
import { BY_USER, LIMIT_REACHED } from './tools/handleTexts.ts';

/** The limit of its output, in bytes; the rest is dropped. */
const MOST_OUTPUT = 1024 * 1024;
const MOST_ARGUMENTS = 160;
const MOST_TASK = 300;

const encoder = new TextEncoder();

export interface SubagentProcessDeps {
  /** The subagent's own conversation. */
  readonly conversation: string;
  readonly parent: string;
  /** RFC 3339. */
  readonly startedAt: string;
  /** Absent: the first request of its log. */
  readonly task?: string;
  /** Its log until now. The output is computed only from the log, so it is the same after a restart. */
  readonly events: readonly LogEvent[];
  /** Stops its turn; resolves once the turn has ended. */
  stopTurn(): Promise<void>;
  now(): number;
  onEnd(): void;
  onDispose(): void;
  report(error: unknown): void;
}

export class SubagentProcess implements SupervisedCommand {
  readonly pid = 0;
  readonly startTime: string;
  readonly shell = undefined;
  readonly agent: { readonly conversation: string };
  readonly parent: string;
  readonly #deps: Omit<SubagentProcessDeps, 'task' | 'events'>;
  readonly #emitter: Emitter<void>;
  #task = '';
  #buffer = new Uint8Array(1024);
  #size = 0;
  #answer = '';
  #key = '';
  #lastSeq = 0;
  #ended: EventOf<'turn_ended'> | undefined;
  #end: CommandEnd | undefined;
  #waitsFor: string | undefined;
  #stopping: string | undefined;

  constructor({ task, events, ...deps }: SubagentProcessDeps) {
    this.#deps = deps;
    this.startTime = deps.startedAt;
    this.agent = { conversation: deps.conversation };
    this.parent = deps.parent;
    this.#emitter = new Emitter(deps.report);
    this.#setTask(task);
    for (const event of events) this.fold(event);
  }

  /** Its task, on one line. */
  get command(): string {
    return this.#task;
  }

  get onDidChange(): Emitter<void>['event'] {
    return this.#emitter.event;
  }

  get status(): SupervisedCommand['status'] {
    return {
      startedAt: this.#deps.startedAt,
      inputOpen: false,
      size: this.#size,
      kept: 0,
      ...defined({ end: this.#end }),
      ...(this.#waitsFor !== undefined && this.#end === undefined && { waitsFor: this.#waitsFor }),
    };
  }

  get answer(): string {
    return this.#answer;
  }

  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  /** Adds an event of its log; an event that was added before is ignored. */
  fold(event: LogEvent): void {
    if (event.seq <= this.#lastSeq || this.hasEnded) return;
    this.#lastSeq = event.seq;
    if (event.type === 'conversation_started') this.#key = event.key;
    if (event.type === 'chat_request') this.#setTask(event.content);
    if (event.type === 'turn_started') this.#ended = undefined;
    if (event.type === 'turn_ended') this.#ended = event;
    if (event.type === 'chat_response' && event.message !== undefined) {
      this.#answer = maskKey(event.message, this.#key);
    }
    this.#print(maskKey(printEvent(event), this.#key));
  }

  /** Updates its state from its conversation; undefined: the conversation is closed. */
  update(live: Pick<LiveConversation, 'running' | 'asking' | 'log'> | undefined): void {
    if (this.hasEnded) return;
    if (live === undefined)
      return this.#finish({ cause: 'stopped', code: null, reason: 'its conversation was closed' });
    if (!live.running && this.#ended !== undefined) return this.#settle(this.#ended);
    const waitsFor = live.asking > 0 ? whatIsAsked(live) : undefined;
    if (waitsFor === this.#waitsFor) return;
    this.#waitsFor = waitsFor;
    this.#emitter.fire();
  }

  /** Ends it because it could not begin. */
  fail(reason: string): void {
    this.#finish({ cause: 'not_started', code: null, reason });
  }

  async read(from: number, limit: number): Promise<{ readonly from: number; readonly bytes: Uint8Array }> {
    return { from, bytes: this.#buffer.subarray(from, Math.min(from + limit, this.#size)) };
  }

  async write(): Promise<Result<void>> {
    return failed('no_input', 'A subagent has no input.', 'Write it a message.');
  }

  stop(reason: string): void {
    this.#stopping ??= reason;
    const stopped = this.#deps.stopTurn().then(() => this.#finish({ cause: 'stopped', code: null, reason }));
    stopped.catch(this.#deps.report);
  }

  interrupt(): void {
    this.stop('interrupted');
  }

  /** Only stops following; its conversation continues. */
  dispose(): void {
    this.#deps.onDispose();
    this.#emitter.dispose();
  }

  #setTask(task = ''): void {
    if (this.#task === '') this.#task = wholeCharacters(task.slice(0, 10_000).replace(/\s+/g, ' ').trim(), MOST_TASK);
  }

  #settle({ outcome, failure, timestamp }: EventOf<'turn_ended'>): void {
    const at = Date.parse(timestamp);
    if (outcome === 'done') return this.#finish({ cause: 'exited', code: 0 }, at);
    if (outcome === 'stopped') {
      return this.#finish({ cause: 'stopped', code: null, reason: this.#stopping ?? BY_USER }, at);
    }
    if (failure?.code === 'limit') return this.#finish({ cause: 'stopped', code: null, reason: LIMIT_REACHED }, at);
    this.#finish({ cause: 'exited', code: 1, ...(failure && { reason: failure.message }) }, at);
  }

  #finish({ cause, code, reason }: Pick<CommandEnd, 'cause' | 'code' | 'reason'>, at = this.#deps.now()): void {
    if (this.#end !== undefined) return;
    const milliseconds = Math.max(0, at - Date.parse(this.#deps.startedAt));
    const ended = { cause, code, signal: null, at: new Date(at).toISOString(), milliseconds };
    this.#end = { ...ended, ...defined({ reason }) };
    this.#deps.onEnd();
    this.#emitter.fire();
  }

  #print(text: string): void {
    if (text === '') return;
    const bytes = encoder.encode(text).subarray(0, MOST_OUTPUT - this.#size);
    if (bytes.length === 0) return;
    const size = this.#size + bytes.length;
    if (size > this.#buffer.length) {
      const larger = new Uint8Array(Math.min(MOST_OUTPUT, Math.max(size, this.#buffer.length * 2)));
      larger.set(this.#buffer);
      this.#buffer = larger;
    }
    this.#buffer.set(bytes, this.#size);
    this.#size = size;
    this.#emitter.fire();
  }
}

function whatIsAsked({ log }: Pick<LiveConversation, 'log'>): string {
  return log.state.turn.openInquiries.length > 0 ? 'the user’s answer' : 'the user’s approval';
}

/** Prints one line for each call, and answers with every line marked. */
function printEvent(event: LogEvent): string {
  switch (event.type) {
    case 'chat_response':
      return event.message === undefined ? '' : `${markLines(event.message)}\n`;
    case 'tool_call_request': {
      const args = event.arguments_text ?? JSON.stringify(event.arguments);
      return `> ${printPath(event.name)} ${printPath(wholeCharacters(args, MOST_ARGUMENTS))}\n`;
    }
    case 'hub_agent':
      return `(Its name for messages is ${event.name}.)\n`;
    case 'turn_ended':
      return event.failure === undefined ? '' : `(${event.failure.message})\n`;
    default:
      return '';
  }
}
