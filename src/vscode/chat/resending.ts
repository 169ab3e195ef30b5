// Continues a conversation in a fork that ends before an earlier request, which is sent again or put into the composer,
// and shows in a fork what is left to do in the original.
import { type Disposable } from '../../base/disposable.ts';
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { type GivenAttachment } from '../../core/agent/userText.ts';
import { type Earshot } from '../../core/earshot.ts';
import { type ChatFrontend } from '../../core/frontend/chatFrontend.ts';
import { type Library } from '../../core/library.ts';
import { type Logger } from '../../core/ports/ports.ts';
import { type ConversationSummary, type Store } from '../../core/ports/storage.ts';
import { type Handles } from '../../core/tools/handles.ts';
import { type ConversationView, type ForkOrigin } from '../../protocol/page/conversationsView.ts';
import { type Composing } from './composing.ts';
import { type ShownChat } from './pageHandlers.ts';

export interface ResendingDeps {
  /** Translates. */
  t(text: string): string;
  readonly library: Library;
  readonly earshot: Earshot;
  open(id: string): Promise<void>;
}

type Forking = Pick<ResendingDeps, 'library' | 'open' | 't'>;

/** Shows a fork that ends before the request. */
async function openBefore({ library, open, t }: Forking, conversation: string, request: string) {
  const forked = await library.forkBefore(conversation, request);
  if (forked.ok) await open(forked.value.conversation);
  else if (forked.failure.code === 'not_found')
    return failed(forked.failure.code, t('This message is no longer in the log.'));
  return forked;
}

/** Continues in a fork that ends before the request; the user can change and send the message again. */
export async function rewind(
  { composing, ...deps }: Forking & { readonly composing: Pick<Composing, 'restoreMessages'> },
  conversation: string,
  request: string,
): Promise<Result<void>> {
  const forked = await openBefore(deps, conversation, request);
  if (!forked.ok) return forked;
  const { event_id: id, timestamp: at, source, content, typed = content, attachments = [] } = forked.value.request;
  if (source === 'user') await composing.restoreMessages([{ id, at, content: typed, attachments }]);
  return succeeded(undefined);
}

export async function resend(
  { earshot, ...deps }: ResendingDeps,
  conversation: string,
  request: string,
  text: string | undefined,
): Promise<Result<void>> {
  const forked = await openBefore(deps, conversation, request);
  if (!forked.ok) return forked;
  const { conversation: fork, request: event } = forked.value;
  const attachments: readonly GivenAttachment[] = event.attachments ?? [];
  const sent = await earshot.queue(fork, text ?? event.typed ?? event.content, { attachments });
  return sent.ok ? succeeded(undefined) : sent;
}

/** What is left to do in a conversation; nothing is absent. */
export function leftIn(
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
  #drawing: Promise<void> = Promise.resolve();
  #drawn = 'null';

  constructor(deps: ForkOriginsDeps) {
    this.#deps = deps;
    const draw = () => this.#drawSoon();
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

  #drawSoon(): void {
    const report = (error: unknown) => this.#deps.logger.error('the origin of a fork could not be shown', error);
    this.#drawing = this.#drawing.then(() => this.#draw()).catch(report);
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
