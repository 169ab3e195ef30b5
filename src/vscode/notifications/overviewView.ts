// The overview beside the Notifications view: serves its page, and reads the logs only while it is visible.
import * as vscode from 'vscode';
import { Sequence } from '../../base/async.ts';
import { type Disposable } from '../../base/disposable.ts';
import { type Client } from '../../core/client/client.ts';
import { type Earshot } from '../../core/earshot.ts';
import { type Clock, type Logger } from '../../core/ports/ports.ts';
import { type VerbResult } from '../../protocol/client/verbs.ts';
import {
  type FromOverview,
  fromOverviewSchema,
  type ToOverview,
  type UseScope,
} from '../../protocol/page/overviewView.ts';
import { type Mute } from '../../protocol/page/pendingView.ts';
import { type Settings } from '../../protocol/settings.ts';
import { type ShownChat } from '../chat/pageHandlers.ts';
import { failureMessage } from '../failureMessage.ts';
import { PageView } from '../pageView.ts';
import { describeKind, describeSource } from './notificationTexts.ts';
import { useTable } from './useTable.ts';

/** Events come in bursts. */
const REFRESH_AFTER = 1000;

export interface OverviewDeps {
  readonly extension: vscode.Uri;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly client: Pick<Client, 'call'>;
  readonly earshot: Pick<Earshot, 'onDidChange'>;
  readonly chat: ShownChat;
  readonly settings: { readonly current: Settings; readonly onDidChange: vscode.Event<void> };
  /** Earshot's version. */
  readonly version: string;
  /** The kinds whose muting can be undone, as `source.name`. */
  undoable(): readonly string[];
  mute(what: Mute): Promise<void>;
  unmute(what: Mute): Promise<void>;
  /** Shows an item of the shown conversation in the chat, or the request that produced it. */
  showItem(item: string): Promise<void>;
  showRequest(item: string): Promise<void>;
}

export class OverviewView implements vscode.WebviewViewProvider, Disposable {
  readonly #deps: OverviewDeps;
  readonly #page: PageView<FromOverview>;
  #part: 'timeline' | 'use' = 'timeline';
  #scope: UseScope = 'conversation';
  #shown: string | undefined;
  /** What the page has of the timeline. */
  #sent: { readonly conversation: string; readonly through: number } | undefined;
  #soon: Disposable | undefined;
  readonly #refreshes = new Sequence();

  constructor(deps: OverviewDeps) {
    this.#deps = deps;
    const { extension, logger, earshot, chat, settings } = deps;
    this.#page = new PageView({
      ...{ page: 'overview', extension, logger, schema: fromOverviewSchema },
      handle: (message) => this.#handle(message),
      opened: (view, held) => {
        held.add(
          earshot.onDidChange(({ conversation, folded }) => {
            const counts = this.#part === 'use' && this.#scope === 'all';
            if (folded !== undefined && (counts || conversation === chat.shown)) this.#refreshSoon();
          }),
        );
        held.add(
          chat.onDidRefresh(() => {
            if (chat.shown !== this.#shown) this.#refreshSoon();
          }),
        );
        held.add(settings.onDidChange(() => this.#refreshSoon()));
        held.add(view.onDidChangeVisibility(() => this.#refreshSoon()));
      },
    });
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.#page.resolveWebviewView(view);
  }

  dispose(): void {
    this.#soon?.dispose();
    this.#page.dispose();
  }

  async #handle(message: FromOverview): Promise<void> {
    const { logger, mute, unmute, showItem, showRequest } = this.#deps;
    switch (message.type) {
      case 'ready':
        // A new page.
        this.#sent = undefined;
        return this.#refresh();
      case 'show_timeline':
        this.#part = 'timeline';
        return this.#refresh();
      case 'show_use':
        this.#part = 'use';
        this.#scope = message.scope;
        return this.#refresh();
      case 'mute':
        await mute(message.mute);
        return this.#refresh();
      case 'unmute':
        await unmute(message.mute);
        return this.#refresh();
      case 'export_use':
        return this.#export();
      case 'open_item':
        return showItem(message.item);
      case 'show_request':
        return showRequest(message.item);
      case 'failed':
        logger.error(`the overview of notifications failed: ${message.message}`);
    }
  }

  #refreshSoon(): void {
    if (!this.#page.visible) return;
    this.#soon ??= this.#deps.clock.after(REFRESH_AFTER, () => {
      void this.#refresh().catch((error: unknown) =>
        this.#deps.logger.error('the overview of notifications cannot be shown', error),
      );
    });
  }

  /** One after the other, so that an older state never replaces a newer one. */
  #refresh(): Promise<void> {
    this.#soon?.dispose();
    this.#soon = undefined;
    return this.#refreshes.run(async () => {
      this.#shown = this.#deps.chat.shown;
      if (this.#part === 'use') this.#post({ type: 'use', table: await this.#readTable() });
      else await this.#sendTimeline(this.#shown);
    });
  }

  /** What the page does not have yet, in parts. */
  async #sendTimeline(conversation: string | undefined): Promise<void> {
    if (conversation === undefined) {
      this.#sent = undefined;
      this.#post({ type: 'timeline', whole: true, items: null });
      return;
    }
    for (let more = true; more; ) {
      const after = this.#sent?.conversation === conversation ? this.#sent.through : undefined;
      const read = await this.#deps.client.call('read_timeline', { conversation, after: after ?? 0 });
      if (!read.ok) throw new Error(failureMessage(read.failure));
      const { through, data: items } = read.value;
      // The end of the log was damaged and cut off: from the beginning.
      const isCut = through < (after ?? 0);
      this.#sent = isCut ? undefined : { conversation, through };
      if (!isCut) this.#post({ type: 'timeline', whole: after === undefined, items });
      more = read.value.more || isCut;
    }
  }

  async #read(): Promise<VerbResult<'read_notification_use'> | undefined> {
    const { client, chat } = this.#deps;
    const { shown } = chat;
    if (this.#scope === 'conversation' && shown === undefined) return undefined;
    const params = this.#scope === 'all' || shown === undefined ? {} : { conversation: shown };
    const read = await client.call('read_notification_use', params);
    if (read.ok) return read.value;
    throw new Error(failureMessage(read.failure));
  }

  async #readTable() {
    const { settings, undoable } = this.#deps;
    const read = await this.#read();
    if (read === undefined) return null;
    return useTable({
      ...{ scope: this.#scope, conversations: read.conversations, kinds: read.data },
      ...{ settings: settings.current, undoable: undoable() },
      ...{ kindLabel: describeKind, sourceLabel: describeSource },
    });
  }

  /** Opens the numbers in a new document; the user decides whether and where to save them. */
  async #export(): Promise<void> {
    const { clock, version } = this.#deps;
    const read = await this.#read();
    const { conversations = 0, data: kinds = [] } = read ?? {};
    const at = new Date(clock.now()).toISOString();
    const numbers = { earshot: version, at, scope: this.#scope, conversations, kinds };
    const content = `${JSON.stringify(numbers, undefined, 2)}\n`;
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ language: 'json', content }));
  }

  #post(message: ToOverview): void {
    this.#page.post(message);
  }
}
