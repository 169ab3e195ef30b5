// A webview view and its page: serves the page, and parses and passes on its messages.
import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../base/disposable.ts';
import { type Logger } from '../core/ports/ports.ts';
import { describeIssue } from '../protocol/describeIssue.ts';
import { type PageName, pageHtml } from './chat/pageHtml.ts';
import type * as z from 'zod';

interface PageViewDeps<Message extends { readonly type: string }> {
  readonly page: PageName;
  readonly extension: vscode.Uri;
  readonly logger: Logger;
  readonly schema: z.ZodType<Message>;
  /** `post` sends to the page that the message is from. */
  handle(message: Message, post: (answer: object) => void): Promise<unknown>;
  /** Called before the page of a view is served. What is added to `held` is disposed of with the view. */
  opened(view: vscode.WebviewView, held: DisposableStore): void;
  /** Called after the view was closed. */
  closed?(): void;
}

export class PageView<Message extends { readonly type: string }> implements vscode.WebviewViewProvider, Disposable {
  readonly #deps: PageViewDeps<Message>;
  /** Disposables of the current view; VS Code creates a new view whenever it is shown again. */
  #held: DisposableStore | undefined;
  #view: vscode.WebviewView | undefined;

  constructor(deps: PageViewDeps<Message>) {
    this.#deps = deps;
  }

  /** Undefined while it is closed. */
  get view(): vscode.WebviewView | undefined {
    return this.#view;
  }

  /** Whether the user can see it. */
  get visible(): boolean {
    return this.#view?.visible === true;
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    const { page, extension, logger, schema, handle, opened, closed } = this.#deps;
    this.#held?.dispose();
    const held = new DisposableStore();
    this.#held = held;
    this.#view = view;
    view.webview.options = {
      enableScripts: true,
      localResourceRoots: [vscode.Uri.joinPath(extension, 'dist', 'webview'), vscode.Uri.joinPath(extension, 'media')],
    };
    held.add(
      view.webview.onDidReceiveMessage((message: unknown) => {
        const { success, data, error: invalid } = schema.safeParse(message);
        if (!success) {
          logger.warn(`the page “${page}” sent an invalid message: ${describeIssue(invalid)}`);
          return;
        }
        const report = (error: unknown) => logger.error(`${data.type} of the page “${page}” failed`, error);
        void handle(data, (answer) => this.#postTo(view, answer)).catch(report);
      }),
    );
    held.add(
      view.onDidDispose(() => {
        if (this.#held !== held) return;
        this.#view = undefined;
        this.#held = undefined;
        held.dispose();
        closed?.();
      }),
    );
    opened(view, held);
    view.webview.html = pageHtml({
      page,
      source: view.webview.cspSource,
      nonce: randomBytes(18).toString('base64'),
      language: vscode.env.language,
      bundle: vscode.l10n.bundle ?? {},
      uri: (...path) => view.webview.asWebviewUri(vscode.Uri.joinPath(extension, ...path)).toString(),
    });
  }

  /** Without a page it does nothing. */
  post(message: object): void {
    if (this.#view !== undefined) this.#postTo(this.#view, message);
  }

  dispose(): void {
    this.#held?.dispose();
    this.#held = undefined;
  }

  /** A message to a page that is gone is only logged. */
  #postTo(view: vscode.WebviewView, message: object): void {
    const { page, logger } = this.#deps;
    const report = (error: unknown) => logger.error(`the page “${page}” cannot be reached`, error);
    void Promise.resolve(view.webview.postMessage(message)).catch(report);
  }
}
