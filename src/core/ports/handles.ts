// The commands of a conversation as its tools see them.
import { type Disposable } from '../../base/disposable.ts';
import { type Event } from '../../base/emitter.ts';
import { type Result } from '../../base/errors.ts';
import { type ShownHandle } from '../../protocol/event.ts';
import { type ObservedProcess, type SupervisedCommand } from './processes.ts';

export type HandleState = 'running' | 'waiting' | 'stopped';

export interface HandleChange {
  /** What is new: more output, or another state. A name is a change of state too. */
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
  /** Undefined while only the call that started it knows it. */
  readonly name: string | undefined;
  readonly state: HandleState;
  readonly hasEnded: boolean;
  /** Where it seems to wait for input. */
  readonly prompt: { readonly at: number; readonly line: string } | undefined;
  /** It got its name only after its end, so that its output can be fetched. */
  readonly isOutputOnly: boolean;
  /** Up to this byte a call has shown its output. */
  readonly through: number;
  /** The user moved it to the background: the call that waits for it returns. */
  readonly isMoved: boolean;
  /** Its process with all of its descendants, to distinguish their changes from those of other programs. */
  readonly observed: ObservedProcess;
  /** How long it has run, or ran. */
  readonly milliseconds: number;
  readonly onDidChange: Event<HandleChange>;
  /** For the response that shows it: the shown state is not reported again. */
  shown(name: string, through?: number): ShownHandle;
  /** Resolves as soon as the condition holds, at the latest when it is disposed of or the signal is aborted. */
  until(holds: (handle: Handle) => boolean, signal?: AbortSignal): Promise<void>;
  /** Types into it; it then counts as no longer waiting. */
  write(text: string, last?: boolean): Promise<Result<void>>;
  /** Ends the whole process tree; resolves once it has ended, or was released. */
  stop(reason: string): Promise<void>;
  /** The last lines of its output, at most so many characters. */
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
}

export interface ConversationHandles {
  /** Those with a name, in the order in which they were started. */
  readonly all: readonly Handle[];
  get(name: string): Handle | undefined;
  /** Why a new handle cannot have this name. */
  whyNot(name: string): string | undefined;
  /** Resolves once it runs and, if it has a name, that is in the log. */
  start(request: HandleRequest): Promise<Result<Handle>>;
  /** A name that no handle has, made of this text, or the wanted one. No other call gets it until it is disposed. */
  reserveName(text: string, wanted?: string): { readonly name: string } & Disposable;
  /** Makes a handle of something that runs elsewhere, under a free or reserved name. Resolves once that is in the log. */
  adopt(call: string, process: SupervisedCommand, name?: string): Promise<Handle & { readonly name: string }>;
  /** Makes a handle of a command that only its call knew. Returns its name. */
  keep(handle: Handle): Promise<string>;
  /** Forgets a command that has ended and that only its call knew. */
  drop(handle: Handle): Promise<void>;
  /** Up to this byte the model was shown its output. */
  shownThrough(name: string): number;
  /** The handle, also if a call beside this one is about to start it; undefined if none does. */
  awaitStart(name: string, signal: AbortSignal): Promise<Handle | undefined>;
}
