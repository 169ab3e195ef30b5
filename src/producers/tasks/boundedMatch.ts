// Matches lines against a regular expression of a workspace or an extension within a time limit: it may take for ever.
import { createContext, Script } from 'node:vm';

const LONGEST_MILLISECONDS = 200;

/** The engine checks for interruption in regular expressions too, so the limit of a script also ends these. */
const matchAll = new Script('lines.map((line) => pattern.test(line))');

/** Whether each line matches; undefined if it took too long. */
export function matchLines(pattern: RegExp, lines: readonly string[]): readonly boolean[] | undefined {
  try {
    const context = createContext({ pattern, lines });
    return matchAll.runInContext(context, { timeout: LONGEST_MILLISECONDS }) as boolean[];
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
    throw error;
  }
}
