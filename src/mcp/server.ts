// One configured server, from its approval to its removal: connects, and reconnects with back-off after a loss.
import { backOff, nextEvent } from '../base/async.ts';
import { type Disposable } from '../base/disposable.ts';
import { Emitter } from '../base/emitter.ts';
import { describeError, describeFailure, FailureError } from '../base/errors.ts';
import { type Era, type ServerState } from '../protocol/outside/mcp.ts';
import { type ConfiguredServer } from './config/configuration.ts';
import { type CallEnd, type CallHooks, type McpSession, type McpTool, McpSessionError } from './session/sessionPort.ts';
import { type McpHost } from './serverPort.ts';
import { prepareStart } from './serverStart.ts';
import { boundInstructions, describeAbsence } from './serverTexts.ts';
import { TaskCancels } from './taskCancels.ts';
import { type Clock } from '../base/clock.ts';

const FIRST_DELAY = 1000;
const LAST_DELAY = 60_000;
/** After this many failures in a row the server is not started again automatically. */
const MOST_ATTEMPTS = 10;
/** Milliseconds between two reads of its tools, even if it announces changes more often. */
const LISTED_EVERY = 1000;
/** Once a server has stayed connected for this long, its earlier failures no longer count. */
const STEADY_AFTER = 30_000;

export type ServerChange =
  | { readonly type: 'state' }
  | { readonly type: 'tools' }
  /** The resources or prompts changed. */
  | { readonly type: 'lists' }
  | { readonly type: 'lost'; readonly reason: string }
  | { readonly type: 'ready' }
  | { readonly type: 'resource'; readonly uri: string }
  | { readonly type: 'event'; readonly text: string }
  /** The server announced other events. */
  | { readonly type: 'events' };

export class McpServer implements Disposable {
  readonly configured: ConfiguredServer;
  readonly host: McpHost;
  readonly cancels: TaskCancels;
  readonly #emitter: Emitter<ServerChange>;
  #state: ServerState = 'off';
  #problem: string | undefined;
  #session: McpSession | undefined;
  #tools: readonly McpTool[] = [];
  #attempt: AbortController | undefined;
  #retry: Disposable | undefined;
  #failures = 0;
  #readySince = 0;
  /** Whether it was connected since it was started; then it is `lost`, not `starting`, while it reconnects. */
  #wasReady = false;
  #watched: readonly string[] = [];
  #instructions: string | undefined;
  #lastListed = Number.NEGATIVE_INFINITY;
  #listing: Disposable | undefined;
  readonly #removed = new AbortController();

  constructor(configured: ConfiguredServer, host: McpHost) {
    this.configured = configured;
    this.host = host;
    this.cancels = new TaskCancels(host.memory, configured.identity);
    this.#emitter = new Emitter((error) => host.logger.error('a listener of an MCP server failed', error));
  }

  get onDidChange(): Emitter<ServerChange>['event'] {
    return this.#emitter.event;
  }

  get name(): string {
    return this.configured.name;
  }

  get state(): ServerState {
    return this.#state;
  }

  /** Why it is not connected, for the user. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Why it cannot be used, for the model. Read it only while the server is not connected. */
  get absence(): string {
    return describeAbsence(this.#state, this.#problem);
  }

  /** Keeps its value during a reconnection. */
  get tools(): readonly McpTool[] {
    return this.#tools;
  }

  get isConnected(): boolean {
    return this.#session !== undefined;
  }

  get session(): McpSession | undefined {
    return this.#session;
  }

  get era(): Era | undefined {
    return this.#session?.era;
  }

  /** What the server says about its tools, bounded. Keeps its value during a reconnection. */
  get instructions(): string | undefined {
    return this.#instructions;
  }

  /** Resolves once the attempt to connect has ended. Does nothing if it is connected or connecting. */
  async start(): Promise<void> {
    if (this.#attempt !== undefined || this.#session !== undefined) return;
    if (!this.host.isTrusted()) {
      this.#become('off', 'the workspace is not trusted');
      return;
    }
    this.#retry?.dispose();
    this.#retry = undefined;
    const attempt = new AbortController();
    this.#attempt = attempt;
    try {
      await this.#connect(attempt.signal);
    } catch (error) {
      if (!attempt.signal.aborted) this.#fail(error);
    } finally {
      if (this.#attempt === attempt) this.#attempt = undefined;
    }
  }

  /** Resolves once its connection is closed and its process has ended. */
  async stop(): Promise<void> {
    this.#setTools([]);
    await this.#close();
  }

  /** Keeps the tools while it starts, so that a restart alone does not count as a change of its tools. */
  async restart(): Promise<void> {
    await this.#close();
    await this.start();
  }

  async call(tool: string, args: Readonly<Record<string, unknown>>, hooks: CallHooks): Promise<CallEnd> {
    const session = await this.#whenConnected(hooks.signal);
    if (hooks.signal.aborted) return { type: 'cancelled' };
    if (session === undefined) return { type: 'refused', message: this.absence };
    const end = await session.call(tool, args, hooks);
    if (end.type === 'sign_in') this.wantSignIn(session, end.message);
    return end;
  }

  /** Waits until it is connected, even if the user has to act first. Undefined: it was removed, or `signal` aborted. */
  async whenReady(signal: AbortSignal): Promise<McpSession | undefined> {
    const over = AbortSignal.any([signal, this.#removed.signal]);
    while (!over.aborted) {
      if (this.#session !== undefined) return this.#session;
      await nextEvent(this.onDidChange, over);
    }
    return undefined;
  }

  /** Reports changes of these resources, also after a reconnection. */
  async watchResources(uris: readonly string[]): Promise<void> {
    this.#watched = uris;
    await this.#session?.watchResources(uris);
  }

  /** For a call that may be repeated after its answer was lost. Resolves to whether the server is connected again. */
  async reconnected(signal: AbortSignal): Promise<boolean> {
    return (await this.#whenConnected(signal, true)) !== undefined;
  }

  /** Call it when the server has refused a request for lack of rights. */
  wantSignIn(session: McpSession, problem: string): void {
    if (this.#session !== session) return;
    this.#session = undefined;
    session.kill();
    this.#become('sign_in', problem);
  }

  /** For a server that is not configured any more. Resolves once its process has ended. */
  async remove(): Promise<void> {
    this.#removed.abort();
    try {
      await this.stop();
    } finally {
      this.dispose();
    }
  }

  /** Ends its process without waiting, since the window closes. */
  dispose(): void {
    this.#stopTimers();
    this.#attempt?.abort();
    this.#session?.kill();
    this.#session = undefined;
    this.#emitter.dispose();
  }

  async #close(): Promise<void> {
    this.#stopTimers();
    this.#attempt?.abort();
    this.#attempt = undefined;
    const session = this.#session;
    this.#session = undefined;
    this.#wasReady = false;
    this.#instructions = undefined;
    this.#failures = 0;
    this.#become('off');
    await session?.close();
  }

  #stopTimers(): void {
    this.#retry?.dispose();
    this.#retry = undefined;
    this.#listing?.dispose();
    this.#listing = undefined;
  }

  async #connect(signal: AbortSignal): Promise<void> {
    const { configured, name } = this;
    const host = this.host;
    this.#become(this.#wasReady ? 'lost' : 'starting', this.#problem);
    const start = await prepareStart(host, configured, (state, problem) => this.#become(state, problem), signal);
    if (start === undefined) return;
    const { launch, legacyKey } = start;
    const opened: { session?: McpSession } = {};
    const session = await host.open(
      {
        server: name,
        identity: configured.identity,
        launch,
        client: host.client,
        limits: host.limits,
        knownLegacy: host.memory.has(legacyKey),
        signIn: launch.type === 'http' ? await host.signIn?.(configured) : undefined,
        log: boundLog((line) => host.log(name, line), host.clock),
        openExternal: (url) => host.openExternal(url),
        listener: {
          ended: (reason) => this.#lose(opened.session, reason),
          toolsChanged: () => this.#listLater(opened.session),
          promptsChanged: () => this.#emitter.fire({ type: 'lists' }),
          resourcesChanged: () => this.#emitter.fire({ type: 'lists' }),
          resourceUpdated: (uri) => this.#emitter.fire({ type: 'resource', uri }),
          event: (text) => this.#emitter.fire({ type: 'event', text }),
          eventsChanged: () => this.#emitter.fire({ type: 'events' }),
        },
      },
      signal,
    );
    opened.session = session;
    await this.#adopt(session, legacyKey, signal);
  }

  async #adopt(session: McpSession, legacyKey: string, signal: AbortSignal): Promise<void> {
    const { memory, clock } = this.host;
    try {
      // Stored under the hash of the program, so that another version of the program is probed again.
      if (session.pid !== undefined) await memory.set(legacyKey, session.era === 'legacy');
      const tools = await session.listTools();
      // The server was stopped meanwhile.
      if (signal.aborted) {
        await session.close();
        return;
      }
      this.#session = session;
      this.#instructions = boundInstructions(session.instructions);
      this.#setTools(tools);
      await session.watchResources(this.#watched).catch((error: unknown) => this.noteFailure(error));
    } catch (error) {
      await session.close();
      if (this.#session === session) this.#session = undefined;
      throw error;
    }
    // It may have ended while its tools were listed.
    if (this.#session !== session) return;
    this.#wasReady = true;
    this.#readySince = clock.monotonic();
    this.host.log(this.name, `Connected: ${session.title}, revision ${session.version}, tools: ${this.#tools.length}.`);
    this.#become('ready');
    this.#emitter.fire({ type: 'ready' });
    void this.cancels.connected(session).catch((error: unknown) => this.noteFailure(error));
  }

  #listLater(session: McpSession | undefined): void {
    if (session === undefined) return;
    const { clock } = this.host;
    const wait = Math.max(0, this.#lastListed + LISTED_EVERY - clock.monotonic());
    this.#listing ??= clock.after(wait, () => {
      this.#listing = undefined;
      this.#lastListed = clock.monotonic();
      void this.#listTools(session).catch((error: unknown) => this.noteFailure(error));
    });
  }

  async #listTools(session: McpSession): Promise<void> {
    if (this.#session !== session) return;
    const tools = await session.listTools();
    if (this.#session === session) this.#setTools(tools);
  }

  #setTools(tools: readonly McpTool[]): void {
    if (JSON.stringify(tools) === JSON.stringify(this.#tools)) return;
    this.#tools = tools;
    this.#emitter.fire({ type: 'tools' });
  }

  #lose(session: McpSession | undefined, reason: string): void {
    if (session === undefined || this.#session !== session) return;
    this.#session = undefined;
    if (this.host.clock.monotonic() - this.#readySince >= STEADY_AFTER) this.#failures = 0;
    this.host.log(this.name, `Lost: ${reason}.`);
    this.#become('lost', reason);
    this.#emitter.fire({ type: 'lost', reason });
    this.#startLater();
  }

  #fail(error: unknown): void {
    const problem = error instanceof FailureError ? describeFailure(error.failure) : describeError(error);
    this.noteFailure(error);
    if (error instanceof McpSessionError && error.kind === 'sign_in') return this.#become('sign_in', problem);
    this.#become(this.#wasReady ? 'lost' : 'failed', problem);
    // A wrong configuration is not fixed by another attempt.
    if (!(error instanceof FailureError)) this.#startLater();
  }

  #startLater(): void {
    this.#failures += 1;
    if (this.#failures > MOST_ATTEMPTS) return this.#become('failed', this.#problem);
    const delay = backOff(this.#failures, FIRST_DELAY, LAST_DELAY);
    this.#retry?.dispose();
    this.#retry = this.host.clock.after(delay, () => {
      this.#retry = undefined;
      void this.start().catch((error: unknown) => this.noteFailure(error));
    });
  }

  /** Waits for a server that is starting; for a lost one only if `patient`. */
  async #whenConnected(signal: AbortSignal, patient = false): Promise<McpSession | undefined> {
    const waits = () => this.#state === 'starting' || (patient && this.#state === 'lost');
    if (this.#session !== undefined || !waits()) return this.#session;
    const late = AbortSignal.any([signal, AbortSignal.timeout(this.host.limits.probe)]);
    while (!late.aborted && waits() && !this.isConnected) await nextEvent(this.onDidChange, late);
    return this.#session;
  }

  #become(state: ServerState, problem?: string): void {
    if (this.#state === state && this.#problem === problem) return;
    this.#state = state;
    this.#problem = problem;
    this.#emitter.fire({ type: 'state' });
  }

  /** Writes the failure to the server's log. */
  noteFailure(error: unknown): void {
    this.host.log(this.name, `Failed: ${describeError(error)}`);
  }
}

const MOST_LINES = 500;
const WINDOW_MILLISECONDS = 10_000;

/**
 * Limits how many lines a server can write to the log: a server that prints all the time would keep the editor busy.
 */
export function boundLog(write: (line: string) => void, clock: Pick<Clock, 'monotonic'>): (line: string) => void {
  let since = clock.monotonic();
  let lines = 0;
  return (line) => {
    if (clock.monotonic() - since >= WINDOW_MILLISECONDS) {
      if (lines > MOST_LINES) write(`(${lines - MOST_LINES} lines were left out.)`);
      since = clock.monotonic();
      lines = 0;
    }
    lines += 1;
    if (lines <= MOST_LINES) write(line);
    if (lines === MOST_LINES) write('It prints too much: further lines are left out for up to 10 s.');
  };
}
