// Bounds the search for the difference of two texts, which takes up to lines × edits steps.

const MOST_STEPS = 20_000_000;

/** The edit limit for a search in two texts that have this many lines together; at most `wanted`. */
export function mostEdits(lines: number, wanted: number): number {
  return Math.min(wanted, Math.floor(MOST_STEPS / Math.max(1, lines)));
}

/** Text after the last line break counts as a line, even if it is empty. */
export function countLines(text: string): number {
  let count = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
