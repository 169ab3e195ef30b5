// Earshot as an agent of the Agent Client Protocol (version 1): sessions are conversations, each folder has its own Earshot.
import { realpath } from 'node:fs/promises';
import { type Disposable, DisposableStore } from '../base/disposable.ts';
import { describeFailure, type Failure, type Result } from '../base/errors.ts';
import { INVALID_PARAMS, JsonRpcError, JsonRpcPeer, METHOD_NOT_FOUND, SERVER_ERROR } from '../base/jsonRpc.ts';
import { type LiveConversation } from '../core/conversation/liveConversation.ts';
import { type Earshot } from '../core/earshot.ts';
import { type AttachedFrontend } from '../core/frontend/frontends.ts';
import { type Logger } from '../core/ports/ports.ts';
import { type Snapshots, type Store } from '../core/ports/storage.ts';
import { ACP_VERSION, type AcpMethod, type AcpParams, acpSchemas } from '../protocol/outside/acp.ts';
import { describeIssue } from '../protocol/describeIssue.ts';
import { type LogEvent } from '../protocol/event.ts';
import { APPROVAL_MODES, MODES } from '../protocol/page/controlsView.ts';
import { scopeOf } from '../protocol/scopes.ts';
import { type Settings } from '../protocol/settings.ts';
import { ClientFrontend } from './frontend.ts';
import { readPromptParts } from './promptParts.ts';
import { type SessionUpdate, startedUpdate, type UpdateDeps, updatesOf } from './updates.ts';

/** Earshot for one folder, without an editor. */
export interface FolderAgent {
  readonly folder: string;
  readonly earshot: Earshot;
  readonly store: Pick<Store, 'list' | 'read'>;
  readonly snapshots: Pick<Snapshots, 'get'>;
  settings(): Settings;
  set(changed: Partial<Settings>): void;
  /** Ends every turn and closes every file. */
  close(): Promise<void>;
}

export interface AcpAgentDeps {
  readonly logger: Logger;
  readonly version: string;
  send(frame: string): void;
  /** `asks`: the client can answer questions. */
  openFolder(folder: string, frontend: AttachedFrontend, asks: boolean): Promise<Result<FolderAgent>>;
}

interface OpenFolder {
  readonly agent: FolderAgent;
  readonly updates: Omit<UpdateDeps, 'key'>;
}

type Handlers = { readonly [M in AcpMethod]: (params: AcpParams<M>) => unknown };

export class AcpAgent implements Disposable {
  readonly #deps: AcpAgentDeps;
  readonly #peer: JsonRpcPeer;
  readonly #held = new DisposableStore();
  readonly #folders = new Map<string, Promise<OpenFolder>>();
  readonly #sessions = new Map<string, OpenFolder>();
  /** Updates of a session are sent in order, although some have to be read from disk. */
  readonly #sending = new Map<string, Promise<void>>();
  /** Calls that the client knows; those that began before it did are announced first. */
  readonly #announced = new Set<string>();
  readonly #early = new Set<string>();
  #asks = false;

  constructor(deps: AcpAgentDeps) {
    this.#deps = deps;
    this.#peer = new JsonRpcPeer({
      send: (frame) => deps.send(frame),
      handle: (method, params) => this.#handle(method, params),
      report: (error) => deps.logger.error('a request of the client failed unexpectedly', error),
    });
  }

  receive(line: string): void {
    this.#peer.receive(line);
  }

  async close(): Promise<void> {
    this.#peer.close('the client is gone');
    this.dispose();
    for (const opening of this.#folders.values()) {
      const opened = await opening.catch(() => undefined);
      await opened?.agent.close();
    }
  }

  dispose(): void {
    this.#held.dispose();
  }

  #handle(method: string, params: unknown): unknown {
    if (!isMethod(method)) throw new JsonRpcError(METHOD_NOT_FOUND, `unknown method ${method.slice(0, 100)}`);
    const parsed = acpSchemas[method].safeParse(params ?? {});
    if (!parsed.success) throw new JsonRpcError(INVALID_PARAMS, describeIssue(parsed.error));
    // The table gives each method the parameters that its own schema has let through.
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
          promptCapabilities: { image: true, embeddedContext: true },
          sessionCapabilities: { list: {}, resume: {} },
        },
        authMethods: [],
      };
    },
    authenticate: () => ({}),
    'session/new': async ({ cwd }) => {
      const opened = await this.#open(cwd);
      const created = unwrap(await opened.agent.earshot.create());
      this.#sessions.set(created.log.id, opened);
      return { sessionId: created.log.id, ...stateOf(opened) };
    },
    'session/load': async ({ cwd, sessionId }) => {
      const opened = await this.#join(cwd, sessionId);
      const { events } = unwrap(await opened.agent.store.read(sessionId));
      for (const event of events) this.#forward(opened, sessionId, event, true);
      await this.#sending.get(sessionId);
      return stateOf(opened);
    },
    'session/resume': async ({ cwd, sessionId }) => stateOf(await this.#join(cwd, sessionId)),
    'session/list': async ({ cwd }) => {
      const { agent } = await this.#open(cwd ?? process.cwd());
      const sessions = unwrap(await agent.store.list()).map(({ id, title, lastActivity }) => ({
        sessionId: id,
        cwd: agent.folder,
        title: title === '' ? null : title,
        updatedAt: new Date(lastActivity).toISOString(),
      }));
      return { sessions };
    },
    'session/prompt': ({ sessionId, prompt }) => this.#prompt(sessionId, prompt),
    'session/cancel': ({ sessionId }) => this.#sessions.get(sessionId)?.agent.earshot.stop(sessionId),
    'session/set_mode': ({ sessionId, modeId }) => {
      const mode = MODES.find((one) => one === modeId);
      if (mode === undefined) throw new JsonRpcError(INVALID_PARAMS, `modeId: must be one of ${MODES.join(', ')}`);
      const opened = this.#session(sessionId);
      opened.agent.set({ mode });
      for (const [session, of] of this.#sessions) {
        const update = { sessionUpdate: 'current_mode_update', currentModeId: mode };
        if (of === opened) this.#queue(session, async () => [update]);
      }
      return {};
    },
    'session/set_config_option': ({ sessionId, configId, value }) => {
      const mode = APPROVAL_MODES.find((one) => one === value);
      if (configId !== APPROVALS) throw new JsonRpcError(INVALID_PARAMS, `configId: must be ${APPROVALS}`);
      if (mode === undefined) {
        throw new JsonRpcError(INVALID_PARAMS, `value: must be one of ${APPROVAL_MODES.join(', ')}`);
      }
      const opened = this.#session(sessionId);
      opened.agent.set({ 'approvals.mode': mode });
      return { configOptions: optionsOf(opened) };
    },
    '_earshot/notify': async ({ sessionId, name, level, message }) => {
      const { earshot } = this.#session(sessionId).agent;
      const draft = {
        kind: { source: 'client', name },
        // A client cannot interrupt the model by itself.
        level: level === 'critical' ? ('error' as const) : level,
        message,
        scopes: [scopeOf('conversation', sessionId)],
        origin: 'plugin' as const,
        at: new Date().toISOString(),
      };
      await earshot.publish(draft, sessionId);
      return {};
    },
  };

  async #prompt(session: string, parts: AcpParams<'session/prompt'>['prompt']): Promise<object> {
    const opened = this.#session(session);
    const { earshot, folder } = opened.agent;
    const { text, attachments } = readPromptParts(parts, folder);
    unwrap(await earshot.send(session, text, { attachments }));
    const { turn } = conversationOf(opened, session).log.state;
    await earshot.settled(session);
    await this.#sending.get(session);
    if (turn.outcome === 'error') throw new JsonRpcError(SERVER_ERROR, this.#failureOf(session));
    return { stopReason: turn.outcome === 'stopped' ? 'cancelled' : 'end_turn' };
  }

  /** By session: why its last turn failed. */
  readonly #failures = new Map<string, Failure>();

  #failureOf(session: string): string {
    const failure = this.#failures.get(session);
    return failure === undefined ? 'The turn failed.' : describeFailure(failure);
  }

  /** Opens a conversation of the folder; another process may own it. */
  async #join(cwd: string, session: string): Promise<OpenFolder> {
    const opened = await this.#open(cwd);
    const known = unwrap(await opened.agent.store.list()).some(({ id }) => id === session);
    if (!known && opened.agent.earshot.get(session) === undefined) throw notFound(session);
    unwrap(await opened.agent.earshot.open(session));
    this.#sessions.set(session, opened);
    return opened;
  }

  #session(session: string): OpenFolder {
    const opened = this.#sessions.get(session);
    if (opened === undefined) throw notFound(session);
    return opened;
  }

  /** Two names of one folder are the same Earshot: its conversations have one writer. */
  async #open(folder: string): Promise<OpenFolder> {
    const place = await realpath(folder).catch(() => folder);
    const known = this.#folders.get(place);
    if (known !== undefined) return known;
    const opening = this.#openFolder(folder);
    this.#folders.set(place, opening);
    opening.catch(() => this.#folders.delete(place));
    return opening;
  }

  async #openFolder(folder: string): Promise<OpenFolder> {
    /** Once it is there; its front end is made before it. */
    const made: { agent?: FolderAgent } = {};
    const effectOf = (tool: string) => made.agent?.earshot.tools.known(tool)?.effect;
    const traitsOf = (tool: string) => made.agent?.earshot.tools.traits(tool);
    const client = {
      update: (session: string, update: SessionUpdate) => this.#queue(session, async () => [update]),
      started: (session: string, call: string) => this.#started(session, call),
      request: (method: string, params: object) => this.#peer.request(method, params),
    };
    const frontend = new ClientFrontend(client, { effectOf, folder });
    const agent = unwrap(await this.#deps.openFolder(folder, frontend, this.#asks));
    made.agent = agent;
    const { snapshots, earshot } = agent;
    const opened: OpenFolder = { agent, updates: { folder, snapshots, effectOf, traitsOf } };
    this.#held.add(
      earshot.onDidChange(({ conversation, folded }) => {
        if (folded === undefined || this.#sessions.get(conversation) !== opened) return;
        const { event } = folded;
        if (event.type === 'turn_ended' && event.failure !== undefined)
          this.#failures.set(conversation, event.failure as Failure);
        this.#forward(opened, conversation, event, false);
      }),
    );
    return opened;
  }

  #forward(opened: OpenFolder, session: string, event: LogEvent, replay: boolean): void {
    const key = () => conversationOf(opened, session).log.state.turn.key;
    this.#queue(session, () => updatesOf(event, { ...opened.updates, key }, replay));
    if (event.type !== 'tool_call_request' || replay) return;
    this.#announced.add(event.id);
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

const APPROVALS = 'approvals';
const APPROVAL_NAMES: Readonly<Record<Settings['approvals.mode'], string>> = {
  ask: 'Ask for everything',
  reads: 'Allow reads',
  edits: 'Allow reads and edits',
  all: 'Allow everything',
};

function stateOf(opened: OpenFolder): object {
  const { mode } = opened.agent.settings();
  return {
    modes: {
      currentModeId: mode,
      availableModes: [
        { id: 'agent', name: 'Agent', description: 'All tools' },
        { id: 'plan', name: 'Plan', description: 'Only tools that read' },
      ],
    },
    configOptions: optionsOf(opened),
  };
}

function optionsOf({ agent }: OpenFolder): readonly object[] {
  const currentValue = agent.settings()['approvals.mode'];
  const options = APPROVAL_MODES.map((value) => ({ value, name: APPROVAL_NAMES[value] }));
  return [{ type: 'select', id: APPROVALS, name: 'Approvals', currentValue, options }];
}

function conversationOf({ agent }: OpenFolder, session: string): LiveConversation {
  const live = agent.earshot.get(session);
  if (live === undefined) throw notFound(session);
  return live;
}

function isMethod(method: string): method is AcpMethod {
  return Object.hasOwn(acpSchemas, method);
}

function notFound(session: string): JsonRpcError {
  return new JsonRpcError(INVALID_PARAMS, `sessionId: there is no session ${session}`);
}

function unwrap<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw new JsonRpcError(SERVER_ERROR, describeFailure(result.failure));
}
