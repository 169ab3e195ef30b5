// The transcript of one conversation as a front end shows it: the log's items, what is drawn before it is in the log, and open requests.
import { type TranscriptItem } from '../../protocol/transcript.ts';
import { type Folded } from '../conversation/projections/project.ts';
import {
  type ApprovalAnswer,
  type ApprovalRequest,
  type InquiryAnswer,
  type InquiryRequest,
  type PartialAnswer,
} from '../ports/ports.ts';
import { OpenRequests } from './openRequests.ts';
import { addUnfinished, drawPartial, keepPartial, type TranscriptChange, unfinishedOf } from './partialItems.ts';

export interface OpenRequest {
  readonly type: 'approval' | 'question';
  readonly conversation: string;
  /** The same as long as it is open. */
  readonly id: string;
  /** What is asked: the tool, or the question. */
  readonly text: string;
}

export class LiveTranscript {
  readonly #onChange: (change: TranscriptChange) => void;
  readonly #onRequestsChange: () => void;
  #conversation: string | undefined;
  #items = new Map<string, TranscriptItem>();
  /** What is drawn in conversations that are not shown, before it is in their logs. */
  readonly #unfinished = new Map<string, Map<string, TranscriptItem>>();
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
    if (this.#conversation !== undefined) this.#unfinished.set(this.#conversation, unfinishedOf(this.#items));
    this.#conversation = conversation;
    this.#items = new Map(items.map((item) => [item.id, item]));
    if (conversation === undefined) return;
    for (const item of this.#unfinished.get(conversation)?.values() ?? []) addUnfinished(this.#items, item);
    this.#unfinished.delete(conversation);
  }

  /** Adds the item, or replaces the one with the same id. */
  set(item: TranscriptItem): void {
    this.#items.set(item.id, item);
    this.#onChange({ type: 'item', item: this.#withOpenRequest(item) });
  }

  appended(conversation: string, folded: Folded): void {
    if (conversation === this.#conversation) {
      for (const item of folded.items) this.set(item);
      return;
    }
    const kept = this.#unfinished.get(conversation);
    for (const { id } of folded.items) kept?.delete(id);
    if (folded.event.type === 'turn_ended') this.#unfinished.delete(conversation);
  }

  render(conversation: string, partial: PartialAnswer): void {
    if (conversation === this.#conversation) {
      drawPartial(this.#items, partial, (change) =>
        this.#onChange(change.type === 'item' ? { ...change, item: this.#withOpenRequest(change.item) } : change),
      );
      return;
    }
    const kept = this.#unfinished.get(conversation) ?? new Map<string, TranscriptItem>();
    this.#unfinished.set(conversation, kept);
    keepPartial(kept, partial);
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

  /** Answers for a call; false if no approval of it is open. */
  answerApproval(call: string, answer: ApprovalAnswer, conversation = this.#conversation): boolean {
    return this.#approvals.answer(approvalKey(conversation, call), answer);
  }

  answerQuestion(question: string, answer: InquiryAnswer): boolean {
    return this.#questions.answer(question, answer);
  }

  /** Of all conversations. */
  get openRequests(): readonly OpenRequest[] {
    const approvals = this.#approvals.all.map(
      ({ conversation, call }) => ({ type: 'approval', conversation, id: call.id, text: describeCall(call) }) as const,
    );
    const questions = this.#questions.all.map(
      ({ conversation, id, text }) => ({ type: 'question', conversation, id, text }) as const,
    );
    return [...approvals, ...questions];
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
}

/** The tool and the argument that says most. */
function describeCall({ name, arguments: given }: ApprovalRequest['call']): string {
  const subject = [given['command'], given['path'], given['url'], given['name']].find((one) => typeof one === 'string');
  return subject === undefined ? name : `${name}: ${subject.split('\n', 1)[0]?.slice(0, 200) ?? ''}`;
}

/** Two conversations may have calls of the same id: the endpoint chooses it. */
function approvalKey(conversation: string | undefined, call: string): string {
  return `${conversation ?? ''} ${call}`;
}
