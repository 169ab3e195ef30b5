// Decides what the chat page is told: a snapshot when it is ready, then numbered deltas. Knows nothing of webviews.
import { type Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/emitter.ts';
import { type QueuedMessage } from '../../core/conversation/projections/pending.ts';
import { type Folded } from '../../core/conversation/projections/project.ts';
import {
  type ApprovalAnswer,
  type ApprovalRequest,
  type PartialAnswer as Drawn,
  type Frontend,
  type InquiryAnswer,
  type InquiryRequest,
} from '../../core/ports/ports.ts';
import { type FileDiff } from '../../protocol/diffView.ts';
import {
  type Change,
  type ChatHead,
  type ChatState,
  type ToPage,
  type TranscriptItem,
} from '../../protocol/webview.ts';
import { OpenRequests } from './openRequests.ts';

/** What is drawn in between goes out together. */
const FLUSH_MILLISECONDS = 16;
/** Of a running tool's output the page keeps this much. */
const LIVE_OUTPUT = 20_000;

type Post = (message: ToPage) => void;

/** Whoever has the composer. */
interface Returned {
  giveBack(texts: readonly QueuedMessage[]): Promise<void>;
  has(texts: readonly QueuedMessage[]): boolean;
}

export class ChatFrontend implements Frontend, Disposable {
  readonly #clock: Clock;
  #post: Post | undefined;
  /** The composer is to get the keyboard once a page is there. */
  #focusWanted = false;
  #number = 0;
  #head: ChatHead;
  #conversation: string | undefined;
  #items = new Map<string, TranscriptItem>();
  readonly #approvals = new OpenRequests<ApprovalRequest, ApprovalAnswer>(({ call }) => this.#asked(call.id));
  readonly #questions = new OpenRequests<InquiryRequest, InquiryAnswer>(({ call }) => this.#asked(call));
  #changes: Change[] = [];
  #flushing: Disposable | undefined;
  #composer: Returned | undefined;
  readonly #onDidChangeApprovals: Emitter<void>;

  constructor(clock: Clock, head: ChatHead, report: (error: unknown) => void) {
    this.#clock = clock;
    this.#head = head;
    this.#onDidChangeApprovals = new Emitter(report);
  }

  get onDidChangeApprovals(): Emitter<void>['event'] {
    return this.#onDidChangeApprovals.event;
  }

  /** The page has said that it is ready: everything starts again with a snapshot. */
  attach(post: Post): void {
    this.#post = post;
    this.#snapshot();
    if (this.#focusWanted) this.focusComposer();
    this.#focusWanted = false;
  }

  detach(): void {
    this.#post = undefined;
    this.#changes = [];
  }

  /** Shows another conversation, or none. */
  show(conversation: string | undefined, items: readonly TranscriptItem[]): void {
    this.#conversation = conversation;
    this.#items = new Map(items.map((item) => [item.id, item]));
    this.#snapshot();
  }

  setHead(head: Partial<ChatHead>): void {
    this.#head = { ...this.#head, ...head };
    this.#change({ type: 'head', head });
  }

  focusComposer(): void {
    if (this.#post === undefined) this.focusNextPage();
    else this.#post({ type: 'focus_composer' });
  }

  /** Gives the composer the keyboard as soon as a new page is there. */
  focusNextPage(): void {
    this.#focusWanted = true;
  }

  /** Gives back words that could not be taken. */
  restoreDraft(text: string): void {
    this.#post?.({ type: 'restore_draft', text });
  }

  showDiff(call: string, files: readonly FileDiff[]): void {
    this.#post?.({ type: 'diff', call, files });
  }

  /** Something that is not in the log, such as why a request was refused. */
  notice(item: Extract<TranscriptItem, { type: 'notice' }>): void {
    this.#set(item);
  }

  appended(conversation: string, folded: Folded): void {
    if (conversation !== this.#conversation) return;
    for (const item of folded.items) this.#set(item);
  }

  render(conversation: string, drawn: Drawn): void {
    if (conversation !== this.#conversation) return;
    switch (drawn.type) {
      case 'answer_started':
        return this.#set({ type: 'answer', id: drawn.id, text: '', reasoning: '', streaming: true, truncated: false });
      case 'answer_text':
        return this.#extend(drawn.id, drawn.field, drawn.text);
      case 'answer_ended':
        return this.#answerEnded(drawn.id);
      case 'retrying':
        return this.#set(retryNotice(drawn));
      case 'retrying_ended':
        return this.#remove(drawn.id);
      case 'call_text': {
        const id = `${drawn.answer}:${drawn.index}`;
        if (!this.#items.has(id)) this.#set({ ...blankCall, id, name: drawn.name });
        return this.#extend(id, 'output', drawn.text);
      }
      case 'tool_started':
        return;
      case 'tool_output':
        return this.#extend(drawn.call, 'output', drawn.text);
    }
  }

  approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer> {
    return this.#approvals.open(request.call.id, request, signal);
  }

  approvalChanged(request: ApprovalRequest): void {
    this.#approvals.change(request.call.id, request);
  }

  ask(request: InquiryRequest, signal: AbortSignal): Promise<InquiryAnswer> {
    return this.#questions.open(request.id, request, signal);
  }

  /** Whoever has the composer takes the words of the shown conversation; those of others wait until they are shown. */
  async giveBack(conversation: string, texts: readonly QueuedMessage[]): Promise<boolean> {
    const composer = this.#composer;
    if (composer?.has(texts) === true) return true;
    if (conversation !== this.#conversation || composer === undefined) return false;
    await composer.giveBack(texts);
    return true;
  }

  /** `giveBack` resolves once the words are kept; `has` says whether they are there already. */
  returnTo(composer: Returned): void {
    this.#composer = composer;
  }

  /** The first answer wins; false if nothing was open under this id. */
  answerApproval(call: string, answer: ApprovalAnswer): boolean {
    return this.#approvals.answer(call, answer);
  }

  answerQuestion(question: string, answer: InquiryAnswer): boolean {
    return this.#questions.answer(question, answer);
  }

  get openApprovals(): number {
    return this.#approvals.size;
  }

  get openQuestions(): number {
    return this.#questions.size;
  }

  dispose(): void {
    this.#flushing?.dispose();
    this.#onDidChangeApprovals.dispose();
    this.detach();
  }

  #set(item: TranscriptItem): void {
    this.#items.set(item.id, item);
    this.#change({ type: 'item', item: this.#overlay(item) });
  }

  /** Sends an item again because its approval or question was opened, answered or given up. */
  #asked(call: string | undefined): void {
    const item = call === undefined ? undefined : this.#items.get(call);
    if (item !== undefined) this.#change({ type: 'item', item: this.#overlay(item) });
    this.#onDidChangeApprovals.fire();
  }

  /** The log does not know of an approval that is still open, nor in which window a question is asked. */
  #overlay(item: TranscriptItem): TranscriptItem {
    if (item.type !== 'tool' || item.state !== 'running') return item;
    const asked = item.question && this.#questions.get(item.question.id);
    if (item.question !== undefined && asked !== undefined) {
      const { problem } = asked;
      return { ...item, state: 'question', question: { ...item.question, ...(problem !== undefined && { problem }) } };
    }
    const open = this.#approvals.get(item.id);
    if (open === undefined) return item;
    const { reason, always, problem, preview } = open;
    const approval = {
      ...(preview !== undefined && { preview }),
      ...(reason !== undefined && { reason }),
      ...(always !== undefined && { always }),
      ...(problem !== undefined && { problem }),
    };
    return { ...item, state: 'approval', approval };
  }

  #extend(id: string, field: 'text' | 'reasoning' | 'output', text: string): void {
    const item = this.#items.get(id);
    if (item?.type === 'answer' && field !== 'output') {
      this.#items.set(id, { ...item, [field]: item[field] + text });
    } else if (item?.type === 'tool' && field === 'output') {
      this.#items.set(id, { ...item, output: (item.output + text).slice(-LIVE_OUTPUT) });
    } else {
      return;
    }
    const last = this.#changes.at(-1);
    if (last?.type === 'text' && last.id === id && last.field === field) {
      this.#changes[this.#changes.length - 1] = { ...last, text: last.text + text };
    } else {
      this.#change({ type: 'text', id, field, text });
    }
  }

  /** If anything came, the complete event replaces it in a moment; if not, nothing stays. */
  #answerEnded(id: string): void {
    for (const written of [...this.#items.keys()]) if (written.startsWith(`${id}:`)) this.#remove(written);
    const item = this.#items.get(id);
    if (item?.type !== 'answer') return;
    if (item.text !== '' || item.reasoning !== '') return this.#set({ ...item, streaming: false });
    this.#remove(id);
  }

  #remove(id: string): void {
    if (this.#items.delete(id)) this.#change({ type: 'removed', id });
  }

  #change(change: Change): void {
    if (this.#post === undefined) return;
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
    const state: ChatState = { ...this.#head, items: [...this.#items.values()].map((item) => this.#overlay(item)) };
    this.#post?.({ type: 'snapshot', number: ++this.#number, state });
  }
}

/** What is written is no call yet. */
const blankCall = { type: 'tool', arguments: {}, state: 'writing', output: '' } as const;

function retryNotice({ id, seconds, failure }: Extract<Drawn, { type: 'retrying' }>): TranscriptItem {
  return { type: 'notice', id, level: 'warning', text: failure.message, nextStep: `Trying again in ${seconds} s.` };
}
