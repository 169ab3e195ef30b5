// The transcript of one conversation as a front end shows it: the log's items, streamed content that is not in the log
// yet, and open requests.
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
  /** Stays the same while the request is open. */
  readonly id: string;
  /** The question, or what the call to approve is about: a command, a path, an address; empty if nothing is known. */
  readonly text: string;
  /** The tool to approve. */
  readonly tool?: string;
}

export class LiveTranscript {
  readonly #onChange: (change: TranscriptChange) => void;
  readonly #onRequestsChange: () => void;
  #conversation: string | undefined;
  #items = new Map<string, TranscriptItem>();
  /** For each conversation that is not shown: streamed content that is not in its log yet. */
  readonly #unfinished = new Map<string, Map<string, TranscriptItem>>();
  /** Open requests of all conversations, since others may be shown later. */
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

  /** Shows another conversation, or none, without calling a listener. */
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

  /** Answers the approval of a call; returns false if none is open. */
  answerApproval(call: string, answer: ApprovalAnswer, conversation = this.#conversation): boolean {
    return this.#approvals.answer(approvalKey(conversation, call), answer);
  }

  answerQuestion(question: string, answer: InquiryAnswer): boolean {
    return this.#questions.answer(question, answer);
  }

  /** Open requests of all conversations. */
  get openRequests(): readonly OpenRequest[] {
    const approvals = this.#approvals.all.map(
      ({ conversation, call }) =>
        ({ type: 'approval', conversation, id: call.id, tool: call.name, text: subjectOf(call) }) as const,
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

  /** Adds the open request, since the log has neither open approvals nor the window that asks a question. */
  #withOpenRequest(item: TranscriptItem): TranscriptItem {
    if (item.type !== 'tool' || item.state !== 'running') return item;
    const asked = item.question && this.#questions.get(item.question.id);
    if (item.question !== undefined && asked !== undefined) {
      const { problem } = asked;
      return { ...item, state: 'question', question: { ...item.question, ...(problem !== undefined && { problem }) } };
    }
    const open = this.#approvals.get(approvalKey(this.#conversation, item.id));
    if (open === undefined) return item;
    const { conversation: _conversation, call: _call, ...approval } = open;
    return { ...item, state: 'approval', approval };
  }
}

/** The most informative argument. */
function subjectOf({ arguments: given }: ApprovalRequest['call']): string {
  const subject = [given['command'], given['path'], given['url'], given['name']].find((one) => typeof one === 'string');
  return subject?.split('\n', 1)[0]?.slice(0, 200) ?? '';
}

/** Calls of two conversations may have the same id, because the endpoint chooses it. */
function approvalKey(conversation: string | undefined, call: string): string {
  return `${conversation ?? ''} ${call}`;
}
