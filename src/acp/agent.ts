// Earshot as an agent of the Agent Client Protocol (version 1): each session is a conversation of the
// folder that it was opened for.
import { realpath } from 'node:fs/promises';
import { ignore } from '../base/async.ts';
import { type Disposable } from '../base/disposable.ts';
import { describeFailure, failed, type Result } from '../base/errors.ts';
import { INVALID_PARAMS, JsonRpcError, JsonRpcPeer, METHOD_NOT_FOUND, SERVER_ERROR } from '../base/json/jsonRpc.ts';
import { type Logger } from '../core/ports/ports.ts';
import { ACP_VERSION, type AcpMethod, type AcpParams, acpSchemas, type ClientServer } from '../protocol/outside/acp.ts';
import { describeIssue } from '../protocol/describeIssue.ts';
import { type ConversationChoice } from '../protocol/page/controlsView.ts';
import { type AcpFolder } from './acpFolder.ts';
import { AcpSession } from './acpSession.ts';
import { Asking } from './asking.ts';
import { readPromptParts } from './promptParts.ts';
import { isChosen, optionsOf, readMode, readOption, readSessionSettings, stateOf } from './sessionState.ts';

export interface AcpAgentDeps {
  readonly logger: Logger;
  readonly version: string;
  send(frame: string): void;
  /** `asks`: whether the client can answer questions. */
  openFolder(folder: string, asks: boolean): Promise<Result<AcpFolder>>;
  /** Resolves once a window has the folder open again; undefined: lost sessions stay lost. */
  reopened?(folder: string): Promise<void> | undefined;
}

/** The protocol's own error code for a resource that does not exist. */
const NOT_FOUND = -32002;

type Handlers = { readonly [M in AcpMethod]: (params: AcpParams<M>) => unknown };

/** An open folder, and what its sessions are asked. */
interface OpenFolder {
  readonly folder: AcpFolder;
  readonly asking: Asking;
}

export class AcpAgent implements Disposable {
  readonly #deps: AcpAgentDeps;
  readonly #peer: JsonRpcPeer;
  readonly #folders = new Map<string, Promise<OpenFolder>>();
  readonly #sessions = new Map<string, AcpSession>();
  /** Sessions whose folder was lost, with the reason. */
  readonly #lost = new Map<string, string>();
  /** Sessions that are being opened. */
  readonly #opening = new Map<string, Promise<void>>();
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
      const opened = await opening.catch(ignore);
      if (opened === undefined) continue;
      const sessions = [...this.#sessions.values()].filter(({ folder }) => folder === opened.folder);
      opened.asking.dispose();
      await opened.folder.close(sessions.map(({ id }) => id));
      for (const session of sessions) session.dispose();
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
      const opened = await this.#open(cwd);
      opened.folder.addServers(mcpServers);
      const { conversation: sessionId } = unwrap(await opened.folder.client.call('create', {}));
      return this.#announced(sessionId, async () => ({ sessionId, ...(await this.#join(opened, sessionId)) }));
    },
    'session/load': ({ cwd, sessionId, mcpServers }) => this.#load(cwd, sessionId, mcpServers, 0),
    'session/resume': ({ cwd, sessionId, mcpServers }) => this.#load(cwd, sessionId, mcpServers),
    'session/list': async ({ cwd }) => {
      const { folder } = await this.#open(cwd ?? process.cwd());
      const sessions = unwrap(await folder.client.call('list_conversations', {})).data.map(
        ({ id, title, last_activated_at: at }) => ({ sessionId: id, cwd: folder.folder, title, updatedAt: at }),
      );
      return { sessions };
    },
    'session/prompt': async ({ sessionId, prompt }) => {
      const session = this.#session(sessionId);
      const { client, isWindow } = session.folder;
      const message = unwrap(await readPromptParts(prompt, session.folder));
      const { turn } = unwrap(await client.call('send', { conversation: sessionId, ...message }));
      const { outcome, message: why = 'The turn failed.' } = await client.untilEnded(turn);
      // In a window somebody else may go on.
      if (!isWindow) await session.untilIdle();
      await session.sent();
      if (outcome === 'error') throw new JsonRpcError(SERVER_ERROR, why);
      return { stopReason: outcome === 'stopped' ? 'cancelled' : 'end_turn' };
    },
    'session/cancel': async ({ sessionId }) => {
      // Without a running turn there is nothing to stop.
      await this.#sessions.get(sessionId)?.folder.client.call('stop', { conversation: sessionId });
    },
    'session/close': async ({ sessionId }) => {
      const session = this.#session(sessionId);
      this.#sessions.delete(sessionId);
      await session.folder.client.call('stop', { conversation: sessionId });
      session.dispose();
      return {};
    },
    'session/set_mode': async ({ sessionId, modeId }) => {
      const session = this.#session(sessionId);
      const { mode } = await choose(session, readMode(modeId));
      session.update({ sessionUpdate: 'current_mode_update', currentModeId: mode });
      return {};
    },
    'session/set_config_option': async ({ sessionId, configId, value }) => {
      const session = this.#session(sessionId);
      const held = unwrap(await readSessionSettings(session.folder.client, sessionId));
      const configOptions = optionsOf(await choose(session, readOption(held, configId, value)));
      session.update({ sessionUpdate: 'config_option_update', configOptions });
      return { configOptions };
    },
    '_earshot/notify': async ({ sessionId, name, level, message }) => {
      const notification = { kind: { source: 'client', name }, level, message, conversation: sessionId };
      unwrap(await this.#session(sessionId).folder.client.call('notify', notification));
      return {};
    },
  };

  async #load(cwd: string, sessionId: string, servers: readonly ClientServer[], after?: number): Promise<object> {
    return this.#announced(sessionId, async () => {
      const opened = await this.#open(cwd);
      const listed = unwrap(await opened.folder.client.call('list_conversations', {})).data;
      if (!listed.some(({ id }) => id === sessionId))
        throw new JsonRpcError(NOT_FOUND, `There is no session ${sessionId.slice(0, 100)} in this folder.`);
      opened.folder.addServers(servers);
      return this.#join(opened, sessionId, after);
    });
  }

  /**
   * Holds back requests of the session, and its commands, until the reply is sent: before it, the client does not know
   * the session.
   */
  async #announced<T>(session: string, reply: () => Promise<T>): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#opening.set(session, promise);
    try {
      return await reply();
    } finally {
      setImmediate(() => {
        if (this.#opening.get(session) === promise) this.#opening.delete(session);
        resolve();
        this.#offerCommands(session);
      });
    }
  }

  #offerCommands(id: string): void {
    const session = this.#sessions.get(id);
    session?.update(async () => {
      const listed = await session.folder.client.call('complete', { trigger: '/', query: '' });
      const commands = listed.ok ? listed.value.data : [];
      const availableCommands = commands.map(({ name, detail }) => ({ name, description: detail }));
      return commands.length === 0 ? [] : [{ sessionUpdate: 'available_commands_update', availableCommands }];
    });
  }

  /** Opens a session of the folder. With `after`, the client gets the events after this number. */
  async #join({ folder, asking }: OpenFolder, id: string, after?: number): Promise<object> {
    const known = this.#sessions.get(id);
    const session = known?.folder === folder ? known : this.#newSession(id, folder);
    this.#sessions.set(id, session);
    unwrap(await session.open(after));
    this.#lost.delete(id);
    asking.askOpen();
    await session.sent();
    return stateOf(unwrap(await readSessionSettings(folder.client, id)));
  }

  #newSession(sessionId: string, folder: AcpFolder): AcpSession {
    return new AcpSession(sessionId, {
      folder,
      send: (update) => this.#peer.notify('session/update', { sessionId, update }),
      report: (what, error) => this.#deps.logger.error(what, error),
    });
  }

  #session(session: string): AcpSession {
    const opened = this.#sessions.get(session);
    if (opened !== undefined) return opened;
    const lost = this.#lost.get(session);
    throw lost === undefined
      ? new JsonRpcError(NOT_FOUND, `There is no open session ${session.slice(0, 100)}.`)
      : new JsonRpcError(SERVER_ERROR, lost);
  }

  /** Resolves links first: a folder must not be opened under two names, since its conversations have one writer. */
  async #open(folder: string): Promise<OpenFolder> {
    const place = await realpath(folder).catch(() => folder);
    const known = this.#folders.get(place);
    if (known !== undefined) return known;
    const opening = this.#openFolder(folder, place);
    this.#folders.set(place, opening);
    opening.catch(() => this.#folders.delete(place));
    return opening;
  }

  async #openFolder(path: string, place: string): Promise<OpenFolder> {
    const folder = unwrap(await this.#deps.openFolder(path, this.#asks));
    const report = (what: string, error: unknown) => this.#deps.logger.error(what, error);
    const { client, isWindow, effectOf } = folder;
    const asking = new Asking({
      ...{ client, effectOf, report, folder: folder.folder },
      // Without a window nobody else could answer.
      questions: this.#asks || !isWindow,
      isSession: (conversation) => this.#sessions.get(conversation)?.folder === folder,
      request: (session, method, params, signal) => this.#request(session, method, params, signal),
    });
    const lose = async () => {
      const reason = await client.ended;
      this.#folders.delete(place);
      asking.dispose();
      const lost = [...this.#sessions.values()].filter((session) => session.folder === folder);
      for (const session of lost) {
        this.#sessions.delete(session.id);
        this.#lost.set(session.id, reason);
        session.dispose();
      }
      await this.#rejoin(path, lost);
    };
    void lose().catch((error: unknown) => report('not joined again', error));
    return { folder, asking };
  }

  /** Opens the lost sessions of the folder again, with the events that the client has missed. */
  async #rejoin(folder: string, lost: readonly AcpSession[]): Promise<void> {
    const reopened = this.#deps.reopened?.(folder);
    if (reopened === undefined) return;
    await reopened;
    for (const { id, lastSeq } of lost) {
      if (this.#lost.has(id)) await this.#join(await this.#open(folder), id, lastSeq);
    }
  }

  /** Asks the client, after what it was sent before. Cancels the request when the signal is aborted. */
  async #request(session: string, method: string, params: object, signal: AbortSignal): Promise<unknown> {
    await this.#opening.get(session);
    await this.#sessions.get(session)?.sent();
    signal.throwIfAborted();
    const { id, answer } = this.#peer.ask(method, params);
    const cancel = () => this.#peer.notify('$/cancel_request', { requestId: id });
    signal.addEventListener('abort', cancel, { once: true });
    return answer.finally(() => signal.removeEventListener('abort', cancel));
  }
}

/** `wanted`: the choice, or why the request is not valid. In a window only the user chooses. */
async function choose({ id, folder: { client, isWindow } }: AcpSession, wanted: ConversationChoice | string) {
  if (typeof wanted === 'string') throw new JsonRpcError(INVALID_PARAMS, wanted);
  const held = unwrap(await readSessionSettings(client, id));
  if (isChosen(held, wanted)) return held;
  if (isWindow) unwrap(failed('setting', 'The session runs in a window of VS Code.', 'Change it in that window.'));
  unwrap(await client.call('choose', { conversation: id, ...wanted }));
  return unwrap(await readSessionSettings(client, id));
}

function isMethod(method: string): method is AcpMethod {
  return Object.hasOwn(acpSchemas, method);
}

function unwrap<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw new JsonRpcError(SERVER_ERROR, describeFailure(result.failure));
}
