// The commands of a conversation as its tools see them.
import { type Disposable } from '../../base/disposable.ts';
import { type Event } from '../../base/emitter.ts';
import { type Failure, type Result } from '../../base/errors.ts';
import { type ShownHandle } from '../../protocol/event.ts';
import { type WantedLines } from './producers.ts';
import { type ObservedProcess, type SupervisedCommand } from './processes.ts';

export type HandleState = 'running' | 'waiting' | 'stopped';

export interface HandleChange {
  /** More output, or a new state. Getting a name also counts as a change of state. */
  readonly type: 'output' | 'state';
  readonly handle: Handle;
}

/** One command, from its start until its output is forgotten. */
export interface Handle {
  readonly conversation: string;
  /** The id of the call that started it. */
  readonly run: string;
  /** The tool of that call; undefined where the log has lost it. */
  readonly tool: string | undefined;
  readonly process: SupervisedCommand;
  /** Undefined while the command is known only to the call that started it. */
  readonly name: string | undefined;
  readonly state: HandleState;
  readonly hasEnded: boolean;
  /** The unfinished line at which it seems to wait for input. */
  readonly prompt: { readonly at: number; readonly line: string } | undefined;
  /** It got its name only after its end, so that its output can be fetched. */
  readonly isOutputOnly: boolean;
  /** Calls have shown its output up to this byte. */
  readonly through: number;
  /** The user moved it to the background, so the call that waits for it returns. */
  readonly isMoved: boolean;
  /** Its process with all of its descendants, to distinguish their changes from those of other programs. */
  readonly observed: ObservedProcess;
  /** How long it has run, or ran. */
  readonly milliseconds: number;
  readonly onDidChange: Event<HandleChange>;
  /** For the response that shows this handle: a shown state is not reported again. */
  shown(name: string, through?: number): ShownHandle;
  /** Resolves as soon as the condition holds, the handle is disposed of, or the signal is aborted. */
  until(holds: (handle: Handle) => boolean, signal?: AbortSignal): Promise<void>;
  /** Writes to its input; it then no longer counts as waiting. */
  write(text: string, last?: boolean): Promise<Result<void>>;
  /** Ends the whole process tree; resolves once it has ended, or was released. */
  stop(reason: string): Promise<void>;
  /** The last lines of its output, at most this many characters. */
  lastLines(characters: number): Promise<string>;
}

export interface HandleRequest {
  /** The call's id. */
  readonly call: string;
  readonly command: string;
  readonly folder: string;
  readonly input: boolean;
  /** With a name it is a handle from the beginning. */
  readonly name?: string | undefined;
  /** The lines that its conversation waits for; only with a name. */
  readonly lines?: WantedLines | undefined;
}

export interface ConversationHandles {
  /** Those with a name, in the order in which they were started. */
  readonly all: readonly Handle[];
  get(name: string): Handle | undefined;
  /** Why a new handle cannot have this name. */
  whyNot(name: string): Failure | undefined;
  /** Resolves once it runs and its name, if it has one, is in the log. */
  start(request: HandleRequest): Promise<Result<Handle>>;
  /**
   * A name that no handle has: the wanted one, or one made from this text. No other call gets it until it is disposed
   * of.
   */
  reserveName(text: string, wanted?: string): { readonly name: string } & Disposable;
  /**
   * Makes a handle of something that runs elsewhere, under a free or reserved name. Resolves once the handle is in the
   * log.
   */
  adopt(call: string, process: SupervisedCommand, name?: string): Promise<Handle & { readonly name: string }>;
  /** Makes a handle of a command that was known only to its call. Returns the handle's name. */
  keep(handle: Handle): Promise<string>;
  /** Forgets an ended command that was known only to its call. */
  drop(handle: Handle): Promise<void>;
  /** Waits for lines of the handle after those that the model was shown, instead of those that it waited for before. */
  watchLines(name: string, lines: WantedLines): Promise<void>;
  /** The model was shown its output up to this byte. */
  shownThrough(name: string): number;
  /** Whether another call of the same answer is about to start it. */
  isComing(name: string): boolean;
  /** Returns the handle; waits if another call of the same answer is about to start it. Undefined if none does. */
  awaitStart(name: string, signal: AbortSignal): Promise<Handle | undefined>;
}
