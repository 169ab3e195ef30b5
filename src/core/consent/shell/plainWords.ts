// Reads a line that is just one program and its arguments, in the quoting of the shell that will run it.
// What no shell can tell beforehand stays open: aliases, functions and what the program's name leads to.
import { type ShellSyntax } from './script.ts';

interface Quoting {
  /** What the shell may read as more than itself outside quotes. */
  readonly special: RegExp;
  /** The same between quotes; absent: such quotes are not certain. */
  readonly single?: RegExp;
  readonly double?: RegExp;
  /** Quotes stand around whole words, and never around the program or nothing. */
  readonly wholeWords?: true;
  /** Empty lines before and after it mean nothing. */
  readonly newlines: boolean;
}

const POSIX: Quoting = {
  special: /[;&|<>()$`\\!*?[\]{}~#%^]/,
  single: /%/,
  double: /[$`\\!%]/,
  newlines: true,
};

const QUOTINGS: Readonly<Record<Exclude<ShellSyntax, 'unknown'>, Quoting>> = {
  sh: POSIX,
  bash: POSIX,
  zsh: POSIX,
  // A backslash escapes within its single quotes too.
  fish: { ...POSIX, single: /[%\\]/ },
  // `''` is a quote, and so are typographic ones; a comma makes a list, @ takes one apart.
  powershell: {
    special: /[;&|<>()$`!*?[\]{}~#%^,@'"\u2013-\u2015\u2018-\u201F]/,
    single: /[\u2018-\u201F"]|\\$/,
    double: /[$`\u2018-\u201F']|\\$/,
    wholeWords: true,
    newlines: true,
  },
  // Programs divide the line themselves; without these characters they agree.
  cmd: { special: /[;&|<>()$`!*?[\]{}~#%^,='@"]/, double: /[%!^&|<>\\]/, wholeWords: true, newlines: false },
};

/** Spaces and tabs divide words for every shell; other white space for some, so that it is not certain. */
const UNCERTAIN = /[^\S \t]|\p{Cc}|\p{Cf}|\p{Co}|\p{Zl}|\p{Zp}/u;

/**
 * The words of a command that is just one program and its arguments. Undefined for everything else: several commands,
 * substitutions, redirections, patterns, variables, escapes, comments, an environment before the program.
 */
export function plainWords(line: string, syntax: ShellSyntax): readonly string[] | undefined {
  if (syntax === 'unknown') return undefined;
  const quoting = QUOTINGS[syntax];
  const words = divide(trimBlanks(line, quoting.newlines ? ' \t\n' : ' \t'), quoting);
  const [program] = words ?? [];
  // `NAME=value program` runs the program in another environment; zsh reads `=program` as its path.
  if (program === undefined || program === '' || program.includes('=')) return undefined;
  if (syntax === 'zsh' && words?.some((word) => word.startsWith('=')) === true) return undefined;
  return words;
}

/** Not `trim`: it also takes characters that shells keep. */
export function trimBlanks(line: string, blanks: string): string {
  let [start, end] = [0, line.length];
  while (start < end && blanks.includes(line[start] ?? '')) start += 1;
  while (end > start && blanks.includes(line[end - 1] ?? '')) end -= 1;
  return line.slice(start, end);
}

function divide(line: string, quoting: Quoting): readonly string[] | undefined {
  if (UNCERTAIN.test(line.replaceAll('\t', ' '))) return undefined;
  const words: string[] = [];
  for (let at = 0; at < line.length; ) {
    const character = line[at];
    if (character === ' ' || character === '\t') {
      at += 1;
      continue;
    }
    const word = readWord(line, at, quoting, words.length === 0);
    if (word === undefined) return undefined;
    words.push(word.text);
    at = word.next;
  }
  return words;
}

function readWord(
  line: string,
  from: number,
  quoting: Quoting,
  isProgram: boolean,
): { text: string; next: number } | undefined {
  const pieces: string[] = [];
  let at = from;
  while (at < line.length && line[at] !== ' ' && line[at] !== '\t') {
    const quote = line[at];
    if (quote === '"' || quote === "'") {
      const special = quote === '"' ? quoting.double : quoting.single;
      const end = line.indexOf(quote, at + 1);
      const inner = line.slice(at + 1, end);
      if (end === -1 || special === undefined || special.test(inner)) return undefined;
      const whole = at === from && (end + 1 === line.length || line[end + 1] === ' ' || line[end + 1] === '\t');
      if (quoting.wholeWords === true && (!whole || isProgram || inner === '')) return undefined;
      pieces.push(inner);
      at = end + 1;
      continue;
    }
    const start = at;
    while (at < line.length && !` \t"'`.includes(line[at] ?? '')) at += 1;
    const bare = line.slice(start, at);
    if (quoting.special.test(bare)) return undefined;
    pieces.push(bare);
  }
  return { text: pieces.join(''), next: at };
}
