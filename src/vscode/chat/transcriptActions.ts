// Handles the user's actions on items of the transcript: resend, retry, code blocks, diffs, queued messages.
import * as vscode from 'vscode';
import { type Disposable } from '../../base/disposable.ts';
import { type Result } from '../../base/errors.ts';
import { decodeText } from '../../base/text.ts';
import { type Earshot } from '../../core/earshot.ts';
import { type GivenAttachment } from '../../core/agent/userText.ts';
import { type Library } from '../../core/library.ts';
import { type QueuedMessage } from '../../core/ports/ports.ts';
import { type Snapshots } from '../../core/ports/storage.ts';
import { type TranscriptItem } from '../../protocol/transcript.ts';
import { type ToPage } from '../../protocol/webview.ts';
import { type CommandHandlers } from '../commands.ts';
import { COMMANDS, PROPOSAL_SCHEME } from '../ids.ts';
import { insertCode, Proposals, runInTerminal } from './codeActions.ts';
import { type TranscriptHandlers } from './pageHandlers.ts';
import { resend } from './resending.ts';
import { failureMessage } from '../failureMessage.ts';

const SCHEME = 'earshot-call';

export interface TranscriptActionsDeps {
  readonly earshot: Earshot;
  readonly library: Library;
  readonly snapshots: Snapshots;
  shown(): string | undefined;
  open(id: string): Promise<void>;
  notice(text: string): void;
  reply(message: Extract<ToPage, { type: 'media' }>): void;
}

export class TranscriptActions implements Disposable {
  readonly #deps: TranscriptActionsDeps;
  readonly #registrations: readonly vscode.Disposable[];
  readonly #proposals: Proposals;

  constructor(deps: TranscriptActionsDeps) {
    this.#deps = deps;
    this.#proposals = new Proposals(async (path, content) =>
      contentUri(PROPOSAL_SCHEME, path, await deps.snapshots.put(new TextEncoder().encode(content))),
    );
    const provider: vscode.TextDocumentContentProvider = {
      provideTextDocumentContent: async ({ query }) => {
        const bytes = query === '' ? undefined : await deps.snapshots.get(query);
        if (bytes === undefined) return '';
        return decodeText(bytes) ?? vscode.l10n.t('This file is not text ({0} bytes).', bytes.length);
      },
    };
    this.#registrations = [SCHEME, PROPOSAL_SCHEME].map((scheme) =>
      vscode.workspace.registerTextDocumentContentProvider(scheme, provider),
    );
  }

  get #resending() {
    return { ...this.#deps, t: vscode.l10n.t };
  }

  readonly commands = {
    [COMMANDS.applyCode]: () => this.#proposals.apply(),
  } satisfies Partial<CommandHandlers>;

  dispose(): void {
    for (const registration of this.#registrations) registration.dispose();
  }

  readonly handlers: TranscriptHandlers = {
    resend: ({ request, text }) => this.#onShown((shown) => resend(this.#resending, shown, request, text)),
    retry_turn: () => this.#onShown((shown) => this.#deps.earshot.retry(shown)),
    insert_code: ({ text }) => insertCode(text),
    apply_code: ({ text }) => this.#proposals.show(text),
    run_in_terminal: ({ text }) => runInTerminal(text),
    read_media: async ({ hash }) => {
      // The page may read only media that the shown conversation refers to.
      const items = this.#deps.earshot.get(this.#deps.shown() ?? '')?.log.state.transcript.items ?? [];
      const mediaOf = (item: TranscriptItem) =>
        item.type === 'tool' ? item.media : item.type === 'request' ? item.images : undefined;
      const isShown = items.some((item) => mediaOf(item)?.some((one) => one.hash === hash) === true);
      const bytes = isShown ? await this.#deps.snapshots.get(hash) : undefined;
      const data = bytes && Buffer.from(bytes).toString('base64');
      this.#deps.reply({ type: 'media', hash, ...(data !== undefined && { data }) });
    },
    open_diff: ({ call, path }) => this.#openDiff(call, path),
    send_queued: ({ id }) =>
      this.#onShown(async (shown) => {
        const taken = await this.#deps.earshot.withdrawMessage(shown, id);
        if (!taken.ok) return taken;
        return this.#deps.earshot.interrupt(shown, taken.value.content, attachmentsOf(taken.value));
      }),
    raise_queued: ({ id }) => this.#onShown((shown) => this.#raise(shown, id)),
  };

  /**
   * Moves a queued message up by one: withdraws it, the one before it and all after it, and queues them in the new
   * order.
   */
  async #raise(shown: string, id: string): Promise<Result<unknown>> {
    const { earshot } = this.#deps;
    const queued = earshot.get(shown)?.log.state.pending.queuedMessages ?? [];
    const place = queued.findIndex((one) => one.id === id);
    const [before, raised, ...after] = queued.slice(Math.max(0, place - 1));
    if (place < 1 || before === undefined || raised === undefined) return { ok: true, value: undefined };
    const moved: QueuedMessage[] = [];
    for (const one of [raised, before, ...after]) {
      const taken = await earshot.withdrawMessage(shown, one.id);
      // A message that was delivered meanwhile cannot be withdrawn and is not queued again.
      if (taken.ok) moved.push(taken.value);
    }
    for (const one of moved) {
      const again = await earshot.queue(shown, one.content, attachmentsOf(one));
      if (!again.ok) return again;
    }
    return { ok: true, value: undefined };
  }

  async #openDiff(call: string, path: string): Promise<void> {
    const shown = this.#deps.shown();
    const live = shown === undefined ? undefined : this.#deps.earshot.get(shown);
    const item = live?.log.state.transcript.items.find(({ id }) => id === call);
    const change = (item?.type === 'tool' ? item.changes : undefined)?.find((one) => one.path === path);
    if (change === undefined) {
      this.#deps.notice(vscode.l10n.t('This change is no longer stored.'));
      return;
    }
    const [before, after] = [contentUri(SCHEME, path, change.before), contentUri(SCHEME, path, change.after)];
    await vscode.commands.executeCommand('vscode.diff', before, after, path, { preview: true });
  }

  async #onShown(action: (shown: string) => Promise<Result<unknown>>): Promise<void> {
    const shown = this.#deps.shown();
    if (shown === undefined) return;
    const done = await action(shown);
    if (!done.ok) this.#deps.notice(failureMessage(done.failure));
  }
}

/** The document is empty if there is no hash. */
function contentUri(scheme: string, path: string, hash: string | undefined): vscode.Uri {
  return vscode.Uri.from({ scheme, path: `/${path}`, query: hash ?? '' });
}

function attachmentsOf({ attachments }: QueuedMessage): { readonly attachments?: readonly GivenAttachment[] } {
  return attachments === undefined ? {} : { attachments };
}
