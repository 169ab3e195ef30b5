// The front end behind a chat page: posts a snapshot when the page is ready, then numbered deltas. Independent of
// webviews.
import { type Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';
import { type TranscriptItem } from '../../protocol/transcript.ts';
import { type Change, type ChatHead, type ChatState, type ToPage } from '../../protocol/webview.ts';
import { type Folded } from '../conversation/projections/project.ts';
import { type RequestsClient } from '../client/requests.ts';
import { type PartialAnswer, type QueuedMessage } from '../ports/ports.ts';
import { type AttachedFrontend } from './frontends.ts';
import { LiveTranscript } from './liveTranscript.ts';

/** Changes within this time are posted together. */
const FLUSH_MILLISECONDS = 16;

type Post = (message: ToPage) => void;

export interface Composer {
  /** Resolves once the messages are stored. */
  returnMessages(texts: readonly QueuedMessage[]): Promise<void>;
  /** Whether the composer already has these messages. */
  has(texts: readonly QueuedMessage[]): boolean;
}

export class ChatFrontend implements AttachedFrontend, Disposable {
  readonly #clock: Clock;
  #post: Post | undefined;
  /** The next page must focus its composer. */
  #focusWanted = false;
  #number = 0;
  #head: ChatHead;
  readonly #transcript: LiveTranscript;
  #changes: Change[] = [];
  #flushing: Disposable | undefined;
  #composer: Composer | undefined;

  /** `requests`: the open requests of all conversations, since others may be shown later. */
  constructor(clock: Clock, head: ChatHead, requests: RequestsClient) {
    this.#clock = clock;
    this.#head = head;
    this.#transcript = new LiveTranscript(requests, (change) => this.#change(change));
  }

  /** Call when the page is ready. It gets a snapshot first. */
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

  /**
   * Shows another conversation, none, or the same one again. `draft`: the unsent text of that conversation; absent: the
   * text in the composer belongs to it from now on.
   */
  show(conversation: string | undefined, items: readonly TranscriptItem[], draft?: string): void {
    this.#transcript.show(conversation, items);
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
    this.#transcript.set(item);
  }

  appended(conversation: string, folded: Folded): void {
    this.#transcript.appended(conversation, folded);
  }

  render(conversation: string, partial: PartialAnswer): void {
    this.#transcript.render(conversation, partial);
  }

  /**
   * Returns messages of the shown conversation to the composer; those of other conversations stay queued until these
   * are shown.
   */
  async returnMessages(conversation: string, texts: readonly QueuedMessage[]): Promise<boolean> {
    const composer = this.#composer;
    if (composer?.has(texts) === true) return true;
    if (conversation !== this.#transcript.conversation || composer === undefined) return false;
    await composer.returnMessages(texts);
    return true;
  }

  setComposer(composer: Composer): void {
    this.#composer = composer;
  }

  dispose(): void {
    this.#flushing?.dispose();
    this.#transcript.dispose();
    this.detach();
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
    const state: ChatState = { ...this.#head, items: this.#transcript.items };
    this.#post?.({ type: 'snapshot', number: ++this.#number, state });
  }
}
