// The transcript of one conversation as a front end shows it: the log's items, streamed content that is not in the log
// yet, and open requests.
import { type Disposable } from '../../base/disposable.ts';
import { type TranscriptItem } from '../../protocol/transcript.ts';
import { type Folded } from '../conversation/projections/project.ts';
import { type PartialAnswer } from '../ports/ports.ts';
import { type RequestsClient } from '../client/requests.ts';
import { addUnfinished, drawPartial, keepPartial, type TranscriptChange, unfinishedOf } from './partialItems.ts';

export class LiveTranscript implements Disposable {
  readonly #requests: RequestsClient;
  readonly #onChange: (change: TranscriptChange) => void;
  readonly #listening: Disposable;
  #conversation: string | undefined;
  #items = new Map<string, TranscriptItem>();
  /** For each conversation that is not shown: streamed content that is not in its log yet. */
  readonly #unfinished = new Map<string, Map<string, TranscriptItem>>();

  constructor(requests: RequestsClient, onChange: (change: TranscriptChange) => void) {
    this.#requests = requests;
    this.#onChange = onChange;
    this.#listening = requests.onDidChange(({ open: { type, conversation, request } }) => {
      if (conversation !== this.#conversation) return;
      const call = type === 'approval' ? request.call.id : request.call;
      const item = call === undefined ? undefined : this.#items.get(call);
      if (item !== undefined) this.#onChange({ type: 'item', item: this.#withOpenRequest(item) });
    });
  }

  dispose(): void {
    this.#listening.dispose();
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

  /** Adds the open request, since the log has neither open approvals nor the window that asks a question. */
  #withOpenRequest(item: TranscriptItem): TranscriptItem {
    if (item.type !== 'tool' || item.state !== 'running') return item;
    const asked = item.question && this.#requests.question(item.question.id)?.request;
    if (item.question !== undefined && asked !== undefined) {
      const { problem } = asked;
      return { ...item, state: 'question', question: { ...item.question, ...(problem !== undefined && { problem }) } };
    }
    const open = this.#requests.approval(this.#conversation ?? '', item.id);
    if (open === undefined) return item;
    const { conversation: _conversation, call: _call, ...approval } = open.request;
    return { ...item, state: 'approval', approval: { ...approval, revision: open.revision } };
  }
}
