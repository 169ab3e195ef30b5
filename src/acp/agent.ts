// Earshot as an agent of the Agent Client Protocol (version 1): each session is a conversation of the
// folder that it was opened for.
import { realpath } from 'node:fs/promises';
import { type Disposable } from '../base/disposable.ts';
import { describeFailure, type Result } from '../base/errors.ts';
import { INVALID_PARAMS, JsonRpcError, JsonRpcPeer, METHOD_NOT_FOUND, SERVER_ERROR } from '../base/json/jsonRpc.ts';
import { type Logger } from '../core/ports/ports.ts';
import { ACP_VERSION, type AcpMethod, type AcpParams, acpSchemas, type ClientServer } from '../protocol/outside/acp.ts';
import { describeIssue } from '../protocol/describeIssue.ts';
import { type LogEvent } from '../protocol/event.ts';
import { ClientFrontend } from './frontend.ts';
import { readPromptParts } from './promptParts.ts';
import { type FolderListener, NO_CONVERSATION, type SessionFolder, type SessionSettings } from './sessionFolder.ts';
import { optionsOf, readMode, readOption, stateOf } from './sessionState.ts';
import { outputUpdate, type SessionUpdate, startedUpdate, updatesOf } from './updates.ts';
import { type ConversationChoice } from '../protocol/page/controlsView.ts';

export interface AcpAgentDeps {
  readonly logger: Logger;
  readonly version: string;
  send(frame: string): void;
  /** `asks`: whether the client can answer questions. */
  openFolder(folder: string, listener: FolderListener, asks: boolean): Promise<Result<SessionFolder>>;
  /** Resolves once a window has the folder open again; undefined: lost sessions stay lost. */
  reopened?(folder: string): Promise<void> | undefined;
}

/** The protocol's own error code for a resource that does not exist. */
const NOT_FOUND = -32002;

/** The last characters of a call's output that are shown while it runs; its result has the text for the model. */
const LIVE_OUTPUT = 4000;

type Handlers = { readonly [M in AcpMethod]: (params: AcpParams<M>) => unknown };

export class AcpAgent implements Disposable {
  readonly #deps: AcpAgentDeps;
  readonly #peer: JsonRpcPeer;
  readonly #folders = new Map<string, Promise<SessionFolder>>();
  readonly #sessions = new Map<string, SessionFolder>();
  /** Sessions whose folder was lost, with the reason. */
  readonly #lost = new Map<string, string>();
  /** The last queued update of each session: updates are sent in order, although some read files first. */
  readonly #sending = new Map<string, Promise<void>>();
  /** Sessions that are being opened. */
  readonly #opening = new Map<string, Promise<void>>();
  /** The last event of each session that was sent. */
  readonly #lastSeq = new Map<string, number>();
  /** Running calls that were announced to the client, with the end of their output. */
  readonly #announced = new Map<string, string>();
  /** Calls that started before they were announced. */
  readonly #early = new Set<string>();
  #asks = false;

  constructor(deps: AcpAgentDeps) {
    this.#deps = deps;
    this.#peer = new JsonRpcPeer({
      send: (frame) => deps.send(frame),
      handle: (method, params) => this.#handle(method, params),
      report: (error) => deps.logger.error('a request of the client failed unexpectedly', error),
      // The protocol has no batches.
      maxBatch: 0,
    });
  }

  receive(line: string): void {
    this.#peer.receive(line);
  }

  async close(): Promise<void> {
    this.dispose();
    for (const opening of this.#folders.values()) {
      const opened = await opening.catch(() => undefined);
      await opened?.close();
    }
  }

  dispose(): void {
    this.#peer.close('the client is gone');
  }

  #handle(method: string, params: unknown): unknown {
    if (!isMethod(method)) throw new JsonRpcError(METHOD_NOT_FOUND, `unknown method ${method.slice(0, 100)}`);
    const parsed = acpSchemas[method].safeParse(params ?? {});
    if (!parsed.success) {
      const isWhole = parsed.error.issues[0]?.path.length === 0;
      throw new JsonRpcError(INVALID_PARAMS, `${isWhole ? 'params: ' : ''}${describeIssue(parsed.error)}`);
    }
    // Safe: each handler gets parameters that the schema of its own method has checked.
    return (this.#handlers[method] as (value: unknown) => unknown)(parsed.data);
  }

  readonly #handlers: Handlers = {
    initialize: ({ clientCapabilities }) => {
      this.#asks = clientCapabilities?.elicitation?.form != null;
      return {
        protocolVersion: ACP_VERSION,
        agentInfo: { name: 'earshot', title: 'Earshot', version: this.#deps.version },
        agentCapabilities: {
          loadSession: true,
          mcpCapabilities: { http: true, sse: true },
          promptCapabilities: { image: true, embeddedContext: true },
          sessionCapabilities: { list: {}, resume: {}, close: {} },
        },
        authMethods: [],
      };
    },
    authenticate: () => ({}),
    'session/new': async ({ cwd, mcpServers }) => {
      const folder = await this.#open(cwd);
      folder.addServers(mcpServers);
      const session = unwrap(await folder.create());
      this.#sessions.set(session, folder);
      const state = stateOf(await folder.settings(session));
      this.#offerCommands(folder, session);
      return { sessionId: session, ...state };
    },
    'session/load': async ({ cwd, sessionId, mcpServers }) => {
      const load = async () => {
        const { folder, events } = await this.#join(cwd, sessionId, mcpServers);
        for (const event of events) this.#forward(folder, sessionId, event, true);
        await this.#sending.get(sessionId);
        return stateOf(await folder.settings(sessionId));
      };
      return this.#opened(sessionId, load());
    },
    'session/resume': async ({ cwd, sessionId, mcpServers }) => {
      const resume = async () => {
        const { folder } = await this.#join(cwd, sessionId, mcpServers);
        return stateOf(await folder.settings(sessionId));
      };
      return this.#opened(sessionId, resume());
    },
    'session/list': async ({ cwd }) => {
      const folder = await this.#open(cwd ?? process.cwd());
      const sessions = unwrap(await folder.list()).map(({ id, title, at }) => ({
        sessionId: id,
        cwd: folder.folder,
        title: title === '' ? null : title,
        updatedAt: at,
      }));
      return { sessions };
    },
    'session/prompt': async ({ sessionId, prompt }) => {
      const folder = this.#session(sessionId);
      const { text, attachments } = readPromptParts(prompt, folder.folder);
      const ended = await folder.prompt(sessionId, text, attachments);
      await this.#sending.get(sessionId);
      return { stopReason: unwrap(ended).stopped ? 'cancelled' : 'end_turn' };
    },
    'session/cancel': ({ sessionId }) => this.#sessions.get(sessionId)?.stop(sessionId),
    'session/close': async ({ sessionId }) => {
      const folder = this.#session(sessionId);
      this.#sessions.delete(sessionId);
      await folder.stop(sessionId);
      return {};
    },
    'session/set_mode': async ({ sessionId, modeId }) => {
      const folder = this.#session(sessionId);
      const { mode } = await change(folder, sessionId, readMode(modeId));
      this.#update(sessionId, { sessionUpdate: 'current_mode_update', currentModeId: mode });
      return {};
    },
    'session/set_config_option': async ({ sessionId, configId, value }) => {
      const folder = this.#session(sessionId);
      const wanted = readOption(await folder.settings(sessionId), configId, value);
      const configOptions = optionsOf(await change(folder, sessionId, wanted));
      this.#update(sessionId, { sessionUpdate: 'config_option_update', configOptions });
      return { configOptions };
    },
    '_earshot/notify': async ({ sessionId, ...notification }) => {
      unwrap(await this.#session(sessionId).notify(sessionId, notification));
      return {};
    },
  };

  /** Holds back requests of the session until the reply is sent: before it, the client does not know the session. */
  async #opened<T>(session: string, reply: Promise<T>): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#opening.set(session, promise);
    try {
      return await reply;
    } finally {
      setImmediate(() => {
        if (this.#opening.get(session) === promise) this.#opening.delete(session);
        resolve();
      });
    }
  }

  #update(session: string, update: SessionUpdate): void {
    this.#queue(session, async () => [update]);
  }

  /** Sends the commands after the reply that names the session: before it, the client does not know the session. */
  #offerCommands(folder: SessionFolder, session: string): void {
    const list = async () => {
      const availableCommands = await folder.commands();
      return availableCommands.length === 0 ? [] : [{ sessionUpdate: 'available_commands_update', availableCommands }];
    };
    setImmediate(() => this.#queue(session, list));
  }

  /** Opens a session of the folder. */
  async #join(cwd: string, session: string, servers: readonly ClientServer[]) {
    const folder = await this.#open(cwd);
    const events = unwrap(await folder.open(session));
    folder.addServers(servers);
    this.#sessions.set(session, folder);
    this.#lost.delete(session);
    this.#lastSeq.set(session, events.at(-1)?.seq ?? 0);
    this.#offerCommands(folder, session);
    return { folder, events };
  }

  #session(session: string): SessionFolder {
    const opened = this.#sessions.get(session);
    if (opened !== undefined) return opened;
    const lost = this.#lost.get(session);
    throw lost === undefined
      ? new JsonRpcError(NOT_FOUND, `There is no open session ${session.slice(0, 100)}.`)
      : new JsonRpcError(SERVER_ERROR, lost);
  }

  /** Resolves links first: a folder must not be opened under two names, since its conversations have one writer. */
  async #open(folder: string): Promise<SessionFolder> {
    const place = await realpath(folder).catch(() => folder);
    const known = this.#folders.get(place);
    if (known !== undefined) return known;
    const opening = this.#openFolder(folder, place);
    this.#folders.set(place, opening);
    opening.catch(() => this.#folders.delete(place));
    return opening;
  }

  async #openFolder(folder: string, place: string): Promise<SessionFolder> {
    /** Set once the folder is open; the front end has to exist before that. */
    const made: { folder?: SessionFolder } = {};
    const client = {
      update: (session: string, update: SessionUpdate) => this.#queue(session, async () => [update]),
      started: (session: string, call: string) => this.#started(session, call),
      output: (session: string, call: string, text: string) => {
        const before = this.#announced.get(call);
        if (before === undefined) return;
        const output = (before + text).slice(-LIVE_OUTPUT);
        this.#announced.set(call, output);
        this.#queue(session, async () => [outputUpdate(call, output)]);
      },
      request: (session: string, method: string, params: object, signal: AbortSignal) =>
        this.#request(session, method, params, signal),
      report: (what: string, error: unknown) => this.#deps.logger.error(what, error),
    };
    const effectOf = (tool: string) => made.folder?.effectOf(tool);
    const listener: FolderListener = {
      frontend: new ClientFrontend(client, { effectOf, folder }),
      event: (session, event) => {
        if (made.folder !== undefined) this.#forward(made.folder, session, event, false);
      },
      lost: (reason) => {
        this.#folders.delete(place);
        const lost: string[] = [];
        for (const [session, of] of [...this.#sessions]) {
          if (of !== made.folder) continue;
          this.#sessions.delete(session);
          this.#lost.set(session, reason);
          lost.push(session);
        }
        void this.#rejoin(folder, lost).catch((error: unknown) => this.#deps.logger.error('not joined again', error));
      },
    };
    const opened = unwrap(await this.#deps.openFolder(folder, listener, this.#asks));
    made.folder = opened;
    return opened;
  }

  /** Opens the lost sessions of the folder again, with the events that the client has missed. */
  async #rejoin(folder: string, lost: readonly string[]): Promise<void> {
    const reopened = this.#deps.reopened?.(folder);
    if (reopened === undefined) return;
    await reopened;
    for (const session of lost.filter((one) => this.#lost.has(one))) {
      const known = this.#lastSeq.get(session) ?? 0;
      const { folder: joined, events } = await this.#join(folder, session, []);
      for (const event of events.filter(({ seq }) => seq > known)) this.#forward(joined, session, event, true);
    }
  }

  /** Asks the client, after what it was sent before. Cancels the request when the signal is aborted. */
  async #request(session: string, method: string, params: object, signal: AbortSignal): Promise<unknown> {
    await this.#opening.get(session);
    await this.#sending.get(session);
    signal.throwIfAborted();
    const { id, answer } = this.#peer.ask(method, params);
    const cancel = () => this.#peer.notify('$/cancel_request', { requestId: id });
    signal.addEventListener('abort', cancel, { once: true });
    return answer.finally(() => signal.removeEventListener('abort', cancel));
  }

  #forward(folder: SessionFolder, session: string, event: LogEvent, replay: boolean): void {
    if (this.#sessions.get(session) !== folder) return;
    this.#lastSeq.set(session, event.seq);
    const { snapshots, effectOf, traitsOf } = folder;
    const deps = { folder: folder.folder, snapshots, effectOf, traitsOf, key: () => folder.keyOf(session) };
    this.#queue(session, () => updatesOf(event, deps, replay));
    if (event.type === 'tool_call_response') this.#announced.delete(event.id);
    if (event.type !== 'tool_call_request' || replay) return;
    this.#announced.set(event.id, '');
    if (this.#early.delete(event.id)) this.#started(session, event.id);
  }

  #started(session: string, call: string): void {
    if (!this.#announced.has(call)) this.#early.add(call);
    else this.#queue(session, async () => [startedUpdate(call)]);
  }

  #queue(sessionId: string, make: () => Promise<readonly SessionUpdate[]>): void {
    const send = async () => {
      for (const update of await make()) this.#peer.notify('session/update', { sessionId, update });
    };
    const sent = (this.#sending.get(sessionId) ?? Promise.resolve()).then(send).catch((error: unknown) => {
      this.#deps.logger.error('an update could not be sent', error);
    });
    this.#sending.set(sessionId, sent);
  }
}

/** `wanted`: the choice, or why the request is not valid. */
async function change(
  folder: SessionFolder,
  session: string,
  wanted: ConversationChoice | string,
): Promise<SessionSettings> {
  if (typeof wanted === 'string') throw new JsonRpcError(INVALID_PARAMS, wanted);
  unwrap(await folder.choose(session, wanted));
  return folder.settings(session);
}

function isMethod(method: string): method is AcpMethod {
  return Object.hasOwn(acpSchemas, method);
}

function unwrap<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  const { failure } = result;
  throw new JsonRpcError(failure.code === NO_CONVERSATION ? NOT_FOUND : SERVER_ERROR, describeFailure(failure));
}
