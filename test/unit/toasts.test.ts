// Every place that shows a toast, which covers the composer of a visible chat and vanishes: what the chat shows itself goes
// through WaitingApprovals, which shows a toast only if the chat is not visible.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

const source = join(resolve(import.meta.dirname, '../..'), 'src/vscode');

/**
 * How many there are in each file. The only reasons: it answers what the user has just done outside of the chat, such as a
 * command of the palette or a button of a view, or it is shown only while the chat is not visible. Nothing is lost with it.
 */
const ALLOWED: Readonly<Record<string, number>> = {
  // Only while the chat is not visible.
  'waitingApprovals.ts': 1,
  'chat/attention.ts': 1,
  // The chat cannot be shown.
  'extension.ts': 1,
  // Answers to commands and to buttons outside of the chat.
  'chat/conversationCommands.ts': 2,
  'completions/commitMessage.ts': 3,
  'completions/editorCommands.ts': 1,
  'compose/mcp.ts': 1,
  'compose/notifications.ts': 1,
  'consent/alwaysRules.ts': 2,
  'hub/showHubState.ts': 1,
  'listening/installCommands.ts': 4,
  'models/modelCommands.ts': 3,
  'plugins/pluginDialogs.ts': 1,
  'plugins/pluginsController.ts': 1,
  'plugins/webChatController.ts': 2,
  'requests/requestDocuments.ts': 5,
  'review/reviewController.ts': 3,
  'review/reviewRestore.ts': 3,
};

const SHOWN = /(?:^|\.)(?:showInformationMessage|showWarningMessage|showErrorMessage|showPassing)$/;

function toasts(name: string, text: string): number {
  let found = 0;
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const isShown = SHOWN.test(node.expression.getText());
      // As in `window[show](…)`.
      const isComputed =
        ts.isElementAccessExpression(node.expression) && /window$/.test(node.expression.expression.getText());
      const isModal = node.arguments.some(
        (one) => ts.isObjectLiteralExpression(one) && /\bmodal: true\b/.test(one.getText()),
      );
      if ((isShown || isComputed) && !isModal) found += 1;
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true));
  return found;
}

test('toasts are shown only where the user has done something outside of the chat, or while it is not visible', () => {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const counted = files.map((name) => [name, toasts(name, readFileSync(join(source, name), 'utf8'))] as const);
  const found = Object.fromEntries(counted.filter(([, count]) => count > 0));
  expect(found).toEqual(ALLOWED);
});

test('a toast is found however it is called, a modal dialog is none', () => {
  const count = (text: string) => toasts('a.ts', text);
  expect(count('void vscode.window.showInformationMessage(text, button);')).toBe(1);
  expect(count('vscode.window\n  .showErrorMessage(text);')).toBe(1);
  expect(count('await showPassing({ text, action, gone });')).toBe(1);
  expect(count('vscode.window[show](text);')).toBe(1);
  expect(count('vscode.window.showWarningMessage(text, { modal: true, detail }, approve);')).toBe(0);
});
