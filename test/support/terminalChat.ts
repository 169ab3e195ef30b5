// A chat in a terminal over a conversation client: follows a conversation, sends, approves and interrupts. An example of
// a front end, and of all that one needs.
import { describeFailure, type Result } from '../../src/base/errors.ts';
import { type Disposable } from '../../src/base/disposable.ts';
import { type Client, type FollowChange, type FollowMessage } from '../../src/core/client/client.ts';
import { type OpenRequest } from '../../src/core/client/requests.ts';
import { type PartialAnswer } from '../../src/core/ports/ports.ts';
import { type Verb, type VerbParams } from '../../src/protocol/client/verbs.ts';
import { ALWAYS_SCOPES, type TranscriptItem } from '../../src/protocol/transcript.ts';

const HELP = `/approve [conversation|folder]  /reject [reason]  /answer TEXT  /interrupt TEXT  /stop`;

export class TerminalChat implements Disposable {
  readonly #client: Client;
  readonly #print: (text: string) => void;
  #conversation = '';
  #following: Disposable | undefined;
  #open: readonly OpenRequest[] = [];
  #running = false;
  /** The answer whose text is being printed. */
  #answer = '';

  constructor(client: Client, print: (text: string) => void) {
    this.#client = client;
    this.#print = print;
  }

  get conversation(): string {
    return this.#conversation;
  }

  /** Shows a conversation, or a new one. */
  async show(conversation?: string): Promise<void> {
    const created = conversation === undefined ? await this.#client.call('create', {}) : undefined;
    if (created?.ok === false) this.#fail(created);
    this.#conversation = (created?.ok === true ? created.value.conversation : conversation) ?? '';
    this.#following?.dispose();
    const following = await this.#client.follow(this.#conversation, (message) => this.#receive(message));
    if (following.ok) this.#following = following.value;
    else this.#fail(following);
  }

  /** A line that the user has typed: a message, or a command after a slash. */
  async type(line: string): Promise<void> {
    const conversation = this.#conversation;
    const [, command, rest = ''] = /^\/(\w+)\s*(.*)$/s.exec(line) ?? [];
    const [open] = this.#open;
    switch (command) {
      case undefined:
        return this.#call('queue', { conversation, content: line });
      case 'interrupt':
        return this.#call('interrupt', { conversation, content: rest });
      case 'stop':
        return this.#call('stop', { conversation });
      case 'approve':
      case 'reject':
        return this.#approve(open, command, rest);
      case 'answer':
        if (open?.type === 'question') return this.#call('answer', { inquiry_id: open.id, answer: rest });
        this.#print('Nothing is asked.\n');
        return;
      default:
        this.#print(`${HELP}\n`);
    }
  }

  dispose(): void {
    this.#following?.dispose();
  }

  async #approve(open: OpenRequest | undefined, action: 'approve' | 'reject', rest: string): Promise<void> {
    if (open?.type !== 'approval') {
      this.#print('Nothing waits for approval.\n');
      return;
    }
    const { conversation, id, revision } = open;
    const answer = { conversation, tool_call_id: id, revision, action };
    const scope = ALWAYS_SCOPES.find((one) => action === 'approve' && one === rest);
    const always = scope && { scope };
    const reason = action === 'reject' && rest !== '' ? rest : undefined;
    await this.#call('approve', { ...answer, always, reason });
  }

  #receive(message: FollowMessage): void {
    if (message.type === 'lost') return this.#print(`\n[${message.reason}]\n`);
    if (message.type === 'delta') return this.#change(message.change);
    const { state, running, requests, unfinished } = message.conversation;
    this.#print(`\n== ${state.summary.title || 'New conversation'} ==\n`);
    this.#running = running;
    state.transcript.items.forEach((item) => this.#item(item));
    unfinished.forEach((partial) => this.#partial(partial));
    this.#open = requests;
    requests.forEach((open) => this.#ask(open));
  }

  #change(change: FollowChange): void {
    if (change.type === 'partial') this.#partial(change.partial);
    else if (change.type === 'event') change.folded.items.forEach((item) => this.#item(item));
    else if (change.type === 'status') {
      if (this.#running && !change.status.running) this.#print('\n[ready]\n');
      this.#running = change.status.running;
    } else if (change.type === 'request') {
      const { type, open, answer } = change.request;
      this.#open = this.#open.filter(({ id }) => id !== open.id);
      if (type !== 'closed') this.#open = [...this.#open, open];
      if (type !== 'closed') this.#ask(open);
      else this.#print(`[answered by ${answer?.by ?? 'nobody'}]\n`);
    }
  }

  #ask({ type, request }: OpenRequest): void {
    if (type === 'question') return this.#print(`\n? ${request.text} ${request.options?.join(' | ') ?? ''}\n`);
    const { call, reason, preview, always } = request;
    this.#print(`\n! ${call.name} ${JSON.stringify(call.arguments)}\n`);
    if (reason !== undefined) this.#print(`  because ${reason}\n`);
    for (const { path, kind, hunks } of preview?.files ?? []) {
      this.#print(`  ${path} (${kind})\n${hunks.flatMap(({ lines }) => lines.map((line) => `  ${line}\n`)).join('')}`);
    }
    if (always !== undefined) this.#print(`  always: ${always}\n`);
  }

  #partial(partial: PartialAnswer): void {
    if (partial.type === 'answer_text' && partial.field === 'text') {
      this.#answer = partial.id;
      this.#print(partial.text);
    } else if (partial.type === 'tool_output') this.#print(partial.text);
  }

  #item(item: TranscriptItem): void {
    if (item.type === 'request') this.#print(`\n> ${item.text}\n`);
    else if (item.type === 'notice') this.#print(`[${item.text}]\n`);
    else if (item.type === 'tool' && item.state !== 'running') this.#print(`\n* ${item.name}: ${item.state}\n`);
    // The text of an answer that was streamed is printed already.
    else if (item.type === 'answer' && item.id !== this.#answer) this.#print(`\n${item.text}\n`);
  }

  async #call<V extends Verb>(verb: V, params: VerbParams<V>): Promise<void> {
    this.#fail(await this.#client.call(verb, params));
  }

  #fail(result: Result<unknown>): void {
    if (!result.ok) this.#print(`[${describeFailure(result.failure)}]\n`);
  }
}
