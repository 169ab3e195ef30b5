// Matches one name of a path against a pattern with `*`, `?` and `[...]`. Backtracks only to the last `*`, so a match
// costs at most the length of the name times the length of the pattern.

type Token =
  | { readonly type: 'text'; readonly unit: string }
  | { readonly type: 'any' }
  | { readonly type: 'star' }
  | CharacterClass;

interface CharacterClass {
  readonly type: 'class';
  readonly negated: boolean;
  readonly ranges: readonly (readonly [number, number])[];
  readonly named: readonly RegExp[];
}

export interface NamePattern {
  matches(name: string): boolean;
}

/** Character classes by name, as in git and shells. */
const NAMED_CLASSES: Readonly<Record<string, RegExp>> = {
  alnum: /[a-z0-9]/i,
  alpha: /[a-z]/i,
  blank: /[ \t]/,
  cntrl: /[\0-\u001f\u007f]/,
  digit: /\d/,
  graph: /[!-~]/,
  lower: /[a-z]/,
  print: /[ -~]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[ \t\n\r\f\v]/,
  upper: /[A-Z]/,
  xdigit: /[\da-f]/i,
};

/** A pattern that is malformed (an unclosed `[`, a lone `\` at its end) matches nothing. */
export function compileName(pattern: string, ignoreCase = false): NamePattern {
  const tokens = tokensOf(ignoreCase ? toLowerCase(pattern) : pattern);
  if (tokens === undefined) return { matches: () => false };
  const plain = tokens.every((token) => token.type === 'text') ? tokens.map(({ unit }) => unit).join('') : undefined;
  const fold = (name: string) => (ignoreCase ? name.toLowerCase() : name);
  if (plain !== undefined) return { matches: (name) => fold(name) === plain };
  return { matches: (name) => !isNavigation(name) && matchTokens(tokens, fold(name), ignoreCase) };
}

/** As in git, an escaped capital letter keeps its case, so it matches nothing if case is ignored. */
function toLowerCase(pattern: string): string {
  return pattern.replace(/\\[^]|[^\\]+/g, (part) => (part.startsWith('\\') ? part : part.toLowerCase()));
}

/** `.` and `..` match only themselves. */
export function isNavigation(name: string): boolean {
  return name === '.' || name === '..';
}

function matchTokens(tokens: readonly Token[], name: string, ignoreCase: boolean): boolean {
  let [at, next] = [0, 0];
  let star: { readonly next: number; at: number } | undefined;
  while (at < name.length) {
    const token = tokens[next];
    if (token?.type === 'star') {
      next += 1;
      star = { next, at };
      continue;
    }
    const width = token === undefined ? 0 : widthMatched(token, name, at, ignoreCase);
    if (width > 0) {
      at += width;
      next += 1;
      continue;
    }
    if (star === undefined) return false;
    // The last star takes one more character; earlier stars need not be retried.
    star.at += 1;
    [at, next] = [star.at, star.next];
  }
  while (tokens[next]?.type === 'star') next += 1;
  return next === tokens.length;
}

/** How many units of the name the token matches here; 0 if none. */
function widthMatched(token: Token, name: string, at: number, ignoreCase: boolean): number {
  if (token.type === 'text') return name[at] === token.unit ? 1 : 0;
  const point = name.codePointAt(at) ?? 0;
  const width = point > 0xffff ? 2 : 1;
  if (token.type === 'any') return width;
  return token.type === 'class' && isInClass(token, point, ignoreCase) ? width : 0;
}

function isInClass({ negated, ranges, named }: CharacterClass, point: number, ignoreCase: boolean): boolean {
  const character = String.fromCodePoint(point);
  const candidates = ignoreCase ? [character, character.toUpperCase()] : [character];
  const fits = candidates.some((candidate) => {
    const code = candidate.codePointAt(0) ?? 0;
    return ranges.some(([low, high]) => code >= low && code <= high) || named.some((one) => one.test(candidate));
  });
  return fits !== negated;
}

/** The parts of a pattern for a path: a slash in a class, or behind a backslash, is treated as git does. */
export function splitNames(pattern: string): string[] {
  const names: string[] = [];
  let start = 0;
  let open = false;
  for (let at = 0; at < pattern.length; at += 1) {
    const unit = pattern[at];
    const escapesSlash = unit === '\\' && pattern[at + 1] === '/';
    if (unit === '[' && !open) {
      const end = readClass(pattern, at + 1)?.end;
      // An unclosed class is malformed. Searching for its end again at every `[` would take quadratic time.
      open = end === undefined;
      at = end ?? at;
    } else if (unit === '/' || escapesSlash) {
      names.push(pattern.slice(start, at));
      // For git `**\/` is one name or more, `**/` may be none.
      if (escapesSlash && names.at(-1) === '**') names.push('*');
      if (escapesSlash) at += 1;
      start = at + 1;
    } else if (unit === '\\') at += 1;
  }
  return [...names, pattern.slice(start)];
}

function tokensOf(pattern: string): Token[] | undefined {
  const tokens: Token[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const unit = pattern.charAt(at);
    if (unit === '*') {
      if (tokens.at(-1)?.type !== 'star') tokens.push({ type: 'star' });
    } else if (unit === '?') tokens.push({ type: 'any' });
    else if (unit === '[') {
      const found = readClass(pattern, at + 1);
      if (found === undefined) return undefined;
      tokens.push(found.token);
      at = found.end;
    } else if (unit === '\\') {
      at += 1;
      if (at === pattern.length) return undefined;
      tokens.push({ type: 'text', unit: pattern.charAt(at) });
    } else tokens.push({ type: 'text', unit });
  }
  return tokens;
}

/** `from` is after the `[`; `end` is the position of its `]`. */
function readClass(pattern: string, from: number): { token: CharacterClass; end: number } | undefined {
  const negated = pattern[from] === '!' || pattern[from] === '^';
  const first = negated ? from + 1 : from;
  const ranges: [number, number][] = [];
  const named: RegExp[] = [];
  let at = first;
  while (at < pattern.length) {
    // A leading `]` is a literal character.
    if (pattern[at] === ']' && at > first) return { token: { type: 'class', negated, ranges, named }, end: at };
    const name = pattern.startsWith('[:', at) ? nameAt(pattern, at + 2) : undefined;
    if (name !== undefined) {
      const known = NAMED_CLASSES[name];
      if (known === undefined) return undefined;
      named.push(known);
      at += name.length + 4;
      continue;
    }
    const low = readCharacter(pattern, at);
    at = low.end;
    const isRange = pattern[at] === '-' && at + 1 < pattern.length && pattern[at + 1] !== ']';
    const high = isRange ? readCharacter(pattern, at + 1) : low;
    at = high.end;
    ranges.push([low.code, high.code]);
  }
  return undefined;
}

/** `alpha` of `[:alpha:]`; the longest class name bounds the scan. */
function nameAt(pattern: string, from: number): string | undefined {
  const end = pattern.slice(from, from + 8).indexOf(':]');
  return end === -1 ? undefined : pattern.slice(from, from + end);
}

function readCharacter(pattern: string, at: number): { code: number; end: number } {
  const start = pattern[at] === '\\' && at + 1 < pattern.length ? at + 1 : at;
  const code = pattern.codePointAt(start) ?? 0;
  return { code, end: start + (code > 0xffff ? 2 : 1) };
}
