// Chooses the one line of a failed call's result that says what went wrong, for the folded card.

/** How a command's result ends: `(exit code 1)`, `(exit code 2, 3.1 s)`, `(ended by SIGKILL)`. */
const END = /^\((exit code \d+|ended by [^()]+|stopped: .+?)(?:, [\d.]+ s)?\)$/;
const ERROR =
  /\b(error|errors|fatal|failed|failure|fail|exception|panic|panicked|denied|refused|cannot|invalid)\b|not found/i;
const MOST_LINES = 2000;

/**
 * The output of a command has its error anywhere, often at the end; any other result begins with it. `lines` of a long
 * output are its last ones.
 */
export function failureLine(text: string): string {
  const lines = text.trim().split('\n').slice(-MOST_LINES);
  const end = END.exec(lines.at(-1) ?? '')?.[1];
  if (end === undefined) return text.trimStart().split('\n', 1)[0] ?? '';
  const output = lines.slice(0, -1).map((line) => line.trim());
  const said =
    output.find((line) => ERROR.test(line)) ?? output.findLast((line) => line !== '' && !line.startsWith('('));
  return said === undefined ? `(${end})` : `${said} (${end})`;
}
