// The chat view in the side bar: serves the page, parses its messages, and passes them to typed handlers.
import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { type ChatFrontend } from '../../core/frontend/chatFrontend.ts';
import { type Logger } from '../../core/ports/ports.ts';
import { describeIssue } from '../../protocol/describeIssue.ts';
import { type FromPage, type FromPageHandlers, fromPageSchema } from '../../protocol/webview.ts';
import { CHAT_VIEW } from '../ids.ts';

export interface ChatViewDeps {
  readonly extension: vscode.Uri;
  readonly frontend: ChatFrontend;
  readonly handlers: Omit<FromPageHandlers, 'ready'>;
  /** The page was just loaded and has its snapshot. */
  onFreshPage(): void;
  /** Whether a person can see the page now. */
  onDidChangeVisible(visible: boolean): void;
  readonly logger: Logger;
}

export class ChatView implements vscode.WebviewViewProvider, Disposable {
  readonly #deps: ChatViewDeps;
  /** Belongs to the current view; VS Code creates a new one whenever it is shown again. */
  #held: DisposableStore | undefined;
  #view: vscode.WebviewView | undefined;

  constructor(deps: ChatViewDeps) {
    this.#deps = deps;
  }

  /** The number on the view's icon; 0 removes it. */
  setBadge(value: number, tooltip: string): void {
    if (this.#view !== undefined) this.#view.badge = value === 0 ? undefined : { value, tooltip };
  }

  /** Shows the view and focuses its composer, at once or as soon as its page is ready. */
  async reveal(): Promise<void> {
    // A hidden view has no page.
    const isHidden = this.#view?.visible !== true;
    if (isHidden) this.#deps.frontend.focusNextPage();
    await vscode.commands.executeCommand(`${CHAT_VIEW}.focus`);
    if (!isHidden) this.#deps.frontend.focusComposer();
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    const { extension, frontend, logger } = this.#deps;
    this.#held?.dispose();
    const held = new DisposableStore();
    this.#held = held;
    this.#view = view;
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
        else if (parsed.data.type === 'ready') {
          frontend.attach(post);
          if (parsed.data.fresh) this.#deps.onFreshPage();
        } else this.#handle(parsed.data);
      }),
    );
    const { onDidChangeVisible } = this.#deps;
    onDidChangeVisible(view.visible);
    held.add(view.onDidChangeVisibility(() => onDidChangeVisible(view.visible)));
    held.add(
      view.onDidDispose(() => {
        if (this.#held !== held) return;
        onDidChangeVisible(false);
        frontend.detach();
        this.#view = undefined;
        this.#held = undefined;
        held.dispose();
      }),
    );
    view.webview.html = pageHtml(view.webview, extension);
  }

  dispose(): void {
    this.#held?.dispose();
    this.#held = undefined;
  }

  #handle(message: Exclude<FromPage, { type: 'ready' }>): void {
    // Each handler takes the message of its own name: the mapped type guarantees it, but the compiler cannot infer it here.
    const handler = this.#deps.handlers[message.type] as (message: FromPage) => Promise<void> | void;
    const report = (error: unknown) => this.#deps.logger.error(`the page's ${message.type} failed`, error);
    void Promise.resolve(handler(message)).catch(report);
  }
}

/** Later ones override earlier ones. */
const STYLES = ['chat.css', 'markdown.css', 'tools.css', 'changes.css', 'review.css', 'handles.css', 'composer.css'];

/** Scripts by nonce, styles and fonts only from the extension's folders. */
function pageHtml(webview: vscode.Webview, extension: vscode.Uri): string {
  const nonce = randomBytes(18).toString('base64');
  const uri = (...path: string[]) => webview.asWebviewUri(vscode.Uri.joinPath(extension, ...path)).toString();
  const policy = [
    `default-src 'none'`,
    `script-src 'nonce-${nonce}'`,
    `style-src ${webview.cspSource}`,
    `font-src ${webview.cspSource}`,
    `img-src ${webview.cspSource} data:`,
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
${STYLES.map((name) => `<link rel="stylesheet" href="${uri('media', name)}">`).join('\n')}
<title>Earshot</title>
</head>
<body>
<div id="root"></div>
<script type="module" nonce="${nonce}" src="${uri('dist', 'webview', 'chat.js')}"></script>
</body>
</html>`;
}
