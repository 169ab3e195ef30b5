// Compiles the patterns of lines that a model waits for, and says which field is wrong.
import { type Failure } from '../../../base/errors.ts';
import {
  type CompiledPattern,
  compileLinearPattern,
  compileTextPattern,
  type LinearPattern,
} from '../../../base/patterns/linearPattern.ts';
import { MOST_PATTERNS } from '../../../protocol/lines/lineWatch.ts';

const LONGEST_PATTERN = 300;
const REGEX = /^\/(.+)\/(i?)$/s;

/** Undefined: all of them compile. `field`: the argument that has them. */
export function whyNotPatterns(patterns: readonly string[], field = 'notify_on'): Failure | undefined {
  const wrong = (message: string): Failure => ({
    code: 'bad_arguments',
    message,
    nextStep: 'Call it again with this corrected.',
  });
  if (patterns.length > MOST_PATTERNS) return wrong(`${field}: at most ${MOST_PATTERNS} patterns.`);
  for (const [index, pattern] of patterns.entries()) {
    const why = whyNotPattern(pattern);
    if (why !== undefined) return wrong(`${field}.${index}: ${why}`);
  }
  return undefined;
}

/** Undefined: lines can be searched for it. */
export function whyNotPattern(pattern: string): string | undefined {
  if (pattern === '' || pattern.length > LONGEST_PATTERN) return `1 to ${LONGEST_PATTERN} characters.`;
  if (/[\n\r]/.test(pattern))
    return 'it has a line break, but each line is searched by itself. Name a part of one line.';
  const compiled = compile(pattern);
  return compiled.ok ? undefined : `${pattern} does not compile: ${compiled.reason}.`;
}

/** A pattern in the log that does not compile, as after a downgrade, matches nothing. */
export function compilePatterns(patterns: readonly string[]): readonly LinearPattern[] {
  return patterns.map((pattern) => {
    const compiled = compile(pattern);
    return compiled.ok ? compiled.pattern : { find: () => -1 };
  });
}

function compile(pattern: string): CompiledPattern {
  const [, regex, flag] = REGEX.exec(pattern) ?? [];
  if (regex === undefined) return { ok: true, pattern: compileTextPattern(pattern) };
  return compileLinearPattern(flag === 'i' ? `(?i)${regex}` : regex);
}
