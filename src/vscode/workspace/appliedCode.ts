// Remembers which code of the chat the user has put into a document, until it is saved: the model is then notified that
// the user applied it.
import type * as vscode from 'vscode';

type Document = Pick<vscode.TextDocument, 'version' | 'getText'>;

interface Applied {
  readonly code: string;
  /** The version that was saved first afterwards: a save has several listeners. */
  saved?: number;
}

const applied = new WeakMap<Document, Applied[]>();

export function noteApplied(document: Document, text: string): void {
  const code = withoutSpace(text);
  if (code !== '') applied.set(document, [...(applied.get(document) ?? []), { code }]);
}

/** For a document that was just saved. What was undone or reverted since then does not count. */
export function hasApplied(document: Document): boolean {
  const { version } = document;
  const pending = (applied.get(document) ?? []).filter(({ saved = version }) => saved === version);
  for (const one of pending) one.saved = version;
  applied.set(document, pending);
  if (pending.length === 0) return false;
  const text = withoutSpace(document.getText());
  return pending.some(({ code }) => text.includes(code));
}

/** Saving may format the document. */
function withoutSpace(text: string): string {
  return text.replaceAll(/\s+/g, '');
}
