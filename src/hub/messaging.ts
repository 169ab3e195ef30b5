// Sends, reads, edits and deletes messages, and marks them as read.
import { INVALID_PARAMS, JsonRpcError } from '../base/json/jsonRpc.ts';
import { type MessageCreate, MOST_BODY_BYTES, type Pair, type ThreadHead } from '../protocol/hub.ts';
import { type HubMessage, type HubParams, type HubResult, MOST_PAGE } from '../protocol/hubMethods.ts';
import {
  type Caller,
  type CallerMethods,
  commit,
  diskRefused,
  type HubContext,
  now,
  recordHead,
  refused,
} from './hubContext.ts';
import { type MessageIndex } from './index/messageIndex.ts';
import { parseCursor, printCursor } from './index/messageRows.ts';
import { previewOf } from './preview.ts';
import { messageFile } from './readRecords.ts';

const DEFAULT_PAGE = 50;
const LONGEST_TITLE = 200;

type Sending = HubParams<'message.send'>;
type Sent = HubResult<'message.send'>;

export class Messaging {
  readonly #context: HubContext;
  /** Messages that are being written, by agent and `client_id`, so that a repeated request does not send them twice. */
  readonly #byClientId = new Map<string, Promise<Sent>>();
  /** Threads that are being written, by the message that they start from, so that they are not started twice. */
  readonly #startedFrom = new Map<string, ThreadHead>();

  constructor(context: HubContext) {
    this.#context = context;
  }

  readonly methods: CallerMethods<`message.${'send' | 'get' | 'list' | 'edit' | 'delete' | 'markRead'}`> = {
    /** A repeated `client_id` of the same agent gets the same answer and creates no second message. */
    'message.send': async (_, caller, params) => {
      const { client_id: client } = params;
      if (client === undefined) return this.#send(caller, params);
      const key = `${caller.agent.name}\0${client}`;
      const sending = this.#byClientId.get(key);
      if (sending !== undefined) return sending;
      const sent = this.#send(caller, params).finally(() => this.#byClientId.delete(key));
      this.#byClientId.set(key, sent);
      return sent;
    },
    'message.get': async (_, { agent }, { message_id: id }) => {
      return { message: await this.#existing(id, agent.name) };
    },
    'message.list': async (context, { agent }, params) => {
      const { scope, thread_id: thread, author, unread, limit = DEFAULT_PAGE } = params;
      const mention = params.mention?.replace(/^@/, '');
      const filter = { scope, mention, thread, author, unread };
      const start = readCursor(params.after);
      return context.index.use((index) => {
        const page = index.list(filter, agent.name, Math.min(limit, MOST_PAGE), start);
        const last = page.more ? page.messages.at(-1)?.cursor : undefined;
        const after = last ?? printCursor(context.lastNumber());
        return { ...page, after, unread: index.unread(filter, agent.name) };
      });
    },
    'message.edit': async (_, caller, { message_id: id, content, structured }) => {
      limitBody(content, structured);
      const changed = await this.#change(caller, id, 'edit', { type: 'message.edit', content, structured });
      return { message_id: id, updated_at: changed.updated_at ?? changed.created_at, version: changed.version };
    },
    'message.delete': async (_, caller, { message_id: id }) => {
      const changed = await this.#change(caller, id, 'delete', { type: 'message.delete' });
      return { message_id: id, deleted_at: changed.updated_at ?? changed.created_at, version: changed.version };
    },
    'message.markRead': async (context, { agent }, { message_ids: ids }) => {
      const found = await context.index.use((index) =>
        [...new Set(ids)].map((id) => index.get(id, agent.name)).filter((message) => message !== undefined),
      );
      const unread = found.filter((message) => !message.is_read);
      if (unread.length === 0) return { marked: 0 };
      const messageIds = unread.map((message) => message.message_id);
      await commit(context, [
        { body: { type: 'read.mark', agent_id: agent.name, message_ids: messageIds }, undo: () => undefined },
      ]);
      for (const thread of new Set(unread.map((message) => message.thread_id))) {
        if (thread !== null) context.updates.changed(`${thread} ${agent.name}`);
      }
      return { marked: unread.length };
    },
  };

  async #send({ agent }: Caller, params: Sending): Promise<Sent> {
    const context = this.#context;
    const { client_id: client } = params;
    // One use of the index for all sends, so that they keep their order.
    const { known, thread } = await context.index.use((index) => {
      const found = client === undefined ? undefined : index.byClientId(agent.name, client);
      if (found !== undefined) return { known: found };
      limitBody(params.content, params.structured);
      return { thread: this.#threadFor(index, agent.name, params) };
    });
    if (known !== undefined) return describeSent(known.message_id, known.thread_id ?? undefined, known.created_at);
    const { name, role, module } = agent;
    const head = recordHead(context);
    const record: MessageCreate = {
      ...head,
      type: 'message.create',
      message_id: `msg_${context.ulid()}`,
      author: { agent_id: name, name, role, module },
      format: params.format ?? 'markdown',
      content: params.content,
      structured: params.structured,
      thread,
      reply_to: params.reply_to,
      scopes: distinct(params.scopes ?? []),
      refs: distinct([...(params.refs ?? []), ...(params.mentions ?? []).map(toMention)]),
      client_id: client,
    };
    try {
      await context.writer.append(messageFile(name), record);
    } catch (error) {
      throw diskRefused(error);
    } finally {
      if (thread?.root !== undefined) this.#startedFrom.delete(thread.root);
    }
    return describeSent(record.message_id, thread?.thread_id, head.timestamp);
  }

  /** The named thread, or the thread of the original message. A reply to a message without a thread starts one. */
  #threadFor(
    index: MessageIndex,
    author: string,
    { thread_id: named, reply_to: replyTo, content }: Sending,
  ): ThreadHead | undefined {
    if (named !== undefined) {
      const thread = index.thread(named);
      if (thread === undefined) throw badParam('thread_id: there is no such thread');
      return thread;
    }
    if (replyTo === undefined) return undefined;
    const original = index.get(replyTo, author);
    if (original === undefined) throw badParam('reply_to: there is no such message');
    if (original.thread_id !== null) return index.thread(original.thread_id);
    const started = this.#startedFrom.get(replyTo);
    if (started !== undefined) return started;
    const title = previewOf(original.body.content || content).slice(0, LONGEST_TITLE);
    const thread: ThreadHead = {
      thread_id: `thr_${this.#context.ulid()}`,
      title,
      created_by: author,
      created_at: now(this.#context),
      scopes: [...original.scopes],
      root: replyTo,
    };
    this.#startedFrom.set(replyTo, thread);
    return thread;
  }

  async #change(
    { agent }: Caller,
    id: string,
    verb: 'edit' | 'delete',
    body: { type: 'message.edit'; content: string; structured?: unknown } | { type: 'message.delete' },
  ): Promise<HubMessage> {
    const context = this.#context;
    const { name } = agent;
    const message = await this.#existing(id, name);
    if (message.author.agent_id !== name || message.author.machine !== undefined)
      throw refused(`only the author can ${verb} a message`);
    if (message.deleted) throw refused('this message was deleted');
    const record = { ...recordHead(context), message_id: id, author: name, ...body };
    try {
      await context.writer.append(messageFile(name), record);
    } catch (error) {
      throw diskRefused(error);
    }
    return this.#existing(id, name);
  }

  async #existing(id: string, reader: string): Promise<HubMessage> {
    const message = await this.#context.index.use((index) => index.get(id, reader));
    if (message === undefined) throw refused('message_id: there is no such message');
    return message;
  }
}

export function readCursor(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined;
  const n = parseCursor(cursor);
  if (n === undefined) throw badParam('after: this is not a cursor of this hub');
  return n;
}

function badParam(message: string): JsonRpcError {
  return new JsonRpcError(INVALID_PARAMS, message);
}

function limitBody(content: string, structured: unknown): void {
  const size =
    Buffer.byteLength(content) + (structured === undefined ? 0 : Buffer.byteLength(JSON.stringify(structured)));
  if (size > MOST_BODY_BYTES) {
    throw badParam(
      `content: content and structured have ${size} bytes together; at most ${MOST_BODY_BYTES} are allowed`,
    );
  }
}

function toMention(name: string): Pair {
  return { type: 'mention', value: name.replace(/^@/, '') };
}

function distinct(pairs: readonly Pair[]): Pair[] {
  return [...new Map(pairs.map((pair) => [`${pair.type}\0${pair.value}`, pair])).values()];
}

function describeSent(messageId: string, thread: string | undefined, createdAt: string): Sent {
  return { message_id: messageId, thread_id: thread, created_at: createdAt };
}
