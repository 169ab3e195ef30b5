// Saves documents for Earshot and tracks these saves, so that they do not count as the user's.
import type * as vscode from 'vscode';

/** The number of running saves for each document. */
const saving = new Map<vscode.TextDocument, number>();

/** VS Code fires its save events before this resolves, so their listeners can call `isOwnSave`. */
export async function saveAsOwn(document: vscode.TextDocument): Promise<boolean> {
  saving.set(document, (saving.get(document) ?? 0) + 1);
  try {
    return await document.save();
  } finally {
    const left = (saving.get(document) ?? 1) - 1;
    if (left > 0) saving.set(document, left);
    else saving.delete(document);
  }
}

export function isOwnSave(document: vscode.TextDocument): boolean {
  return saving.has(document);
}
