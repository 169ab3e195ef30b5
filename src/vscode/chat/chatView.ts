// The chat view in the side bar: serves the page, parses its messages, and passes them on.
import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { type ChatFrontend } from '../../core/frontend/chatFrontend.ts';
import { type PageHost } from '../../core/frontend/page/pageHost.ts';
import { type HostHandlers } from '../../core/frontend/page/pageOffers.ts';
import { type Logger } from '../../core/ports/ports.ts';
import { describeIssue } from '../../protocol/describeIssue.ts';
import { type FromPage, fromPageSchema } from '../../protocol/webview.ts';
import { CHAT_FOCUSED, CHAT_VIEW } from '../ids.ts';
import { pageHtml } from './pageHtml.ts';

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
  /** Disposables of the current view; VS Code creates a new view whenever it is shown again. */
  #held: DisposableStore | undefined;
  #view: vscode.WebviewView | undefined;

  constructor(deps: ChatViewDeps) {
    this.#deps = deps;
  }

  readonly #onDidShow = new vscode.EventEmitter<void>();
  #badge: vscode.ViewBadge | undefined;
  #focused = false;

  /** Whether the user can see the view. */
  get visible(): boolean {
    return this.#view?.visible === true;
  }

  get onDidShow(): vscode.Event<void> {
    return this.#onDidShow.event;
  }

  /** The number on the view's icon; 0 removes it. */
  setBadge(value: number, tooltip: string): void {
    this.#badge = value === 0 ? undefined : { value, tooltip };
    if (this.#view !== undefined) this.#view.badge = this.#badge;
  }

  /** Shows the view and focuses its composer, at once or as soon as its page is ready. */
  async reveal(): Promise<void> {
    // A hidden view has no page, unless it is retained for the sound.
    if (this.#view?.visible !== true) this.#deps.frontend.focusNextPage();
    await vscode.commands.executeCommand(`${CHAT_VIEW}.focus`);
    this.#deps.frontend.focusComposer();
  }

  /** Shows an item of the shown conversation. */
  async showItem(item: string): Promise<void> {
    await vscode.commands.executeCommand(`${CHAT_VIEW}.focus`);
    this.#deps.frontend.showItem(item);
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    const { extension, frontend, logger } = this.#deps;
    this.#held?.dispose();
    const held = new DisposableStore();
    this.#held = held;
    this.#view = view;
    view.badge = this.#badge;
    held.add(view.onDidChangeVisibility(() => view.visible && this.#onDidShow.fire()));
    view.webview.options = {
      enableScripts: true,
      localResourceRoots: [vscode.Uri.joinPath(extension, 'dist', 'webview'), vscode.Uri.joinPath(extension, 'media')],
    };
    const post = (message: unknown) =>
      void Promise.resolve(view.webview.postMessage(message)).catch((error: unknown) =>
        logger.error('the page cannot be reached', error),
      );
    held.add(
      view.webview.onDidReceiveMessage((message: unknown) => {
        const parsed = fromPageSchema.safeParse(message);
        if (!parsed.success) logger.warn(`the page sent an invalid message: ${describeIssue(parsed.error)}`);
        else if (parsed.data.type === 'ready') frontend.attach(post);
        else if (parsed.data.type === 'focused') this.#setFocused(parsed.data.focused);
        else this.#handle(parsed.data);
      }),
    );
    const { onDidChangeVisible } = this.#deps;
    onDidChangeVisible(view.visible);
    held.add(view.onDidChangeVisibility(() => onDidChangeVisible(view.visible)));
    held.add(
      view.onDidDispose(() => {
        if (this.#held !== held) return;
        onDidChangeVisible(false);
        this.#setFocused(false);
        frontend.detach();
        this.#view = undefined;
        this.#held = undefined;
        held.dispose();
      }),
    );
    this.#onDidShow.fire();
    view.webview.html = pageHtml({
      source: view.webview.cspSource,
      nonce: randomBytes(18).toString('base64'),
      language: vscode.env.language,
      bundle: vscode.l10n.bundle ?? {},
      uri: (...path) => view.webview.asWebviewUri(vscode.Uri.joinPath(extension, ...path)).toString(),
    });
  }

  /** Shows the title of the conversation next to the name of the view. */
  setTitle(title: string): void {
    if (this.#view !== undefined && this.#view.description !== title) this.#view.description = title;
  }

  dispose(): void {
    this.#onDidShow.dispose();
    this.#held?.dispose();
    this.#held = undefined;
  }

  /** For the keys of the chat: while a webview has the focus, VS Code does not set `focusedView`. */
  #setFocused(focused: boolean): void {
    if (focused === this.#focused) return;
    this.#focused = focused;
    void vscode.commands.executeCommand('setContext', CHAT_FOCUSED, focused);
  }

  #handle(message: FromPage): void {
    const { page, handlers, logger } = this.#deps;
    // Each handler takes the message of its own name: the mapped type guarantees it, but the compiler cannot infer it here.
    const handler = (handlers as Partial<Record<FromPage['type'], (message: FromPage) => unknown>>)[message.type];
    const handle = async () => (handler === undefined ? page.handle(message) : handler(message));
    void handle().catch((error: unknown) => logger.error(`the page's ${message.type} failed`, error));
  }
}
