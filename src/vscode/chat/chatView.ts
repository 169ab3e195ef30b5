// The chat view in the side bar: serves the page, parses its messages, and passes them on.
import * as vscode from 'vscode';
import { type Disposable } from '../../base/disposable.ts';
import { type ChatFrontend } from '../../core/frontend/chatFrontend.ts';
import { type PageHost } from '../../core/frontend/page/pageHost.ts';
import { type HostHandlers } from '../../core/frontend/page/pageOffers.ts';
import { type Logger } from '../../core/ports/ports.ts';
import { type FromPage, fromPageSchema } from '../../protocol/webview.ts';
import { CHAT_FOCUSED, CHAT_VIEW } from '../ids.ts';
import { PageView } from '../pageView.ts';

export interface ChatViewDeps {
  readonly extension: vscode.Uri;
  readonly frontend: ChatFrontend;
  readonly page: Pick<PageHost, 'handle'>;
  /** Of the messages that the page's host does not handle. */
  readonly handlers: Omit<HostHandlers, 'focused'>;
  /** Called with whether the user can see the page. */
  onDidChangeVisible(visible: boolean): void;
  readonly logger: Logger;
}

export class ChatView implements vscode.WebviewViewProvider, Disposable {
  readonly #deps: ChatViewDeps;
  readonly #page: PageView<FromPage>;

  constructor(deps: ChatViewDeps) {
    this.#deps = deps;
    const { extension, frontend, logger, onDidChangeVisible } = deps;
    this.#page = new PageView({
      ...{ page: 'chat', extension, logger, schema: fromPageSchema },
      handle: (message, post) => this.#handle(message, post),
      opened: (view, held) => {
        view.badge = this.#badge;
        held.add(view.onDidChangeVisibility(() => view.visible && this.#onDidShow.fire()));
        onDidChangeVisible(view.visible);
        held.add(view.onDidChangeVisibility(() => onDidChangeVisible(view.visible)));
        this.#onDidShow.fire();
      },
      closed: () => {
        onDidChangeVisible(false);
        this.#setFocused(false);
        frontend.detach();
      },
    });
  }

  readonly #onDidShow = new vscode.EventEmitter<void>();
  #badge: vscode.ViewBadge | undefined;
  #focused = false;

  /** Whether the user can see the view. */
  get visible(): boolean {
    return this.#page.visible;
  }

  get onDidShow(): vscode.Event<void> {
    return this.#onDidShow.event;
  }

  /** The number on the view's icon; 0 removes it. */
  setBadge(value: number, tooltip: string): void {
    this.#badge = value === 0 ? undefined : { value, tooltip };
    const { view } = this.#page;
    if (view !== undefined) view.badge = this.#badge;
  }

  /** Shows the view and focuses its composer, at once or as soon as its page is ready. */
  async reveal(): Promise<void> {
    // A hidden view has no page, unless it is retained for the sound.
    if (!this.visible) this.#deps.frontend.focusNextPage();
    await vscode.commands.executeCommand(`${CHAT_VIEW}.focus`);
    this.#deps.frontend.focusComposer();
  }

  /** Shows an item of the shown conversation. */
  async showItem(item: string): Promise<void> {
    await vscode.commands.executeCommand(`${CHAT_VIEW}.focus`);
    this.#deps.frontend.showItem(item);
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.#page.resolveWebviewView(view);
  }

  /** Shows the title of the conversation next to the name of the view. */
  setTitle(title: string): void {
    const { view } = this.#page;
    if (view !== undefined && view.description !== title) view.description = title;
  }

  dispose(): void {
    this.#onDidShow.dispose();
    this.#page.dispose();
  }

  /** For the keys of the chat: while a webview has the focus, VS Code does not set `focusedView`. */
  #setFocused(focused: boolean): void {
    if (focused === this.#focused) return;
    this.#focused = focused;
    void vscode.commands.executeCommand('setContext', CHAT_FOCUSED, focused);
  }

  async #handle(message: FromPage, post: (answer: object) => void): Promise<void> {
    const { page, handlers, frontend } = this.#deps;
    if (message.type === 'ready') {
      frontend.attach(post);
      return;
    }
    if (message.type === 'focused') {
      this.#setFocused(message.focused);
      return;
    }
    // Each handler takes the message of its own name: the mapped type guarantees it, but the compiler cannot infer it here.
    const handler = (handlers as Partial<Record<FromPage['type'], (message: FromPage) => unknown>>)[message.type];
    await (handler === undefined ? page.handle(message) : handler(message));
  }
}
