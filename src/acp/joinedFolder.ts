// Sessions in a window of VS Code: its conversations, followed and driven through the window's socket (WIRE D).
import { DisposableStore } from '../base/disposable.ts';
import { describeError, failed, type Result, succeeded } from '../base/errors.ts';
import { type GivenAttachment } from '../core/agent/userText.ts';
import { RemoteRequests } from '../core/client/remoteRequests.ts';
import { type LogEvent, readWritten } from '../protocol/event.ts';
import { type ClientServer } from '../protocol/outside/acp.ts';
import { type ConversationChoice } from '../protocol/page/controlsView.ts';
import {
  type HostMessageOf,
  type HostReplies,
  LONGEST_LINE,
  type QueryCompleteData,
  queryCompleteSchema,
  type RequestFields,
} from '../protocol/plugin.ts';
import { readSettings } from '../protocol/settings.ts';
import { notFound } from './headlessFolder.ts';
import {
  type ClientNotification,
  type FolderListener,
  type ListedSession,
  type SessionFolder,
  type SessionSettings,
  type SlashCommand,
} from './sessionFolder.ts';
import { modelsOf } from './sessionState.ts';
import { type UpdateDeps } from './updates.ts';

type WindowEvent = HostMessageOf<'event'>;

/** A connection to a window. A request rejects if the window refuses it or is gone. */
interface WindowConnection {
  request<T extends keyof HostReplies>(type: T, fields: RequestFields<T>): Promise<HostReplies[T]>;
  /** Ends the connection. */
  end(): void;
}

interface JoinedFolderDeps extends Pick<UpdateDeps, 'snapshots' | 'effectOf' | 'traitsOf'> {
  readonly folder: string;
  readonly window: WindowConnection;
  readonly listener: FolderListener;
  /** The client can answer questions. */
  readonly asks: boolean;
  warn(message: string): void;
  report(what: string, error: unknown): void;
}

const GONE = 'The window of VS Code was closed.';
const NEXT = 'Open it again and the session goes on, or start a new session without it.';
/** Limit of a prompt in JSON, far below the limit of a line in bytes. */
const MOST_CHARACTERS = LONGEST_LINE / 4;

type Field = 'message' | 'reasoning';

export class JoinedFolder implements SessionFolder {
  readonly folder: string;
  readonly snapshots: UpdateDeps['snapshots'];
  readonly effectOf: UpdateDeps['effectOf'];
  readonly traitsOf: UpdateDeps['traitsOf'];
  readonly #deps: JoinedFolderDeps;
  readonly #subscribed = new Set<string>();
  /** Ends of turns that no prompt has waited for yet, by turn id. */
  readonly #ended = new Map<string, QueryCompleteData>();
  /** Prompts that wait for the end of their turn, by turn id. */
  readonly #waiting = new Map<string, (end: QueryCompleteData) => void>();
  /** The requests that are open in the window, too; the first answer counts. */
  readonly #requests: RemoteRequests;
  readonly #held = new DisposableStore();
  /** The answer that is being streamed in each session, and how many characters of each part the client has. */
  readonly #shown = new Map<string, { readonly response: string; readonly lengths: Record<Field, number> }>();

  constructor(deps: JoinedFolderDeps) {
    this.#deps = deps;
    this.folder = deps.folder;
    this.snapshots = deps.snapshots;
    this.effectOf = deps.effectOf;
    this.traitsOf = deps.traitsOf;
    this.#requests = new RemoteRequests({
      respond: (fields) => deps.window.request('respond', fields),
      subscriptionOf: (conversation) => conversation,
      report: (error) => deps.report('a request of the window could not be shown', error),
    });
    const { frontend } = deps.listener;
    this.#held.add(frontend.follow(this.#requests, { questions: deps.asks }));
    const started = this.#requests.onDidChange(({ type, open, answer }) => {
      if (type !== 'closed' || answer === undefined || !('action' in answer) || answer.action === 'reject') return;
      frontend.render(open.conversation, { type: 'tool_started', call: open.id });
    });
    this.#held.add(started);
  }

  /** The window removes the key from its events. */
  keyOf(): string {
    return '';
  }

  async settings(session: string): Promise<SessionSettings> {
    const { data } = await this.#deps.window.request('read_config', {});
    const { current } = await this.#deps.window.request('list_models', { conversation: session });
    const config = data as Readonly<Record<string, unknown>>;
    const { settings } = readSettings((name) => config[name]);
    const { mode = settings.mode, approvals = settings['approvals.mode'], efforts, effort } = current;
    const { reference: model = settings.model } = current;
    return { ...settings, model, mode, 'approvals.mode': approvals, models: modelsOf(settings), efforts, effort };
  }

  /** Only the user chooses in a window; a program that is attached to it cannot. */
  async choose(session: string, { mode, approvals, model, effort }: ConversationChoice): Promise<Result<void>> {
    const held = await this.settings(session);
    const isSame =
      (mode ?? held.mode) === held.mode &&
      (approvals ?? held['approvals.mode']) === held['approvals.mode'] &&
      (model ?? held.model) === held.model &&
      (effort ?? held.effort) === held.effort;
    if (isSame) return succeeded(undefined);
    return failed('setting', 'The session runs in a window of VS Code.', 'Change it in that window.');
  }

  /** The servers of the client are not used: a window has its own. */
  addServers(servers: readonly ClientServer[]): void {
    const names = servers.map(({ name }) => name).join(', ');
    if (names !== '') this.#deps.warn(`MCP servers of the client are not used in a window of VS Code: ${names}`);
  }

  /** The window does not list its commands. It still expands what the user writes after a slash. */
  async commands(): Promise<readonly SlashCommand[]> {
    return [];
  }

  create(): Promise<Result<string>> {
    return this.#try(async () => {
      const { conversation } = await this.#deps.window.request('create', {});
      await this.#subscribe(conversation, 0);
      return conversation;
    });
  }

  list(): Promise<Result<readonly ListedSession[]>> {
    return this.#try(async () => {
      const { data } = await this.#deps.window.request('list_conversations', {});
      return data.map(({ id, title, last_activated_at: at }) => ({ id, title: title ?? '', at }));
    });
  }

  async open(session: string): Promise<Result<readonly LogEvent[]>> {
    const listed = await this.list();
    if (!listed.ok) return listed;
    if (!listed.value.some(({ id }) => id === session)) return notFound(session);
    return this.#try(async () => {
      const { data } = await this.#deps.window.request('read_events', { conversation: session });
      const events = data.flatMap((one) => readEvent(one) ?? []);
      await this.#subscribe(session, Number(data.at(-1)?.['seq'] ?? 0));
      return events;
    });
  }

  async prompt(session: string, content: string, given: readonly GivenAttachment[]) {
    const attachments = given.flatMap((one) => (one.type === 'file' || one.type === 'file_content' ? [one] : []));
    if (attachments.length < given.length) {
      return failed('plugin', 'An image cannot be sent to a window of VS Code.', 'Attach it in that window.');
    }
    if (JSON.stringify([content, attachments]).length > MOST_CHARACTERS) {
      return failed('too_large', 'The prompt is too long for a window of VS Code.', 'Link the files instead.');
    }
    return this.#try(async () => {
      const { turn } = await this.#deps.window.request('query', { conversation: session, content, attachments });
      const { outcome, message } = await this.#untilEnded(turn);
      if (outcome === 'error') throw new Error(message ?? 'The turn failed.');
      return { stopped: outcome === 'stopped' };
    });
  }

  async stop(session: string): Promise<void> {
    await this.#try(() => this.#deps.window.request('cancel_query', { conversation: session }));
  }

  async notify(session: string, { name, level, message }: ClientNotification): Promise<Result<void>> {
    const kind = { source: 'client', name };
    const sent = await this.#try(() =>
      this.#deps.window.request('notify', { kind, level, message, conversation: session }),
    );
    return sent.ok ? succeeded(undefined) : sent;
  }

  async close(): Promise<void> {
    this.#held.dispose();
    this.#deps.window.end();
  }

  receive(event: WindowEvent): void {
    const { data, seq } = event;
    if (event.partial !== undefined) this.#showPiece(event);
    else if (seq !== undefined) this.#log(event);
    else if (data.type === 'query_complete') this.#queryComplete(data);
    else this.#requests.receive(event);
  }

  /** The connection has ended. */
  gone(): void {
    this.#held.dispose();
    for (const turn of this.#waiting.keys()) {
      this.#complete({ type: 'query_complete', turn, outcome: 'error', message: `${GONE} ${NEXT}` });
    }
    this.#deps.listener.lost(`${GONE} ${NEXT}`);
  }

  async #subscribe(conversation: string, since: number): Promise<void> {
    if (this.#subscribed.has(conversation)) return;
    this.#subscribed.add(conversation);
    try {
      await this.#deps.window.request('subscribe', { sub_id: conversation, conversation, since });
    } catch (error) {
      this.#subscribed.delete(conversation);
      throw error;
    }
  }

  #untilEnded(turn: string): Promise<QueryCompleteData> {
    const ended = this.#ended.get(turn);
    this.#ended.delete(turn);
    return ended === undefined ? new Promise((resolve) => this.#waiting.set(turn, resolve)) : Promise.resolve(ended);
  }

  #queryComplete(data: WindowEvent['data']): void {
    const end = queryCompleteSchema.safeParse(data);
    if (end.success) this.#complete(end.data);
    else this.#deps.warn('The window of VS Code sent an end of a turn that cannot be read.');
  }

  #complete(end: QueryCompleteData): void {
    const waiting = this.#waiting.get(end.turn);
    this.#waiting.delete(end.turn);
    if (waiting === undefined) this.#ended.set(end.turn, end);
    else waiting(end);
  }

  /** Shows only the rest of an answer that its pieces have not shown. */
  #log({ conversation, data, response }: WindowEvent): void {
    const event = readEvent(data);
    if (event === undefined) return;
    if (event.type === 'chat_response') {
      const shown = this.#shown.get(conversation);
      const lengths = shown !== undefined && shown.response === response ? shown.lengths : { message: 0, reasoning: 0 };
      this.#show(conversation, 'reasoning', (event.reasoning ?? '').slice(lengths.reasoning));
      this.#show(conversation, 'message', (event.message ?? '').slice(lengths.message));
      this.#shown.delete(conversation);
    }
    this.#deps.listener.event(conversation, event);
  }

  /** Ignores pieces after a dropped one: the complete answer brings their text. */
  #showPiece({ conversation, data, partial }: WindowEvent): void {
    if (partial === undefined) return;
    const { response, offset } = partial;
    const field = typeof data['message'] === 'string' ? 'message' : 'reasoning';
    const text = data[field];
    if (typeof text !== 'string') return;
    const known = this.#shown.get(conversation);
    const shown = known?.response === response ? known : { response, lengths: { message: 0, reasoning: 0 } };
    this.#shown.set(conversation, shown);
    if (offset !== shown.lengths[field]) return;
    shown.lengths[field] += text.length;
    this.#show(conversation, field, text);
  }

  #show(session: string, field: Field, text: string): void {
    if (text === '') return;
    const part = { type: 'answer_text', id: '', field: field === 'message' ? 'text' : 'reasoning', text } as const;
    this.#deps.listener.frontend.render(session, part);
  }

  async #try<T>(work: () => Promise<T>): Promise<Result<T>> {
    try {
      return succeeded(await work());
    } catch (error) {
      return failed('plugin', describeError(error));
    }
  }
}

/** Undefined: this version does not know the event. */
function readEvent(data: Readonly<Record<string, unknown>>): LogEvent | undefined {
  const read = readWritten({ v: 1, ...data });
  return read.kind === 'event' ? read.event : undefined;
}
