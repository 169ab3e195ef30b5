// Parses .gitignore-style files and evaluates the last matching rule for each name of a path. The work is linear in the
// length of the path, whatever the rules are.
import { compilePath, type PathWalk } from './pathPattern.ts';

/** No path is longer than this, so longer rules are skipped. */
const LONGEST_RULE = 4096;
/** Further rules are skipped, since every path is matched against every rule. */
const MOST_RULES = 10_000;

export type IgnoreVerdict = 'ignored' | 'kept' | undefined;

export interface IgnoreRules {
  /** Starts a walk along one path, from its outermost name inwards. */
  start(): IgnoreWalk;
}

export interface IgnoreWalk {
  /** Takes the next name; returns the verdict on the path so far, or undefined if no rule matches. */
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
            // Every walk must advance, even if its rule does not apply here.
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
  // A slash anywhere but at the end anchors the pattern to the file's folder; otherwise it matches at any depth.
  const anchored = pattern.startsWith('/') ? pattern.slice(1) : pattern.includes('/') ? pattern : `**/${pattern}`;
  const { start } = compilePath(anchored, { ignoreCase, insideOnly: true });
  return { verdict: negated ? 'kept' : 'ignored', foldersOnly, start };
}

/** A trailing space escaped with `\` belongs to the pattern. */
function withoutTrailingSpaces(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === ' ') end -= 1;
  let escapes = 0;
  while (escapes < end && line[end - 1 - escapes] === '\\') escapes += 1;
  return line.slice(0, escapes % 2 === 1 ? end + 1 : end);
}
