// Closes the editors that list all changes: their lists are not updated, and are empty after a reload.
import * as vscode from 'vscode';
import { isReviewLabel } from './reviewLabel.ts';

export function reviewTitle(): string {
  return vscode.l10n.t('Earshot’s changes');
}

export async function closeReviews(): Promise<void> {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  // The API has no type for them.
  const isReview = ({ label, input }: vscode.Tab) =>
    isReviewLabel(label, reviewTitle()) && !(input instanceof vscode.TabInputText);
  await vscode.window.tabGroups.close(tabs.filter(isReview), true);
}
