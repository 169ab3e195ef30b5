// Tracks the state of one command: running, stopped, or probably waiting for input.
import { type Clock } from '../../base/clock.ts';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { Emitter } from '../../base/emitter.ts';
import { type Result } from '../../base/errors.ts';
import { defined } from '../../base/json/defined.ts';
import { decodePiece, plainText } from '../../base/terminalText.ts';
import { type ShownHandle } from '../../protocol/event.ts';
import { type Handle, type HandleChange, type HandleState } from '../ports/handles.ts';
import { type ObservedProcess, type SupervisedCommand } from '../ports/processes.ts';

/** Silence after which an unfinished line counts as a prompt. */
const SILENCE_MILLISECONDS = 3000;
const PROMPT_BYTES = 1000;
/** Matches lines that end in ?, : or >, or ask for y/n in one of the usual forms. */
const PROMPT = /(?:[?:>]|\by(?:es)?\/no?(?:\/[^\s)\]]*)?[)\]]?)\s*$/i;

export interface HandleDeps {
  readonly conversation: string;
  /** The id of the call that started it. */
  readonly run: string;
  /** The tool of that call, as far as the log has it. */
  readonly tool?: string | undefined;
  readonly process: SupervisedCommand;
  readonly clock: Clock;
  report(error: unknown): void;
  /** Called before any other listener. */
  changed(change: HandleChange): void;
}

export class CommandHandle implements Handle, Disposable {
  readonly conversation: string;
  readonly run: string;
  readonly tool: string | undefined;
  readonly process: SupervisedCommand;
  readonly #clock: Clock;
  readonly #report: (error: unknown) => void;
  readonly #held = new DisposableStore();
  readonly #emitter: Emitter<HandleChange>;
  #name: string | undefined;
  #state: HandleState = 'running';
  #prompt: { readonly at: number; readonly line: string } | undefined;
  #size: number;
  #waitsFor: string | undefined;
  #lastOutput: number;
  #silence: Disposable | undefined;
  #through = 0;
  #outputOnly = false;
  /** The user moved the command to the background, so the call that waits for it must return. */
  #moved = false;

  constructor(deps: HandleDeps, name?: string) {
    this.conversation = deps.conversation;
    this.run = deps.run;
    this.tool = deps.tool;
    this.process = deps.process;
    this.#clock = deps.clock;
    this.#report = deps.report;
    this.#name = name;
    this.#size = deps.process.status.size;
    this.#waitsFor = deps.process.status.waitsFor;
    this.#lastOutput = deps.clock.now();
    this.#emitter = this.#held.add(new Emitter(deps.report));
    this.#held.add(this.onDidChange(deps.changed));
    this.#held.add(deps.process);
    this.#held.add(deps.process.onDidChange(() => this.#changed()));
    if (this.hasEnded) this.#state = 'stopped';
    else this.#listen();
  }

  get onDidChange(): Emitter<HandleChange>['event'] {
    return this.#emitter.event;
  }

  /** Undefined while the command is known only to the call that started it. */
  get name(): string | undefined {
    return this.#name;
  }

  get state(): HandleState {
    return this.#state;
  }

  get hasEnded(): boolean {
    const { end, lost } = this.process.status;
    return end !== undefined || lost === true;
  }

  /** Its process with all of its descendants, to distinguish their changes from those of other programs. */
  get observed(): ObservedProcess {
    const { process } = this;
    const ended = () => (process.status.end === undefined ? undefined : Date.parse(process.status.end.at));
    return { pid: process.shell, mark: process.mark, since: Date.parse(process.status.startedAt), ended };
  }

  /** The line at which it seems to wait for input. */
  get prompt(): { readonly at: number; readonly line: string } | undefined {
    return this.#prompt;
  }

  /** It got its name only after its end, so that its output can be fetched. */
  get isOutputOnly(): boolean {
    return this.#outputOnly;
  }

  /** Calls have shown its output up to this byte. */
  get through(): number {
    return this.#through;
  }

  get isMoved(): boolean {
    return this.#moved;
  }

  /** How long it has run, or ran. */
  get milliseconds(): number {
    const { end, startedAt } = this.process.status;
    return end?.milliseconds ?? Math.max(0, this.#clock.now() - Date.parse(startedAt));
  }

  /** For the response that shows this handle: a shown state is not reported again. */
  shown(name: string, through?: number): ShownHandle {
    const at = this.#prompt?.at;
    this.#through = Math.max(this.#through, through ?? 0);
    return {
      name,
      state: this.#state,
      ...defined({ through, prompt: at }),
    };
  }

  setName(name: string, outputOnly: boolean): void {
    this.#name = name;
    this.#outputOnly = outputOnly;
    this.#emitter.fire({ type: 'state', handle: this });
  }

  moveToBackground(): void {
    this.#moved = true;
    this.#emitter.fire({ type: 'state', handle: this });
  }

  /** Resolves as soon as the condition holds, the handle is disposed of, or the signal is aborted. */
  until(holds: (handle: Handle) => boolean, signal?: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (holds(this) || signal?.aborted === true) return Promise.resolve();
    const listening = this.#held.add(this.onDidChange(() => holds(this) && resolve()));
    const giveUp = () => resolve();
    const ended = this.#held.add({ dispose: giveUp });
    signal?.addEventListener('abort', giveUp, { once: true });
    return promise.finally(() => {
      signal?.removeEventListener('abort', giveUp);
      this.#held.release(listening);
      this.#held.release(ended);
    });
  }

  /** Writes to its input; it then no longer counts as waiting. */
  async write(text: string, last = false): Promise<Result<void>> {
    const written = await this.process.write(text, last);
    if (written.ok && this.#state === 'waiting') {
      this.#state = 'running';
      this.#prompt = undefined;
      this.#lastOutput = this.#clock.now();
      this.#listen();
      this.#emitter.fire({ type: 'state', handle: this });
    }
    return written;
  }

  /** Ends the whole process tree; resolves once it has ended, or was released. */
  async stop(reason: string): Promise<void> {
    if (!this.hasEnded) this.process.stop(reason);
    await this.until((handle) => handle.hasEnded);
  }

  /** The last lines of its output, at most this many characters. */
  async lastLines(characters: number): Promise<string> {
    const { size } = this.process.status;
    const from = Math.max(0, size - characters * 4);
    const { bytes } = await this.process.read(from, size - from);
    const text = plainText(decodePiece(bytes)).trimEnd();
    if (text.length <= characters) return text;
    const cut = text.slice(-characters);
    const line = cut.indexOf('\n');
    // Whole lines, unless the last one alone is longer.
    return line >= 0 && line < cut.length - 1 ? cut.slice(line + 1) : cut;
  }

  dispose(): void {
    this.#silence?.dispose();
    this.#held.dispose();
  }

  #changed(): void {
    const { size, waitsFor } = this.process.status;
    const grown = size !== this.#size;
    const waitsForOther = waitsFor !== this.#waitsFor;
    this.#waitsFor = waitsFor;
    const before = this.#state;
    if (grown) {
      this.#size = size;
      this.#lastOutput = this.#clock.now();
      this.#prompt = undefined;
      this.#state = 'running';
      this.#listen();
    }
    if (this.hasEnded) {
      this.#state = 'stopped';
      this.#prompt = undefined;
      this.#silence?.dispose();
      this.#silence = undefined;
    }
    if (this.#state !== before) this.#emitter.fire({ type: 'state', handle: this });
    else if (grown || waitsForOther) this.#emitter.fire({ type: 'output', handle: this });
  }

  /** Uses one timer, however much is printed: when it fires, it checks the time of the last output. */
  #listen(): void {
    if (this.#silence !== undefined || !this.process.status.inputOpen || this.#size === 0) return;
    const left = Math.max(0, this.#lastOutput + SILENCE_MILLISECONDS - this.#clock.now());
    this.#silence = this.#clock.after(left, () => {
      this.#silence = undefined;
      if (this.#clock.now() - this.#lastOutput < SILENCE_MILLISECONDS) this.#listen();
      else void this.#guess().catch(this.#report);
    });
  }

  async #guess(): Promise<void> {
    const at = this.#size;
    const { bytes } = await this.process.read(Math.max(0, at - PROMPT_BYTES), PROMPT_BYTES);
    const line = plainText(decodePiece(bytes)).split('\n').at(-1)?.trim() ?? '';
    const quiet = this.#size === at && this.#state === 'running' && this.process.status.inputOpen;
    if (!quiet || !PROMPT.test(line)) return;
    this.#state = 'waiting';
    this.#prompt = { at, line };
    this.#emitter.fire({ type: 'state', handle: this });
  }
}
