// Manages the commands of each conversation, and the names by which the model refers to them.
import { nextEvent } from '../../base/async.ts';
import { type Clock } from '../../base/clock.ts';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { Emitter } from '../../base/emitter.ts';
import { type Failure, type Result, succeeded, failed } from '../../base/errors.ts';
import { defined } from '../../base/json/defined.ts';
import { type EventDraft } from '../../protocol/event.ts';
import { handleScope } from '../../protocol/scopes.ts';
import { linesWatched } from '../conversation/lines/watchLines.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { type KnownHandle } from '../conversation/projections/handleStates.ts';
import { type ConversationHandles, type Handle, type HandleChange, type HandleRequest } from '../ports/handles.ts';
import { type WantedLines } from '../ports/producers.ts';
import { type Logger } from '../ports/ports.ts';
import {
  type AgentRuns,
  type ObservedProcess,
  type RemoteTasks,
  type SupervisedCommand,
  type Supervision,
} from '../ports/processes.ts';
import { CommandHandle } from './handle.ts';
import { freeHandleName, whyNotFree } from './handleNames.ts';
import { withdrawStates } from './handleTexts.ts';

export interface HandlesDeps {
  readonly supervision: Supervision;
  /** Finds tasks of MCP servers again; absent: there are none. */
  readonly tasks?: RemoteTasks | undefined;
  /** Finds subagents again; absent: there are none. */
  readonly agents?: AgentRuns | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** All kinds of notifications about handles. */
const REPORTED_STATES = ['stopped', 'failed', 'waiting', 'lost'];
/** How many ended handles keep their output. */
const ENDED_KEPT = 20;

type NamedHandle = CommandHandle & { readonly name: string };

export class Handles implements Disposable {
  readonly #deps: HandlesDeps;
  readonly #byConversation = new Map<string, Conversation>();
  readonly #resumed = new Set<string>();
  readonly #emitter: Emitter<HandleChange>;

  constructor(deps: HandlesDeps) {
    this.#deps = deps;
    this.#emitter = new Emitter((error) => deps.logger.error('a listener of the handles failed', error));
  }

  /** Fires for any change of any command, including commands without a name. */
  get onDidChange(): Emitter<HandleChange>['event'] {
    return this.#emitter.event;
  }

  /** The commands with a name. */
  list(conversation: string): readonly NamedHandle[] {
    return this.#byConversation.get(conversation)?.all ?? [];
  }

  /** Conversations with a running handle. */
  get busy(): readonly string[] {
    return [...this.#byConversation.keys()].filter((id) => this.hasRunning(id));
  }

  hasRunning(conversation: string): boolean {
    return this.list(conversation).some((handle) => !handle.hasEnded);
  }

  of(log: ConversationLog): ConversationHandles {
    const known = this.#byConversation.get(log.id);
    if (known !== undefined) return known;
    const created = new Conversation(this.#deps, log, (change) => this.#emitter.fire(change));
    this.#byConversation.set(log.id, created);
    return created;
  }

  /** Reattaches the commands that were started according to the log; for ended ones, the end is reported. */
  async reattach(log: ConversationLog, handedOver = false): Promise<void> {
    this.release(log.id);
    this.of(log);
    await this.#byConversation.get(log.id)?.reattach();
    if (!handedOver && this.hasRunning(log.id)) this.#resumed.add(log.id);
  }

  /** Handles that kept running while no window owned the conversation; empty once that was reported. */
  stillRunning(conversation: string): readonly NamedHandle[] {
    return this.#resumed.has(conversation) ? this.list(conversation).filter((handle) => !handle.hasEnded) : [];
  }

  saidStillRunning(conversation: string): void {
    this.#resumed.delete(conversation);
  }

  /** All running commands of the conversation, including those without a name. */
  processes(conversation: string): readonly ObservedProcess[] {
    return this.#byConversation.get(conversation)?.processes ?? [];
  }

  /** `call`: the call that waits for the command. Returns false if the command is no longer running. */
  moveToBackground(conversation: string, call: string): boolean {
    const handle = this.#byConversation.get(conversation)?.byRun(call);
    if (handle === undefined || handle.hasEnded) return false;
    // A task of an MCP server has its name while its call still waits.
    if (handle.name !== undefined && handle.process.task === undefined) return false;
    handle.moveToBackground();
    return true;
  }

  /** Also finds commands without a name. */
  byRun(conversation: string, call: string): CommandHandle | undefined {
    return this.#byConversation.get(conversation)?.byRun(call);
  }

  async stopAll(conversation: string, reason: string): Promise<void> {
    await Promise.all(this.list(conversation).map((handle) => handle.stop(reason)));
  }

  /** Call when this window releases the conversation or closes: the commands keep running for the next owner. */
  release(conversation: string): void {
    this.#byConversation.get(conversation)?.dispose();
    this.#byConversation.delete(conversation);
    this.#resumed.delete(conversation);
  }

  dispose(): void {
    for (const id of [...this.#byConversation.keys()]) this.release(id);
    this.#emitter.dispose();
  }
}

class Conversation implements ConversationHandles, Disposable {
  readonly #deps: HandlesDeps;
  readonly #log: ConversationLog;
  readonly #announce: (change: HandleChange) => void;
  readonly #held = new DisposableStore();
  readonly #named = new Map<string, NamedHandle>();
  readonly #byRun = new Map<string, CommandHandle>();
  /** Names of handles that are being started. */
  readonly #reserved = new Set<string>();
  readonly #onDidSettle: Emitter<void>;

  constructor(deps: HandlesDeps, log: ConversationLog, announce: (change: HandleChange) => void) {
    this.#deps = deps;
    this.#log = log;
    this.#announce = announce;
    this.#onDidSettle = this.#held.add(new Emitter((error) => deps.logger.error('a listener failed', error)));
    this.#held.add(log.onDidAppend(({ event }) => event.type === 'tool_call_response' && this.#onDidSettle.fire()));
  }

  get all(): readonly NamedHandle[] {
    return [...this.#named.values()];
  }

  get(name: string): NamedHandle | undefined {
    return this.#named.get(name);
  }

  byRun(run: string): CommandHandle | undefined {
    return this.#byRun.get(run);
  }

  get processes(): readonly ObservedProcess[] {
    return [...this.#byRun.values()].filter(({ hasEnded }) => !hasEnded).map((handle) => handle.observed);
  }

  whyNot(name: string): Failure | undefined {
    return whyNotFree(name, { isReserved: this.#reserved.has(name), known: this.#named.get(name) });
  }

  async start(request: HandleRequest): Promise<Result<Handle>> {
    const { name } = request;
    const problem = name === undefined ? undefined : this.whyNot(name);
    if (problem !== undefined) return { ok: false, failure: problem };
    if (name !== undefined) this.#reserved.add(name);
    try {
      const { call: run, command, folder, input } = request;
      const started = await this.#deps.supervision.start({ conversation: this.#log.id, run, command, folder, input });
      if (!started.ok) return started;
      const handle = this.#add(run, started.value);
      if (name !== undefined) await this.#name(handle, name, false, request.lines);
      return succeeded(handle);
    } finally {
      if (name !== undefined) this.#reserved.delete(name);
    }
  }

  reserveName(text: string, wanted?: string): { readonly name: string } & Disposable {
    const name = wanted ?? this.#freeName(text);
    this.#reserved.add(name);
    return { name, dispose: () => this.#reserved.delete(name) };
  }

  async adopt(run: string, process: SupervisedCommand, wanted?: string): Promise<Handle & { readonly name: string }> {
    const { name, dispose } = this.reserveName(process.command, wanted);
    try {
      const handle = this.#add(run, process);
      await this.#name(handle, name, false);
      return handle as NamedHandle;
    } finally {
      dispose();
    }
  }

  async keep(handle: Handle): Promise<string> {
    const own = this.#byRun.get(handle.run);
    if (own === undefined) throw new Error('the command was dropped');
    const name = this.#freeName(handle.process.command);
    await this.#name(own, name, handle.hasEnded);
    return name;
  }

  async drop({ run }: Handle): Promise<void> {
    const own = this.#byRun.get(run);
    this.#byRun.delete(run);
    if (own !== undefined) this.#held.release(own);
    await this.#deps.supervision.remove(this.#log.id, run);
  }

  async watchLines(name: string, lines: WantedLines): Promise<void> {
    await this.#log.append(linesWatched(handleScope(name), lines, { through: this.shownThrough(name) }));
  }

  shownThrough(name: string): number {
    return Math.max(this.#named.get(name)?.through ?? 0, this.#log.state.handles.get(name)?.through ?? 0);
  }

  async awaitStart(name: string, signal: AbortSignal): Promise<Handle | undefined> {
    for (;;) {
      const handle = this.#named.get(name);
      if (handle !== undefined || signal.aborted || !this.isComing(name)) return handle;
      await nextEvent(this.#onDidSettle.event, signal);
    }
  }

  /** Reattaches the handles of the log, and ends commands that were started but are not in the log. */
  async reattach(): Promise<void> {
    const { supervision } = this.#deps;
    const left = new Set(await supervision.runs(this.#log.id));
    for (const known of this.#log.state.handles.all) {
      const run = known.started.tool_call_id;
      if (!left.has(run) && known.ended) continue;
      left.delete(run);
      const process = (await this.#reattach(known)) ?? lostCommand(known);
      this.#register(this.#add(run, process), known.name, known.started.ended === true);
      const continued = known.prompt !== undefined && process.status.size > known.prompt;
      if (continued) await withdrawStates(this.#log, known.name, ['waiting'], 'it went on');
    }
    // An interrupted call already has its response: a command it started must not keep running unreported.
    const report = (error: unknown) => this.#deps.logger.error('an interrupted command could not be ended', error);
    for (const run of left) void this.#endInterrupted(run).catch(report);
    await this.#forgetOldest();
    for (const handle of this.all) this.#announce({ type: 'state', handle });
  }

  dispose(): void {
    this.#held.dispose();
  }

  #reattach({ started, tool = '' }: KnownHandle): Promise<SupervisedCommand | undefined> {
    const { supervision, tasks, agents } = this.#deps;
    const { task, agent, tool_call_id: run, timestamp: startedAt } = started;
    if (agent !== undefined) {
      return agents?.reattach({ ...agent, parent: this.#log.id, startedAt }) ?? Promise.resolve(undefined);
    }
    if (task === undefined) return supervision.reattach(this.#log.id, run);
    return tasks?.reattach({ ...task, tool, startedAt }) ?? Promise.resolve(undefined);
  }

  #add(run: string, process: SupervisedCommand): CommandHandle {
    const { clock, logger } = this.#deps;
    const report = (error: unknown) => logger.error('a command could not be followed', error);
    const conversation = this.#log.id;
    const tool = this.#toolOf(run);
    const handle = this.#held.add(
      new CommandHandle({ conversation, run, tool, process, clock, report, changed: this.#announce }),
    );
    this.#byRun.set(run, handle);
    return handle;
  }

  /** The name is on disk before anybody can use it. */
  async #name(handle: CommandHandle, name: string, outputOnly: boolean, lines?: WantedLines): Promise<void> {
    const earlier = this.#named.get(name);
    const { pid, startTime, task, agent } = handle.process;
    // The result that names the new handle says how the earlier one ended.
    const outdated = earlier && withdrawStates(this.#log, name, REPORTED_STATES, 'its name was given to a new handle');
    const started: EventDraft = {
      type: 'handle_started',
      name,
      pid,
      start_time: startTime,
      tool_call_id: handle.run,
      ...(outputOnly && { ended: true }),
      ...defined({ task }),
      ...(agent !== undefined && { agent: { conversation: agent.conversation } }),
    };
    const watched = lines && linesWatched(handleScope(name), lines, { through: 0 });
    const { onDisk } = this.#log.appendTogether([{ draft: started }, ...(watched ? [{ draft: watched }] : [])]);
    await Promise.all([outdated, onDisk]);
    if (earlier !== undefined) await this.drop(earlier);
    this.#register(handle, name, outputOnly);
    this.#onDidSettle.fire();
  }

  #register(handle: CommandHandle, name: string, outputOnly: boolean): void {
    this.#named.delete(name);
    this.#named.set(name, handle as NamedHandle);
    // Announces it, so it must be listed.
    handle.setName(name, outputOnly);
  }

  /** Whether a call of the same answer, still without a result, will start this handle. */
  isComing(name: string): boolean {
    return this.#log.state.turn.unanswered.some(({ request, approval }) => {
      const tool = this.#log.tools?.traits(request.name);
      return tool?.startsHandle?.(approval?.arguments ?? request.arguments) === name;
    });
  }

  #toolOf(run: string): string | undefined {
    const { turn, handles } = this.#log.state;
    const call = turn.unanswered.find(({ request }) => request.id === run);
    return call?.request.name ?? handles.all.find(({ started }) => started.tool_call_id === run)?.tool;
  }

  #freeName(text: string): string {
    return freeHandleName(text, (name) => this.#named.has(name) || this.#reserved.has(name));
  }

  async #endInterrupted(run: string): Promise<void> {
    const { supervision } = this.#deps;
    const process = await supervision.reattach(this.#log.id, run);
    if (process !== undefined) {
      const handle = this.#add(run, process);
      await handle.stop('its call was interrupted');
      this.#byRun.delete(run);
      this.#held.release(handle);
    }
    await supervision.remove(this.#log.id, run);
  }

  async #forgetOldest(): Promise<void> {
    const ended = this.all.filter(
      (handle) => handle.hasEnded && this.#log.state.handles.get(handle.name)?.ended === true,
    );
    for (const handle of ended.slice(0, Math.max(0, ended.length - ENDED_KEPT))) {
      this.#named.delete(handle.name);
      await this.drop(handle);
    }
  }
}

/** A placeholder for a command of which nothing is left on disk. */
function lostCommand({ started }: KnownHandle): SupervisedCommand {
  const gone = failed('not_running', 'It does not run any more.');
  return {
    command: '',
    pid: started.pid,
    startTime: started.start_time,
    ...(started.agent && { agent: started.agent }),
    shell: undefined,
    status: { startedAt: started.timestamp, inputOpen: false, size: 0, kept: 0, lost: true },
    onDidChange: () => ({ dispose: () => undefined }),
    read: async () => ({ from: 0, bytes: new Uint8Array() }),
    write: async () => gone,
    stop: () => undefined,
    interrupt: () => undefined,
    dispose: () => undefined,
  };
}
