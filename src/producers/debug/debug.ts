// Reports exceptions, stops and ends of debugged programs. Asks debuggers only for what they already know: nothing is
// evaluated, and a debugger that does not answer is not waited for.
import { isAbsolute } from 'node:path';
import { within } from '../../base/async.ts';
import { toDisposable } from '../../base/disposable.ts';
import { defined } from '../../base/json/defined.ts';
import { type Clock, type Logger, type Producer, type Publisher } from '../../core/ports/ports.ts';
import { type Debugger, type DebugMessage, type DebugSession } from '../../core/ports/sources.ts';
import { type FilePath, type Workspace } from '../../core/ports/workspace.ts';
import {
  type ExceptionInfo,
  type Frame,
  readExceptionInfo,
  readFrames,
  readFromDebugger,
  readFromEditor,
  readLocalsReference,
  readVariables,
  type Stop,
  type Variable,
} from './debugMessages.ts';
import {
  draftEnd,
  draftException,
  draftStop,
  programSubject,
  type ShownFrame,
  type StoppedProgram,
} from './debugReports.ts';

const STOPPED = { source: 'debug', name: 'stopped' } as const;
const ENDED = { source: 'debug', name: 'ended' } as const;
/** For each answer of a debugger. While the editor shows a stop, answers take up to four seconds on a busy machine. */
const MILLISECONDS = 10_000;
const MOST_FRAMES = 8;
const MOST_LOCALS = 12;
/** Characters of stderr that are kept for the report of the end. */
const KEPT = 10_000;
const LARGEST_FILE = 2 * 1024 * 1024;
/** The program goes on by itself in steps of the user. */
const NOT_REPORTED: ReadonlySet<string> = new Set(['step', 'entry', 'goto']);

export interface DebugDeps {
  readonly debugger: Debugger;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly workspace: Pick<Workspace, 'resolve' | 'mayShow' | 'read' | 'decode'>;
  /** The user allows values of local variables to be shown. */
  mayShowLocals(): boolean;
}

export function createDebugProducer(deps: DebugDeps): Producer {
  return {
    name: 'debug',
    start: (publisher) => {
      const watch = new DebugWatch(deps, publisher);
      const listening = deps.debugger.onDidMessage((message) => watch.take(message));
      return toDisposable(() => listening.dispose());
    },
  };
}

/** What is known about one session. */
interface SessionState {
  readonly session: DebugSession;
  canDescribe: boolean;
  /** Counts stops and continuations: answers about an earlier stop are of no use. */
  moment: number;
  isStopped: boolean;
}

/** What the user started, with all its sessions. */
interface Program {
  exitCode: number | undefined;
  printed: string;
  /** One of its processes has ended. */
  isOver: boolean;
  /** The user ended it. */
  isEnded: boolean;
  /** What its newest reported exception says. */
  reported: string;
}

class DebugWatch {
  readonly #deps: DebugDeps;
  readonly #publisher: Publisher;
  readonly #sessions = new Map<string, SessionState>();
  readonly #programs = new Map<string, Program>();

  constructor(deps: DebugDeps, publisher: Publisher) {
    this.#deps = deps;
    this.#publisher = publisher;
  }

  take({ session, type, message }: DebugMessage): void {
    const state = this.#stateOf(session);
    const program = this.#program(session);
    if (type === 'ended') this.#ended(state, program);
    else if (type === 'to_debugger') {
      const act = readFromEditor(message);
      if (act === 'continues') this.#continued(state);
      // The editor also ends a session whose program has ended by itself.
      if (act === 'ends' && !program.isOver) program.isEnded = true;
    } else this.#received(state, program, message);
  }

  #received(state: SessionState, program: Program, message: unknown): void {
    const read = readFromDebugger(message);
    if (read?.type === 'can_describe') state.canDescribe = true;
    if (read?.type === 'continued') this.#continued(state);
    if (read?.type === 'printed') program.printed = (program.printed + read.text).slice(-KEPT);
    if (read?.type === 'exited' || read?.type === 'over') program.isOver = true;
    // Of several processes the first failure counts.
    if (read?.type === 'exited') program.exitCode ||= read.code;
    if (read?.type !== 'stopped') return;
    this.#continued(state);
    if (NOT_REPORTED.has(read.stop.reason)) return;
    state.isStopped = true;
    void this.#reportStop(state, read.stop, state.moment).catch(this.#failed);
  }

  #stateOf(session: DebugSession): SessionState {
    const state = this.#sessions.get(session.id) ?? { session, canDescribe: false, moment: 0, isStopped: false };
    this.#sessions.set(session.id, state);
    return state;
  }

  #program({ root }: DebugSession): Program {
    const program = this.#programs.get(root.id) ?? {
      exitCode: undefined,
      printed: '',
      isOver: false,
      isEnded: false,
      reported: '',
    };
    this.#programs.set(root.id, program);
    return program;
  }

  #continued(state: SessionState): void {
    state.moment += 1;
    if (!state.isStopped) return;
    state.isStopped = false;
    const subject = programSubject(state.session.root.name);
    void this.#publisher.withdraw(STOPPED, subject, 'the program went on').catch(this.#failed);
  }

  #ended(state: SessionState, { exitCode, printed, isEnded, reported }: Program): void {
    const { id, root } = state.session;
    this.#continued(state);
    this.#sessions.delete(id);
    if (id !== root.id) return;
    this.#programs.delete(root.id);
    // What the reported exception says is not said again.
    const isReported = reported !== '' && printed.includes(reported);
    const draft = draftEnd({
      ...{ program: root.name, exitCode: isEnded ? undefined : exitCode, printed: isReported ? '' : printed },
    });
    const publish = async () => {
      // A failure that was not delivered and is over is not reported.
      if (draft.level === 'info')
        await this.#publisher.withdraw(ENDED, programSubject(root.name), 'it ran again since');
      await this.#publish(draft);
    };
    void publish().catch(this.#failed);
  }

  async #reportStop(state: SessionState, stop: Stop, moment: number): Promise<void> {
    const isException = stop.reason === 'exception';
    const info = isException && state.canDescribe ? this.#ask(state, stop, 'exceptionInfo') : undefined;
    const frames = readFrames(await this.#ask(state, stop, 'stackTrace', { startFrame: 0, levels: MOST_FRAMES }));
    const shown = await this.#shownFrames(state.session, frames.slice(0, MOST_FRAMES));
    const [first] = shown;
    // Of an exception only what it says; of its place also the line, and what the user allows.
    const stopped: StoppedProgram = {
      program: state.session.root.name,
      frames: shown.map(({ frame }) => frame),
      ...(first !== undefined && { source: await this.#sourceLine(first.file, first.frame.line) }),
      ...defined({ locals: await this.#locals(state, first?.id) }),
    };
    const described = info === undefined ? undefined : readExceptionInfo(await info);
    // The program went on while the debugger was asked: its exception was there nevertheless.
    if (isException) {
      const exception = exceptionOf(stop, described);
      this.#program(state.session).reported = exception.text.split('\n', 1)[0]?.trim() ?? '';
      return this.#publish(draftException({ ...stopped, ...exception }));
    }
    if (state.moment === moment) await this.#publish(draftStop({ ...stopped, reason: stop.reason }));
  }

  /** Frames in files of the workspace that may be shown. */
  async #shownFrames(session: DebugSession, frames: readonly Frame[]) {
    const shown: { readonly id: number; readonly file: FilePath; readonly frame: ShownFrame }[] = [];
    for (const { id, name, path, line } of frames) {
      const absolute = path === undefined ? '' : session.absolute(path);
      if (!isAbsolute(absolute) || /[/\\]node_modules[/\\]/.test(absolute)) continue;
      const file = await this.#deps.workspace.resolve(absolute);
      if (!file.ok || !(await this.#deps.workspace.mayShow(file.value))) continue;
      shown.push({ id, file: file.value, frame: { path: file.value.path, line, name } });
    }
    return shown;
  }

  async #sourceLine(file: FilePath, line: number): Promise<string | undefined> {
    const read = await this.#deps.workspace.read(file, { atMost: LARGEST_FILE });
    const text = read.ok ? await this.#deps.workspace.decode(file, read.value.bytes) : undefined;
    const found = text?.split('\n', line)[line - 1]?.trim();
    return found === '' ? undefined : found;
  }

  async #locals(state: SessionState, frameId: number | undefined): Promise<readonly Variable[] | undefined> {
    if (frameId === undefined || !this.#deps.mayShowLocals()) return undefined;
    const variablesReference = readLocalsReference(await this.#request(state, 'scopes', { frameId }));
    if (variablesReference === undefined) return undefined;
    return readVariables(await this.#request(state, 'variables', { variablesReference }), MOST_LOCALS);
  }

  #ask(state: SessionState, { thread }: Stop, command: string, args: object = {}): Promise<unknown> {
    return thread === undefined
      ? Promise.resolve(undefined)
      : this.#request(state, command, { threadId: thread, ...args });
  }

  /** Undefined: it refused, or did not answer in time. */
  async #request(
    { session }: SessionState,
    command: string,
    args: Readonly<Record<string, unknown>>,
  ): Promise<unknown> {
    try {
      return await within(this.#deps.clock, MILLISECONDS, session.request(command, args));
    } catch {
      return undefined;
    }
  }

  async #publish(draft: ReturnType<typeof draftEnd>): Promise<void> {
    await this.#publisher.publish({ ...draft, at: new Date(this.#deps.clock.now()).toISOString() });
  }

  readonly #failed = (error: unknown) => this.#deps.logger.error('the debugger could not be followed', error);
}

function exceptionOf({ text }: Stop, info: ExceptionInfo | undefined) {
  return { text: info === undefined || info.text === '' ? text : info.text, isUncaught: info?.isUncaught === true };
}
