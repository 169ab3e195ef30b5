// An agent of another program on the hub: joins once its name is known, and returns its unread messages, each once.
import { isAbsolute, relative } from 'node:path';
import { ignore, within } from '../../base/async.ts';
import { describeFailure, type Result, succeeded } from '../../base/errors.ts';
import { type HubCode } from '../../base/failureCodes.ts';
import { type OutgoingMessage } from '../../core/ports/agentHub.ts';
import { describeAgents, describeMessage, describeSent } from '../../core/tools/messageTexts.ts';
import { claimIdleName } from '../agents/agentNames.ts';
import { AgentMessages } from '../client/agentMessages.ts';
import { joinHub, type MembershipDeps } from '../client/joinHub.ts';
import { HubAgent } from '../client/hubAgent.ts';
import { type HubMember } from '../client/hubMember.ts';

/** Limits of one message and of all messages in one answer, in characters. */
const MOST_OF_ONE = 20_000;
const MOST_AT_ONCE = 60_000;

export interface MailboxDeps extends MembershipDeps {
  readonly role: string;
  /** Whether it receives every message on the hub, not only those for it. */
  readonly all: boolean;
}

interface Opened {
  readonly member: HubMember;
  readonly agent: HubAgent;
  readonly messages: AgentMessages;
}

export class Mailbox {
  readonly #deps: MailboxDeps;
  #opened: Promise<Opened> | undefined;
  /** Returned messages that are not marked as read yet: if the agent crashes, it gets them again. */
  #handedOut = new Set<string>();

  constructor(deps: MailboxDeps) {
    this.#deps = deps;
  }

  /**
   * Joins the hub under this name, or with a number if a connected agent has the name. Only the first call counts,
   * unless it fails.
   */
  open(name: string): Promise<Opened> {
    this.#opened ??= this.#join(name).catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  async send(name: string, message: OutgoingMessage, signal: AbortSignal): Promise<Result<string, HubCode>> {
    const { messages } = await this.#begin(name);
    const sent = await messages.send(message, signal);
    const files = message.files.map((path) => this.#toScope(path));
    return sent.ok ? succeeded(describeSent(sent.value, files)) : sent;
  }

  /** Returns the unread messages, oldest first; an empty text if there are none. */
  async check(name: string): Promise<Result<string, HubCode>> {
    const { messages } = await this.#begin(name);
    const unread = await messages.unread();
    if (!unread.ok) return unread;
    const texts: string[] = [];
    let length = 0;
    for (const message of unread.value) {
      const text = describeMessage(message, 0, MOST_OF_ONE);
      length += text.length;
      if (texts.length > 0 && length > MOST_AT_ONCE) break;
      texts.push(text);
      this.#handedOut.add(message.message_id);
    }
    const rest = unread.value.length - texts.length;
    if (rest > 0) texts.push(`${rest} more are unread: check again.`);
    return succeeded(texts.join('\n\n'));
  }

  async read(name: string, id: string, start: number): Promise<Result<string, HubCode>> {
    const { messages } = await this.#begin(name);
    const read = await messages.read(id);
    return read.ok ? succeeded(describeMessage(read.value, start, MOST_OF_ONE)) : read;
  }

  /** Like `check`, but waits until there is a message or the time is over. */
  async wait(name: string, seconds: number, signal: AbortSignal): Promise<Result<string, HubCode>> {
    const { agent } = await this.#begin(name);
    const { promise, resolve } = Promise.withResolvers<void>();
    // Listens before the check, so that no message in between is missed.
    const listening = agent.onMessage(() => resolve());
    try {
      const now = await this.check(name);
      if (!now.ok || now.value !== '') return now;
      await within(this.#deps.clock, seconds * 1000, promise, signal);
      return signal.aborted ? now : await this.check(name);
    } finally {
      listening.dispose();
    }
  }

  async list(name: string): Promise<Result<string, HubCode>> {
    const { messages } = await this.#begin(name);
    const listed = await messages.agents();
    return listed.ok ? succeeded(describeAgents(listed.value)) : listed;
  }

  async close(): Promise<void> {
    // Whoever opened it got the failure.
    const opened = await this.#opened?.catch(ignore);
    if (opened === undefined) return;
    if (opened.agent.isConnected) await this.#mark(opened.messages);
    await opened.agent.close();
    await opened.member.close();
  }

  /** A new request shows that the agent has received the messages of earlier answers, so they are marked as read. */
  async #begin(name: string): Promise<Opened> {
    const opened = await this.open(name);
    await this.#mark(opened.messages);
    return opened;
  }

  async #mark(messages: AgentMessages): Promise<void> {
    const ids = [...this.#handedOut];
    this.#handedOut = new Set();
    await messages.markRead(ids);
  }

  async #join(wanted: string): Promise<Opened> {
    const { clock, report, role, all, files } = this.#deps;
    const { folder, member } = await joinHub(this.#deps);
    const agent: HubAgent = new HubAgent({
      files,
      folder,
      clock,
      agent: { role, module: '', display: '' },
      name: (call) => claimIdleName(call, wanted),
      report,
      onAbsent: () => void member.look().catch((error: unknown) => report('the hub could not be taken over', error)),
      onNamed: async (name) => agent.subscribe(all ? {} : { mentionRole: name }),
    });
    const toScope = (path: string) => this.#toScope(path);
    return { member, agent, messages: new AgentMessages({ agent, clock, toScope, ulid: () => this.#deps.ulid() }) };
  }

  /** The form that other agents use: relative to the folder, with / as separator. */
  #toScope(path: string): string {
    const inside = isAbsolute(path) ? relative(this.#deps.workspaceFolder, path) : path;
    return inside.replaceAll('\\', '/').replace(/^\.\//, '');
  }
}

/** The answer for the agent: the text, or the failure. */
export function printResult(result: Result<string, HubCode>): { text: string; isError: boolean } {
  return result.ok ? { text: result.value, isError: false } : { text: describeFailure(result.failure), isError: true };
}
