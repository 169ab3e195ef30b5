// Sends, reads and lists messages as one agent. Waits while the hub moves to another process.
import * as z from 'zod';
import { within } from '../../base/async.ts';
import { type Clock } from '../../base/clock.ts';
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { type HubCode } from '../../base/failureCodes.ts';
import { JsonRpcError } from '../../base/json/jsonRpc.ts';
import {
  type ListedAgent,
  type MessagingAgent,
  type OutgoingMessage,
  type SentMessage,
} from '../../core/ports/agentHub.ts';
import {
  type HubMessage,
  type HubMethod,
  type HubParams,
  type HubResult,
  type ListedHubAgent,
} from '../../protocol/hubMethods.ts';
import { type HubAgent, position } from './hubAgent.ts';

const WAIT_FOR_HUB = 15_000;
const PAGE = 100;

export interface AgentMessagesDeps {
  readonly agent: HubAgent;
  readonly clock: Clock;
  ulid(): string;
  /** Converts a path to the form that scopes on this hub use. */
  toScope(path: string): string;
}

export class AgentMessages implements MessagingAgent {
  readonly #deps: AgentMessagesDeps;

  constructor(deps: AgentMessagesDeps) {
    this.#deps = deps;
  }

  async send(
    { content, to, files, replyTo }: OutgoingMessage,
    signal?: AbortSignal,
  ): Promise<Result<SentMessage, HubCode>> {
    const { ulid, toScope } = this.#deps;
    const listed = await this.#call('agent.list', {}, signal);
    if (!listed.ok) return listed;
    const original = replyTo === undefined ? undefined : await this.#get(replyTo, signal);
    if (original?.ok === false) return original;
    const own = this.#deps.agent.name;
    const author = original?.value.author.agent_id;
    const mentions = [...new Set([...to.map(withoutAt), ...(author === undefined ? [] : [author])])];
    const others = mentions.filter((name) => name !== own);
    const { agents } = listed.value;
    const unknown = others.find((name) => agents.every(({ agent_id, role }) => agent_id !== name && role !== name));
    if (unknown !== undefined) return noAgent(unknown, agents, own);
    const scopes = files.map((path) => ({ type: 'file', value: toScope(path) }));
    const message = { content, client_id: ulid(), mentions: others, scopes, reply_to: replyTo };
    const sent = await this.#call('message.send', message, signal);
    if (!sent.ok) return sent;
    const absent = agents.filter(({ agent_id, live }) => others.includes(agent_id) && !live);
    return succeeded({ id: sent.value.message_id, to: others, absent: absent.map(({ agent_id }) => agent_id) });
  }

  async read(id: string): Promise<Result<HubMessage, HubCode>> {
    const got = await this.#get(id);
    if (got.ok) await this.markRead([id]);
    return got;
  }

  async markRead(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.#call('message.markRead', { message_ids: ids });
  }

  async unread(): Promise<Result<readonly HubMessage[], HubCode>> {
    const { agent } = this.#deps;
    const found = new Map<string, HubMessage>();
    // Mentions are queried separately, so that many other messages do not hide them.
    const filters = [...agent.mentionedAs.map((mention) => ({ mention })), {}];
    for (const filter of filters) {
      const listed = await this.#call('message.list', { ...filter, unread: true, limit: PAGE });
      if (!listed.ok) return listed;
      for (const message of listed.value.messages)
        if (agent.match(message) !== undefined) found.set(message.message_id, message);
    }
    return succeeded([...found.values()].sort((a, b) => position(a.cursor) - position(b.cursor)));
  }

  async agents(): Promise<Result<readonly ListedAgent[], HubCode>> {
    const listed = await this.#call('agent.list', {});
    if (!listed.ok) return listed;
    return succeeded(
      listed.value.agents.map(({ agent_id: name, last_seen_at: lastSeen, role, display, machine, live }) => ({
        name,
        role,
        display,
        machine,
        live,
        lastSeen,
        own: name === this.#deps.agent.name,
      })),
    );
  }

  async #get(id: string, signal?: AbortSignal): Promise<Result<HubMessage, HubCode>> {
    const got = await this.#call('message.get', { message_id: id }, signal);
    if (!got.ok) return got.failure.code === 'hub_refused' ? noMessage(id) : got;
    return succeeded(got.value.message);
  }

  async #call<M extends HubMethod>(
    method: M,
    params: HubParams<M>,
    signal?: AbortSignal,
  ): Promise<Result<HubResult<M>, HubCode>> {
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
async function callUntilAnswered<M extends HubMethod>(
  agent: HubAgent,
  method: M,
  params: HubParams<M>,
  over: AbortSignal,
): Promise<Result<HubResult<M>, HubCode>> {
  for (;;) {
    await agent.connected();
    if (agent.isDisposed || over.aborted) return absent();
    try {
      return succeeded(await agent.call(method, params));
    } catch (error) {
      if (error instanceof JsonRpcError) return failed('hub_refused', `The hub refused it: ${error.message}.`);
      if (error instanceof z.ZodError) throw error;
      // The request fails shortly before the agent notices the end of its connection.
      await agent.disconnected();
    }
  }
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

function noAgent(name: string, agents: readonly ListedHubAgent[], own: string | undefined): Result<never, HubCode> {
  const live = agents.filter((agent) => agent.live && agent.agent_id !== own).slice(0, 20);
  const names = live.map(({ agent_id, role }) => (role === '' ? agent_id : `${agent_id} (${role})`));
  const known = names.length === 0 ? 'No other agent is connected.' : `Connected agents: ${names.join(', ')}.`;
  return failed('no_agent', `No agent and no role is called ${name.slice(0, 100)}.`, known);
}
