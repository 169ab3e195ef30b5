// The transcript of one conversation as a front end shows it: the log's items, what is drawn before it is in the log, and open requests.
import { type TranscriptItem } from '../../protocol/transcript.ts';
import { type Change } from '../../protocol/webview.ts';
import { type Folded } from '../conversation/projections/project.ts';
import {
  type ApprovalAnswer,
  type ApprovalRequest,
  type InquiryAnswer,
  type InquiryRequest,
  type PartialAnswer,
} from '../ports/ports.ts';
import { OpenRequests } from './openRequests.ts';

/** The characters of a running tool's output that are kept. */
const LIVE_OUTPUT = 20_000;

export type TranscriptChange = Exclude<Change, { type: 'head' }>;

export class LiveTranscript {
  readonly #onChange: (change: TranscriptChange) => void;
  readonly #onRequestsChange: () => void;
  #conversation: string | undefined;
  #items = new Map<string, TranscriptItem>();
  /** Of all conversations: those that are not shown now may be later. */
  readonly #approvals = new OpenRequests<ApprovalRequest, ApprovalAnswer>(({ conversation, call }) =>
    this.#requestChanged(conversation, call.id),
  );
  readonly #questions = new OpenRequests<InquiryRequest, InquiryAnswer>(({ conversation, call }) =>
    this.#requestChanged(conversation, call),
  );

  constructor(listeners: { onChange(change: TranscriptChange): void; onRequestsChange(): void }) {
    this.#onChange = (change) => listeners.onChange(change);
    this.#onRequestsChange = () => listeners.onRequestsChange();
  }

  get conversation(): string | undefined {
    return this.#conversation;
  }

  get items(): readonly TranscriptItem[] {
    return [...this.#items.values()].map((item) => this.#withOpenRequest(item));
  }

  /** Shows another conversation, or none. Calls no listener. */
  show(conversation: string | undefined, items: readonly TranscriptItem[]): void {
    this.#conversation = conversation;
    this.#items = new Map(items.map((item) => [item.id, item]));
  }

  /** Adds the item, or replaces the one with the same id. */
  set(item: TranscriptItem): void {
    this.#items.set(item.id, item);
    this.#onChange({ type: 'item', item: this.#withOpenRequest(item) });
  }

  appended(conversation: string, folded: Folded): void {
    if (conversation !== this.#conversation) return;
    for (const item of folded.items) this.set(item);
  }

  render(conversation: string, partial: PartialAnswer): void {
    if (conversation !== this.#conversation) return;
    switch (partial.type) {
      case 'answer_started':
        return this.set({ type: 'answer', id: partial.id, text: '', reasoning: '', streaming: true, truncated: false });
      case 'answer_text':
        return this.#extend(partial.id, partial.field, partial.text);
      case 'answer_ended':
        return this.#answerEnded(partial.id);
      case 'retrying':
        return this.set(retryNotice(partial));
      case 'retrying_ended':
        return this.#remove(partial.id);
      case 'call_text': {
        const id = `${partial.answer}:${partial.index}`;
        if (!this.#items.has(id)) this.set({ ...unfinishedCall, id, name: partial.name });
        return this.#extend(id, 'output', partial.text);
      }
      case 'tool_started':
        return;
      case 'tool_output':
        return this.#extend(partial.call, 'output', partial.text);
    }
  }

  approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer> {
    return this.#approvals.open(approvalKey(request.conversation, request.call.id), request, signal);
  }

  approvalChanged(request: ApprovalRequest): void {
    this.#approvals.change(approvalKey(request.conversation, request.call.id), request);
  }

  ask(request: InquiryRequest, signal: AbortSignal): Promise<InquiryAnswer> {
    return this.#questions.open(request.id, request, signal);
  }

  /** Answers for a call of the shown conversation; false if no approval of it is open. */
  answerApproval(call: string, answer: ApprovalAnswer): boolean {
    return this.#approvals.answer(approvalKey(this.#conversation, call), answer);
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

  #requestChanged(conversation: string, call: string | undefined): void {
    const item = call === undefined || conversation !== this.#conversation ? undefined : this.#items.get(call);
    if (item !== undefined) this.#onChange({ type: 'item', item: this.#withOpenRequest(item) });
    this.#onRequestsChange();
  }

  /** The log does not contain open approvals, nor which window a question is asked in. */
  #withOpenRequest(item: TranscriptItem): TranscriptItem {
    if (item.type !== 'tool' || item.state !== 'running') return item;
    const asked = item.question && this.#questions.get(item.question.id);
    if (item.question !== undefined && asked !== undefined) {
      const { problem } = asked;
      return { ...item, state: 'question', question: { ...item.question, ...(problem !== undefined && { problem }) } };
    }
    const open = this.#approvals.get(approvalKey(this.#conversation, item.id));
    if (open === undefined) return item;
    const { reason, note, always, alwaysServer, problem, preview } = open;
    const approval = {
      ...(preview !== undefined && { preview }),
      ...(reason !== undefined && { reason }),
      ...(note !== undefined && { note }),
      ...(always !== undefined && { always }),
      ...(alwaysServer !== undefined && { alwaysServer }),
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
    this.#onChange({ type: 'text', id, field, text });
  }

  /** An answer with text is replaced by the complete event soon; an empty one is removed. */
  #answerEnded(id: string): void {
    for (const call of [...this.#items.keys()]) if (call.startsWith(`${id}:`)) this.#remove(call);
    const item = this.#items.get(id);
    if (item?.type !== 'answer') return;
    if (item.text !== '' || item.reasoning !== '') return this.set({ ...item, streaming: false });
    this.#remove(id);
  }

  #remove(id: string): void {
    if (this.#items.delete(id)) this.#onChange({ type: 'removed', id });
  }
}

/** Two conversations may have calls of the same id: the endpoint chooses it. */
function approvalKey(conversation: string | undefined, call: string): string {
  return `${conversation ?? ''} ${call}`;
}

/** A call while the model writes it. */
const unfinishedCall = { type: 'tool', arguments: {}, state: 'writing', output: '' } as const;

function retryNotice({ id, seconds, failure }: Extract<PartialAnswer, { type: 'retrying' }>): TranscriptItem {
  return { type: 'notice', id, level: 'warning', text: failure.message, nextStep: `Trying again in ${seconds} s.` };
}
