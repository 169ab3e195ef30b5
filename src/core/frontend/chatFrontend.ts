// The front end behind a chat page: posts a snapshot when the page is ready, then numbered deltas. The transcript has the
// log's items, streamed content that is not in the log yet, and open requests. Independent of webviews.
import { type Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';
import { failureText } from '../../base/failureTexts.ts';
import { defined } from '../../base/json/defined.ts';
import { type TranscriptItem } from '../../protocol/transcript.ts';
import { type Change, type ChatHead, type ChatState, type ToPage } from '../../protocol/webview.ts';
import { type Folded } from '../conversation/projections/project.ts';
import { type OpenRequest, type RequestId, type RequestsClient } from '../client/requests.ts';
import { type PartialAnswer } from '../ports/ports.ts';
import { type Result, succeeded } from '../../base/errors.ts';
import { type LogEvent } from '../../protocol/event.ts';
import { type Client, type FollowChange, type FollowedConversation, type FollowMessage } from '../client/client.ts';

/** Changes within this time are posted together. */
const FLUSH_MILLISECONDS = 16;
/** The number of characters of a running tool's output that are kept. */
const LIVE_OUTPUT = 20_000;

type Post = (message: ToPage) => void;

export class ChatFrontend implements Disposable {
  readonly #clock: Clock;
  #post: Post | undefined;
  /** The next page must focus its composer. */
  #focusWanted = false;
  /** An item that the next page shows. */
  #wantedItem: string | undefined;
  #number = 0;
  #head: ChatHead;
  readonly #requests: RequestsClient;
  readonly #listening: Disposable;
  /** Why answers to open requests were refused. */
  readonly #problems = new Map<string, string>();
  #conversation: string | undefined;
  #items = new Map<string, TranscriptItem>();
  #changes: Change[] = [];
  #flushing: Disposable | undefined;

  /** `requests`: the open requests of all conversations, since others may be shown later. */
  constructor(clock: Clock, head: ChatHead, requests: RequestsClient) {
    this.#clock = clock;
    this.#head = head;
    this.#requests = requests;
    this.#listening = requests.onDidChange(({ type, open }) => {
      if (type === 'closed') this.#problems.delete(open.id);
      this.#redraw(open);
    });
  }

  /** Call when the page is ready. It gets a snapshot first. */
  attach(post: Post): void {
    this.#post = post;
    this.#snapshot();
    if (this.#focusWanted) this.focusComposer();
    this.#focusWanted = false;
    if (this.#wantedItem !== undefined) this.showItem(this.#wantedItem);
    this.#wantedItem = undefined;
  }

  detach(): void {
    this.#post = undefined;
    this.#changes = [];
  }

  /**
   * Shows another conversation, none, or the same one again. `draft`: the unsent text of that conversation; absent: the
   * text in the composer belongs to it from now on.
   */
  show(conversation: string | undefined, items: readonly TranscriptItem[], draft?: string): void {
    this.#conversation = conversation;
    this.#items = new Map(items.map((item) => [item.id, item]));
    const next = conversation ?? null;
    const kept = next === this.#head.conversation ? this.#head.draft : null;
    this.#head = { ...this.#head, conversation: next, draft: draft ?? kept };
    this.#snapshot();
  }

  /** Stores the text in the composer for the next page. */
  keepDraft(draft: string): void {
    this.#head = { ...this.#head, draft };
  }

  setHead(head: Partial<ChatHead>): void {
    this.#head = { ...this.#head, ...head };
    this.#change({ type: 'head', head });
  }

  focusComposer(): void {
    if (this.#post === undefined) this.focusNextPage();
    else this.#post({ type: 'focus_composer' });
  }

  /** Focuses the composer as soon as a new page is ready. */
  focusNextPage(): void {
    this.#focusWanted = true;
  }

  /** Scrolls to an item of the transcript, at once or as soon as a page is ready. */
  showItem(item: string): void {
    if (this.#post === undefined) this.#wantedItem = item;
    else this.#post({ type: 'show_item', item });
  }

  /** Puts text that was not accepted back into the composer. */
  restoreDraft(text: string): void {
    this.#post?.({ type: 'restore_draft', text });
  }

  /** Answers a request of the page, or sends it a message that changes no state of the chat. */
  reply(message: Exclude<ToPage, { type: 'snapshot' | 'delta' }>): void {
    this.#post?.(message);
  }

  /** Shows a notice that is not in the log, such as why a request was refused. */
  notice(item: Extract<TranscriptItem, { type: 'notice' }>): void {
    this.#set(item);
  }

  appended(conversation: string, folded: Folded): void {
    if (conversation === this.#conversation) for (const item of folded.items) this.#set(item);
  }

  render(conversation: string, partial: PartialAnswer): void {
    if (conversation === this.#conversation) this.#draw(partial);
  }

  /** Shows on the card why an answer was refused. Returns whether the request is still open. */
  explain(which: RequestId, problem: string): boolean {
    const open =
      which.type === 'question'
        ? this.#requests.question(which.id)
        : this.#requests.approval(which.conversation, which.id);
    if (open === undefined) return false;
    this.#problems.set(open.id, problem);
    this.#redraw(open);
    return true;
  }

  dispose(): void {
    this.#flushing?.dispose();
    this.#listening.dispose();
    this.detach();
  }

  /** Adds the item, or replaces the one with the same id. */
  #set(item: TranscriptItem): void {
    this.#items.set(item.id, item);
    this.#change({ type: 'item', item: this.#withOpenRequest(item) });
  }

  #remove(id: string): void {
    if (this.#items.delete(id)) this.#change({ type: 'removed', id });
  }

  /** Shows content that is not in the log yet: answers and calls being streamed, and output of running tools. */
  #draw(partial: PartialAnswer): void {
    switch (partial.type) {
      case 'answer_started':
        return this.#set({
          type: 'answer',
          id: partial.id,
          text: '',
          reasoning: '',
          streaming: true,
          truncated: false,
        });
      case 'answer_text':
        return this.#extend(partial.id, partial.field, partial.text);
      case 'answer_ended': {
        for (const call of [...this.#items.keys()]) if (call.startsWith(`${partial.id}:`)) this.#remove(call);
        const item = this.#items.get(partial.id);
        if (item?.type !== 'answer') return;
        // An answer with text is replaced by the complete event soon; an empty one is removed.
        if (item.text !== '' || item.reasoning !== '') return this.#set({ ...item, streaming: false });
        return this.#remove(partial.id);
      }
      case 'retrying':
        return this.#set(retryNotice(partial));
      case 'retrying_ended':
        return this.#remove(partial.id);
      case 'call_text': {
        const id = `${partial.answer}:${partial.index}`;
        if (!this.#items.has(id)) this.#set({ ...unfinishedCall, id, name: partial.name });
        return this.#extend(id, 'output', partial.text);
      }
      case 'tool_started':
        return;
      case 'tool_output':
        return this.#extend(partial.call, 'output', partial.text);
    }
  }

  #extend(id: string, field: 'text' | 'reasoning' | 'output', text: string): void {
    const item = this.#items.get(id);
    if (item?.type === 'answer' && field !== 'output') {
      this.#items.set(id, { ...item, [field]: item[field] + text });
    } else if (item?.type === 'tool' && field === 'output') {
      const output = item.output + text;
      // The arguments of a call can only be read from their beginning; the size of an answer is limited elsewhere.
      this.#items.set(id, { ...item, output: item.state === 'writing' ? output : output.slice(-LIVE_OUTPUT) });
    } else {
      return;
    }
    this.#change({ type: 'text', id, field, text });
  }

  #redraw({ type, conversation, request }: OpenRequest): void {
    if (conversation !== this.#conversation) return;
    const call = type === 'approval' ? request.call.id : request.call;
    const item = call === undefined ? undefined : this.#items.get(call);
    if (item !== undefined) this.#change({ type: 'item', item: this.#withOpenRequest(item) });
  }

  /** Adds the open request, since the log has neither open approvals nor the window that asks a question. */
  #withOpenRequest(item: TranscriptItem): TranscriptItem {
    if (item.type !== 'tool' || item.state !== 'running') return item;
    const asked = item.question && this.#requests.question(item.question.id);
    if (item.question !== undefined && asked !== undefined)
      return { ...item, state: 'question', question: { ...item.question, ...this.#problemOf(asked) } };
    const open = this.#requests.approval(this.#conversation ?? '', item.id);
    if (open === undefined) return item;
    const { conversation: _conversation, call: _call, ...approval } = open.request;
    return { ...item, state: 'approval', approval: { ...approval, ...this.#problemOf(open), revision: open.revision } };
  }

  #problemOf({ id, request }: OpenRequest): { readonly problem?: string } {
    const problem = this.#problems.get(id) ?? ('problem' in request ? request.problem : undefined);
    return problem === undefined ? {} : { problem };
  }
  #change(change: Change): void {
    if (this.#post === undefined) return;
    const last = this.#changes.at(-1);
    if (change.type === 'text' && last?.type === 'text' && last.id === change.id && last.field === change.field) {
      this.#changes[this.#changes.length - 1] = { ...last, text: last.text + change.text };
      return;
    }
    this.#changes.push(change);
    this.#flushing ??= this.#clock.after(FLUSH_MILLISECONDS, () => {
      this.#flushing = undefined;
      this.#flush();
    });
  }

  #flush(): void {
    const changes = this.#changes;
    this.#changes = [];
    if (changes.length > 0) this.#post?.({ type: 'delta', number: ++this.#number, changes });
  }

  #snapshot(): void {
    this.#changes = [];
    const state: ChatState = {
      ...this.#head,
      items: [...this.#items.values()].map((item) => this.#withOpenRequest(item)),
    };
    this.#post?.({ type: 'snapshot', number: ++this.#number, state });
  }
}

/** A call while the model writes it. */
const unfinishedCall = { type: 'tool', arguments: {}, state: 'writing', output: '' } as const;

function retryNotice({ id, seconds, failure }: Extract<PartialAnswer, { type: 'retrying' }>): TranscriptItem {
  const known = failureText(failure.code);
  return {
    ...{ type: 'notice', id, level: 'warning', text: failure.message, nextStep: `Trying again in ${seconds} s.` },
    ...defined({ failure: known }),
  };
}

interface ShownConversationDeps {
  readonly client: Pick<Client, 'follow'>;
  readonly frontend: ChatFrontend;
  /** The head must be drawn again: later, after an event, since events come in bursts; otherwise at once. */
  changed(event?: LogEvent): void;
  /** The conversation cannot be followed any more: it was deleted, or the connection has ended. */
  lost(): void;
}

interface Followed {
  readonly id: string;
  conversation?: FollowedConversation;
  following?: Disposable;
}

/** The conversation that a page shows, as its client follows it: draws it and its changes. */
export class ShownConversation implements Disposable {
  readonly #deps: ShownConversationDeps;
  /** Background commands that the user removed from the list. */
  readonly #hidden = new Set<string>();
  #followed: Followed | undefined;

  constructor(deps: ShownConversationDeps) {
    this.#deps = deps;
  }

  /** Undefined: a new chat. */
  get id(): string | undefined {
    return this.#followed?.id;
  }

  get conversation(): FollowedConversation | undefined {
    return this.#followed?.conversation;
  }

  /** The one before is shown until this one is. Without `draft` the text in the composer belongs to it. */
  async show(id: string, draft: string | undefined): Promise<Result<void>> {
    const next: Followed = { id };
    const following = await this.#deps.client.follow(id, (message) => this.#receive(next, message, draft));
    if (!following.ok) return following;
    next.following = following.value;
    return succeeded(undefined);
  }

  showNone(draft: string | undefined): void {
    this.dispose();
    this.#deps.frontend.show(undefined, [], draft);
    this.#drawCommands();
  }

  hideCommand(call: string): void {
    this.#hidden.add(`${this.id} ${call}`);
    this.#drawCommands();
  }

  dispose(): void {
    this.#followed?.following?.dispose();
    this.#followed = undefined;
  }

  #receive(from: Followed, message: FollowMessage, draft: string | undefined): void {
    if (message.type === 'snapshot') {
      const isFirst = from.conversation === undefined;
      if (isFirst) {
        this.dispose();
        this.#followed = from;
      }
      from.conversation = message.conversation;
      this.#draw(message.conversation, isFirst ? draft : undefined);
    } else if (this.#followed !== from) return;
    else if (message.type === 'delta') this.#change(from, message.change);
    else this.#deps.lost();
  }

  #draw({ id, state, unfinished }: FollowedConversation, draft: string | undefined): void {
    const { frontend } = this.#deps;
    frontend.show(id, state.transcript.items, draft);
    for (const partial of unfinished) frontend.render(id, partial);
    this.#drawCommands();
    this.#deps.changed();
  }

  #change(followed: Followed, change: FollowChange): void {
    const { frontend, changed } = this.#deps;
    const { id, conversation } = followed;
    if (conversation === undefined) return;
    switch (change.type) {
      case 'event':
        frontend.appended(id, change.folded);
        return changed(change.folded.event);
      case 'partial':
        return frontend.render(id, change.partial);
      case 'status':
        followed.conversation = { ...conversation, ...change.status };
        return changed();
      case 'commands':
        followed.conversation = { ...conversation, commands: change.commands };
        return this.#drawCommands();
      // The cards follow all requests of the client.
      case 'request':
    }
  }

  #drawCommands(): void {
    const commands = this.conversation?.commands ?? [];
    const handles = commands.filter(({ call }) => !this.#hidden.has(`${this.id} ${call}`));
    this.#deps.frontend.setHead({ handles });
  }
}
