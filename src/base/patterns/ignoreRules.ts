// Reads ignore files in the form of .gitignore and says of each name on a path what their last fitting rule says. The work
// grows with the length of the path, whatever the rules are.
import { compilePath, type PathWalk } from './pathPattern.ts';

/** No path is longer; a rule that is cannot have been meant. It is left out. */
const LONGEST_RULE = 4096;
/** Further rules are left out: each path costs all of them. */
const MOST_RULES = 10_000;

export type IgnoreVerdict = 'ignored' | 'kept' | undefined;

export interface IgnoreRules {
  /** Follows one path from its outermost name inwards. */
  start(): IgnoreWalk;
}

export interface IgnoreWalk {
  /** Goes one name further in: what the rules say of the path up to here. Undefined if none of them fits. */
  step(name: string, isFolder: boolean): IgnoreVerdict;
}

interface Rule {
  readonly verdict: 'ignored' | 'kept';
  readonly foldersOnly: boolean;
  start(): PathWalk;
}

export function parseIgnoreRules(text: string, ignoreCase = false): IgnoreRules {
  const rules: Rule[] = [];
  for (const line of text.replace(/^\ufeff/, '').split('\n')) {
    if (rules.length >= MOST_RULES) break;
    const rule = line.length > LONGEST_RULE ? undefined : parseRule(line, ignoreCase);
    if (rule !== undefined) rules.push(rule);
  }
  return {
    start: () => {
      const walks = rules.map((rule) => ({ rule, walk: rule.start() }));
      return {
        step: (name, isFolder) => {
          let verdict: IgnoreVerdict;
          for (const { rule, walk } of walks) {
            // Each walk goes along, also where its rule does not count.
            if (walk.step(name) && (isFolder || !rule.foldersOnly)) verdict = rule.verdict;
          }
          return verdict;
        },
      };
    },
  };
}

function parseRule(line: string, ignoreCase: boolean): Rule | undefined {
  const trimmed = withoutTrailingSpaces(line.endsWith('\r') ? line.slice(0, -1) : line);
  if (trimmed === '' || trimmed.startsWith('#')) return undefined;
  const negated = trimmed.startsWith('!');
  const whole = negated ? trimmed.slice(1) : trimmed;
  const foldersOnly = whole.endsWith('/');
  const pattern = foldersOnly ? whole.slice(0, -1) : whole;
  // A slash anywhere but at the end ties the pattern to the folder of the file; without one it holds at any depth.
  const anchored = pattern.startsWith('/') ? pattern.slice(1) : pattern.includes('/') ? pattern : `**/${pattern}`;
  const { start } = compilePath(anchored, { ignoreCase, insideOnly: true });
  return { verdict: negated ? 'kept' : 'ignored', foldersOnly, start };
}

/** One with a `\` before it belongs to the pattern. */
function withoutTrailingSpaces(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === ' ') end -= 1;
  let escapes = 0;
  while (escapes < end && line[end - 1 - escapes] === '\\') escapes += 1;
  return line.slice(0, escapes % 2 === 1 ? end + 1 : end);
}
