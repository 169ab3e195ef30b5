// Shows in a fork what is left to do in the original.
import { coalesce } from '../../base/async.ts';
import { type Disposable } from '../../base/disposable.ts';
import { type Earshot } from '../../core/earshot.ts';
import { type ChatFrontend } from '../../core/frontend/chatFrontend.ts';
import { type Logger } from '../../core/ports/ports.ts';
import { type ConversationSummary, type Store } from '../../core/ports/storage.ts';
import { type Handles } from '../../core/tools/handles.ts';
import { type ConversationView, type ForkOrigin } from '../../protocol/page/conversationsView.ts';
import { type ShownChat } from './pageHandlers.ts';

/** What is left to do in a conversation; nothing is absent. */
function leftIn(
  handles: Pick<Handles, 'list'>,
  id: string,
  unreviewed = 0,
): Pick<ConversationView, 'unreviewed' | 'commands'> {
  const commands = handles.list(id).filter(({ hasEnded, isOutputOnly }) => !hasEnded && !isOutputOnly).length;
  return { ...(unreviewed > 0 && { unreviewed }), ...(commands > 0 && { commands }) };
}

export interface ForkOriginsDeps {
  readonly earshot: Pick<Earshot, 'get' | 'onDidChange'>;
  readonly store: Pick<Store, 'list'>;
  readonly handles: Pick<Handles, 'list' | 'onDidChange'>;
  readonly frontend: Pick<ChatFrontend, 'setHead'>;
  readonly chat: ShownChat;
  readonly logger: Logger;
}

/** Keeps the head's `origin` up to date. */
export class ForkOrigins implements Disposable {
  readonly #deps: ForkOriginsDeps;
  readonly #listeners: readonly Disposable[];
  /** The original while it is not live, and for which fork it was read. It is read again after it was live. */
  #stored: { readonly fork: string; readonly summary: ConversationSummary | undefined } | undefined;
  #drawn = 'null';

  constructor(deps: ForkOriginsDeps) {
    this.#deps = deps;
    const drawOnce = coalesce(() => this.#draw());
    const report = (error: unknown) => deps.logger.error('the origin of a fork could not be shown', error);
    const draw = () => void drawOnce().catch(report);
    this.#listeners = [
      deps.chat.onDidRefresh(draw),
      deps.handles.onDidChange(({ type, handle }) => {
        if (type === 'state' && handle.conversation !== deps.chat.shown) draw();
      }),
      // The changes of the original can be restored or reviewed while a fork is shown.
      deps.earshot.onDidChange(({ conversation, folded }) => {
        if (folded?.reviewChanged === true && conversation !== deps.chat.shown) draw();
      }),
    ];
  }

  dispose(): void {
    for (const listener of this.#listeners) listener.dispose();
  }

  async #draw(): Promise<void> {
    const { chat, frontend } = this.#deps;
    const { shown } = chat;
    const origin = shown === undefined ? null : await this.#originOf(shown);
    // If another conversation is shown now, its own refresh draws it.
    if (chat.shown !== shown) return;
    const drawn = JSON.stringify(origin);
    if (drawn !== this.#drawn) frontend.setHead({ origin });
    this.#drawn = drawn;
  }

  async #originOf(fork: string): Promise<ForkOrigin | null> {
    const { earshot, store, handles } = this.#deps;
    const { forkedFrom: id, resentRequest: request } = earshot.get(fork)?.log.state.summary ?? {};
    if (id === undefined) return null;
    const state = earshot.get(id)?.log.state;
    if (state !== undefined) this.#stored = undefined;
    else if (this.#stored?.fork !== fork) {
      const listed = await store.list();
      this.#stored = { fork, summary: listed.ok ? listed.value.find((one) => one.id === id) : undefined };
    }
    const title = state?.summary.title ?? this.#stored?.summary?.title;
    if (title === undefined) return null;
    const unreviewed = state?.changes.open.size ?? this.#stored?.summary?.unreviewed;
    // Files that were restored are not offered again. Of a closed original, only the changes left to review are known.
    const hasFiles =
      state === undefined || request === undefined
        ? (unreviewed ?? 0) > 0
        : state.changes.since(request).some(({ steps }) => steps.length > 0);
    return { id, title, ...leftIn(handles, id, unreviewed), ...(hasFiles && request !== undefined && { request }) };
  }
}
