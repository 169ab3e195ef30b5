// Recognizes the editors that list all changes by the label of their tab.

/** VS Code adds the number of files to the title, but only once it has loaded the list. */
export function isReviewLabel(label: string, title: string): boolean {
  return label === title || label.startsWith(`${title} (`);
}
