// Closes editors of changes that cannot be shown any more. The ones that list all changes are not updated, and are empty
// after a reload; those of one file compare with what the shown conversation changed.
import * as vscode from 'vscode';
import { REVIEW_SCHEME } from './reviewContent.ts';
import { isReviewLabel } from './reviewLabel.ts';

export function reviewTitle(): string {
  return vscode.l10n.t('Earshot’s changes');
}

/** `files`: also the editors of one file, unless they have unsaved changes. */
export async function closeReviews({ files = false } = {}): Promise<void> {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  // The API has no type for them.
  const isReview = ({ label, input }: vscode.Tab) =>
    isReviewLabel(label, reviewTitle()) && !(input instanceof vscode.TabInputText);
  const isFile = ({ input, isDirty }: vscode.Tab) =>
    files && !isDirty && input instanceof vscode.TabInputTextDiff && input.original.scheme === REVIEW_SCHEME;
  await vscode.window.tabGroups.close(
    tabs.filter((tab) => isReview(tab) || isFile(tab)),
    true,
  );
}
