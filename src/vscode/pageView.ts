// Serves the page of a webview view other than the chat, and receives its messages.
import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { DisposableStore } from '../base/disposable.ts';
import { type Logger } from '../core/ports/ports.ts';
import { describeIssue } from '../protocol/describeIssue.ts';
import { type PageName, pageHtml } from './chat/pageHtml.ts';
import type * as z from 'zod';

interface PageViewDeps<Message> {
  readonly page: PageName;
  readonly extension: vscode.Uri;
  readonly logger: Logger;
  readonly schema: z.ZodType<Message>;
  handle(message: Message): Promise<unknown>;
}

/** What is returned is disposed of with the view. */
export function servePage<Message>(view: vscode.WebviewView, deps: PageViewDeps<Message>): DisposableStore {
  const { page, extension, logger, schema, handle } = deps;
  const held = new DisposableStore();
  view.webview.options = {
    enableScripts: true,
    localResourceRoots: [vscode.Uri.joinPath(extension, 'dist', 'webview'), vscode.Uri.joinPath(extension, 'media')],
  };
  held.add(
    view.webview.onDidReceiveMessage((message: unknown) => {
      const parsed = schema.safeParse(message);
      if (!parsed.success) logger.warn(`the page “${page}” sent an invalid message: ${describeIssue(parsed.error)}`);
      else void handle(parsed.data).catch((error: unknown) => logger.error(`the page “${page}” failed`, error));
    }),
  );
  view.webview.html = pageHtml({
    page,
    source: view.webview.cspSource,
    nonce: randomBytes(18).toString('base64'),
    language: vscode.env.language,
    bundle: vscode.l10n.bundle ?? {},
    uri: (...path) => view.webview.asWebviewUri(vscode.Uri.joinPath(extension, ...path)).toString(),
  });
  return held;
}

/** A message to a page that is gone is only logged. */
export function postTo(view: vscode.WebviewView | undefined, message: object, logger: Logger): void {
  void Promise.resolve(view?.webview.postMessage(message)).catch((error: unknown) =>
    logger.error('a page cannot be reached', error),
  );
}
