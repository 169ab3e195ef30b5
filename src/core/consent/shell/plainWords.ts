// Parses a line that is just one program and its arguments, with the quoting rules of the shell that will run it.
// Aliases, functions and the location of the program cannot be known here.
import { type ShellSyntax } from './script.ts';

interface Quoting {
  /** Characters that may have a special meaning outside quotes. */
  readonly special: RegExp;
  /** Characters that may have a special meaning inside quotes; absent: the meaning of such quotes is not certain. */
  readonly single?: RegExp;
  readonly double?: RegExp;
  /** Quotes must enclose a whole word that is not empty and not the program. */
  readonly wholeWords?: true;
  /** Empty lines before and after the command are ignored. */
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
  // In fish, a backslash escapes inside single quotes, too.
  fish: { ...POSIX, single: /[%\\]/ },
  // `''` is an escaped quote, and typographic quotes count as quotes; a comma makes a list, and @ expands one.
  powershell: {
    special: /[;&|<>()$`!*?[\]{}~#%^,@'"\u2013-\u2015\u2018-\u201F]/,
    single: /[\u2018-\u201F"]|\\$/,
    double: /[$`\u2018-\u201F']|\\$/,
    wholeWords: true,
    newlines: true,
  },
  // On Windows each program splits the line itself; without these characters, all split it in the same way.
  cmd: { special: /[;&|<>()$`!*?[\]{}~#%^,='@"]/, double: /[%!^&|<>\\]/, wholeWords: true, newlines: false },
};

/** Spaces and tabs separate words in every shell. Other white space does so only in some, so it is uncertain. */
const UNCERTAIN = /[^\S \t]|\p{Cc}|\p{Cf}|\p{Co}|\p{Zl}|\p{Zp}/u;

/**
 * The words of a command that is just one program and its arguments. Undefined for everything else: several commands,
 * substitutions, redirections, patterns, variables, escapes, comments, assignments before the program.
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

/** Not `trim`, which also removes characters that shells keep. */
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
