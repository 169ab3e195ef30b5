// Sends, reads and lists messages for an agent. Waits while the hub moves to another process.
import * as z from 'zod';
import { within } from '../../base/async.ts';
import { type Clock } from '../../base/clock.ts';
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { type HubCode } from '../../base/failureCodes.ts';
import { JsonRpcError } from '../../base/json/jsonRpc.ts';
import { type HubMessage } from '../../protocol/hub.ts';
import { type HubAgent } from '../client/hubAgent.ts';
import { parseCursor } from '../index/messageRows.ts';

const WAIT_FOR_HUB = 15_000;
const PAGE = 100;

const sentSchema = z.object({ message_id: z.string() });
const agentsSchema = z.object({
  agents: z.array(
    z.object({
      agent_id: z.string(),
      role: z.string(),
      display: z.string(),
      machine: z.string().optional(),
      live: z.boolean(),
      last_seen_at: z.string(),
    }),
  ),
});
export type HubAgentInfo = z.infer<typeof agentsSchema>['agents'][number];

export interface HubMessagesDeps {
  readonly agent: HubAgent;
  readonly clock: Clock;
  ulid(): string;
}

export interface Sending {
  readonly content: string;
  /** Names of agents or roles. */
  readonly to: readonly string[];
  /** Files that the message is about, as scopes name them. */
  readonly files: readonly string[];
  readonly replyTo?: string | undefined;
}

export interface Sent {
  readonly id: string;
  readonly to: readonly string[];
  /** Recipients that are not connected. */
  readonly absent: readonly string[];
}

export class HubMessages {
  readonly #deps: HubMessagesDeps;

  constructor(deps: HubMessagesDeps) {
    this.#deps = deps;
  }

  /** Repeats a request without an answer with the same `client_id`, so that it creates only one message. */
  async send({ content, to, files, replyTo }: Sending, signal?: AbortSignal): Promise<Result<Sent, HubCode>> {
    const listed = await this.agents(signal);
    if (!listed.ok) return listed;
    const original = replyTo === undefined ? undefined : await this.#get(replyTo, signal);
    if (original?.ok === false) return original;
    const own = this.#deps.agent.name;
    const author = original?.value.author.agent_id;
    const mentions = [...new Set([...to.map(withoutAt), ...(author === undefined ? [] : [author])])];
    const others = mentions.filter((name) => name !== own);
    const unknown = others.find((name) =>
      listed.value.every(({ agent_id, role }) => agent_id !== name && role !== name),
    );
    if (unknown !== undefined) return noAgent(unknown, listed.value, own);
    const sent = await this.#call(
      'message.send',
      {
        content,
        client_id: this.#deps.ulid(),
        ...(others.length > 0 && { mentions: others }),
        ...(files.length > 0 && { scopes: files.map((value) => ({ type: 'file', value })) }),
        ...(replyTo !== undefined && { reply_to: replyTo }),
      },
      signal,
    );
    if (!sent.ok) return sent;
    const absent = listed.value.filter(({ agent_id, live }) => others.includes(agent_id) && !live);
    return succeeded({
      id: sentSchema.parse(sent.value).message_id,
      to: others,
      absent: absent.map(({ agent_id }) => agent_id),
    });
  }

  /** Returns the whole message and marks it as read. */
  async read(id: string): Promise<Result<HubMessage, HubCode>> {
    const got = await this.#get(id);
    if (got.ok) await this.markRead([id]);
    return got;
  }

  async markRead(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.#call('message.markRead', { message_ids: ids });
  }

  /** The newest unread messages for this agent, oldest first. */
  async unread(): Promise<Result<readonly HubMessage[], HubCode>> {
    const { agent } = this.#deps;
    const found = new Map<string, HubMessage>();
    // Mentions are queried separately, so that many other messages do not hide them.
    const filters = [...agent.mentionedAs.map((mention) => ({ mention })), {}];
    for (const filter of filters) {
      const listed = await this.#call('message.list', { ...filter, unread: true, limit: PAGE });
      if (!listed.ok) return listed;
      const { messages } = listed.value as { messages: readonly HubMessage[] };
      for (const message of messages) if (agent.match(message) !== undefined) found.set(message.message_id, message);
    }
    return succeeded([...found.values()].sort((a, b) => position(a.cursor) - position(b.cursor)));
  }

  async agents(signal?: AbortSignal): Promise<Result<readonly HubAgentInfo[], HubCode>> {
    const listed = await this.#call('agent.list', {}, signal);
    return listed.ok ? succeeded(agentsSchema.parse(listed.value).agents) : listed;
  }

  async #get(id: string, signal?: AbortSignal): Promise<Result<HubMessage, HubCode>> {
    const got = await this.#call('message.get', { message_id: id }, signal);
    if (!got.ok) return got.failure.code === 'hub_refused' ? noMessage(id) : got;
    return succeeded((got.value as { message: HubMessage }).message);
  }

  async #call(method: string, params: object, signal?: AbortSignal): Promise<Result<unknown, HubCode>> {
    const { agent, clock } = this.#deps;
    const over = new AbortController();
    const answer = callUntilAnswered(agent, method, params, over.signal);
    try {
      return (await within(clock, WAIT_FOR_HUB, answer, signal)) ?? absent();
    } finally {
      over.abort();
    }
  }
}

/** Sends the request again after the connection ended before the answer came, until `over`. */
async function callUntilAnswered(
  agent: HubAgent,
  method: string,
  params: object,
  over: AbortSignal,
): Promise<Result<unknown, HubCode>> {
  for (;;) {
    await agent.connected();
    if (agent.isDisposed || over.aborted) return absent();
    try {
      return succeeded(await agent.call(method, params));
    } catch (error) {
      if (error instanceof JsonRpcError) return failed('hub_refused', `The hub refused it: ${error.message}.`);
      // The request fails shortly before the agent notices the end of its connection.
      await agent.disconnected();
    }
  }
}

function position(cursor: string): number {
  return parseCursor(cursor) ?? 0;
}

function withoutAt(name: string): string {
  return name.replace(/^@/, '');
}

function absent(): Result<never, HubCode> {
  return failed('hub_absent', 'The hub cannot be reached.', 'Try again later.');
}

function noMessage(id: string): Result<never, HubCode> {
  return failed('no_message', `There is no message ${id.slice(0, 100)}.`);
}

function noAgent(name: string, agents: readonly HubAgentInfo[], own: string | undefined): Result<never, HubCode> {
  const live = agents.filter((agent) => agent.live && agent.agent_id !== own).slice(0, 20);
  const names = live.map(({ agent_id, role }) => (role === '' ? agent_id : `${agent_id} (${role})`));
  const known = names.length === 0 ? 'No other agent is connected.' : `Connected agents: ${names.join(', ')}.`;
  return failed('no_agent', `No agent and no role is called ${name.slice(0, 100)}.`, known);
}
