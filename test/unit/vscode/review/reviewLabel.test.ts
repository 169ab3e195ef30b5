// The editors that list all changes are found by their label, to close them when nothing is left to review.
import { expect, test } from 'vitest';
import { isReviewLabel } from '../../../../src/vscode/review/reviewLabel.ts';

test.each([
  ['Earshot’s changes', true],
  ['Earshot’s changes (1 file)', true],
  ['Earshot’s changes (4 files)', true],
  ['Earshot’s changes.md', false],
  ['menu.ts (changed by Earshot)', false],
])('the label “%s”, with or without the number of files, belongs to a review: %s', (label, isReview) => {
  expect(isReviewLabel(label, 'Earshot’s changes')).toBe(isReview);
});
