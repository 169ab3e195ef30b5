// Finds the lines of a job's log that show why it failed. Pure, and linear in the length of the log.
import { maskSecrets } from '../../base/secrets/maskSecrets.ts';
import { plainText } from '../../base/terminalText.ts';

const MOST_LINES = 15;
const LONGEST_LINE = 200;
/** Only the end of a longer log is looked at. */
const MOST_SEARCHED = 2 * 1024 * 1024;
/** Secrets are recognized by their whole text, so more is masked than shown. */
const MOST_MASKED = 100_000;
/** Before each line of GitHub Actions. */
const STAMP = /^\uFEFF?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{1,9})?Z ?/;
const COMMAND = /^##\[(?:group|endgroup|section|command|debug)\]/;
const ERROR = /^##\[error\]/;
/** GitLab’s marks of sections. */
const SECTION = /^section_(?:start|end):\d+:[^\r]*\r?/;

/** `step`: when the step that failed ran, in milliseconds since 1970; absent: the whole log is of that step. */
export function lastLinesOf(log: string, step?: { readonly from: number; readonly to: number }): string[] {
  const kept: string[] = [];
  let isInside = step === undefined;
  for (const raw of log.slice(-MOST_SEARCHED).split('\n')) {
    const stamp = STAMP.exec(raw);
    if (stamp !== null && step !== undefined) {
      const at = Date.parse(`${stamp[1]}Z`);
      // Times of steps have whole seconds.
      isInside = at >= step.from && at <= step.to;
    }
    if (isInside) kept.push(raw.slice(stamp?.[0].length ?? 0));
    // What is long gone is not masked and shown.
    if (kept.length > 400) kept.splice(0, 200);
  }
  // Masked as a whole: a key may have several lines.
  const text = maskSecrets(plainText(kept.join('\n').slice(-MOST_MASKED)));
  const lines = text
    .split('\n')
    .map((line) => line.replace(SECTION, '').trimEnd())
    .filter((line) => line !== '' && !COMMAND.test(line));
  const end = lines.findLastIndex((line) => ERROR.test(line));
  return lines
    .slice(0, end < 0 ? lines.length : end + 1)
    .slice(-MOST_LINES)
    .map((line) => shorten(line.replace(ERROR, 'Error: ')));
}

function shorten(line: string): string {
  return line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line;
}
