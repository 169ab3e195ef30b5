// Decides what a command line says, as far as that is certain: the words of one plain command, or nothing.

/** What a shell, any shell, may read as more than itself. In doubt nothing is certain, and a person is asked. */
const SPECIAL = /[;&|<>()$`\\!*?[\]{}~#%^\r\n\0]/;
const SPECIAL_IN_DOUBLE_QUOTES = /[$`\\!%\r\n\0]/;
const SPECIAL_IN_SINGLE_QUOTES = /[\r\n\0%]/;

/**
 * The words of a command that is just one program and its arguments. Undefined for everything else: several commands,
 * substitutions, redirections, patterns, variables, escapes, comments, an environment before the program.
 */
export function parseCommand(line: string): readonly string[] | undefined {
  const words: string[] = [];
  let rest = line.trim();
  while (rest !== '') {
    const word = readWord(rest);
    if (word === undefined) return undefined;
    words.push(word.text);
    rest = rest.slice(word.length).replace(/^[ \t]+/, '');
  }
  const [program] = words;
  // `NAME=value program` runs the program in another environment.
  return program === undefined || program === '' || program.includes('=') ? undefined : words;
}

function readWord(text: string): { text: string; length: number } | undefined {
  let word = '';
  let at = 0;
  while (at < text.length) {
    const character = text[at] ?? '';
    if (character === ' ' || character === '\t') break;
    if (character === '"' || character === "'") {
      const end = text.indexOf(character, at + 1);
      const inner = text.slice(at + 1, end);
      const special = character === '"' ? SPECIAL_IN_DOUBLE_QUOTES : SPECIAL_IN_SINGLE_QUOTES;
      if (end === -1 || special.test(inner)) return undefined;
      word += inner;
      at = end + 1;
      continue;
    }
    // Other white space divides words for some shells and not for others.
    if (SPECIAL.test(character) || /\s|\p{Cc}|\p{Cf}/u.test(character)) return undefined;
    word += character;
    at += 1;
  }
  return { text: word, length: at };
}

/** An entry allows exactly its words; with `*` as its last one, also more behind them. */
export function isAllowed(words: readonly string[], entries: readonly string[]): boolean {
  return entries.some((entry) => {
    const open = /(^|\s)\*$/.test(entry.trimEnd());
    const allowed = parseCommand(open ? entry.trimEnd().slice(0, -1) : entry);
    if (allowed === undefined) return false;
    const fits = allowed.every((word, index) => words[index] === word);
    return fits && (open || words.length === allowed.length);
  });
}

/** Everything in the line that may be a path, also where the line is too much to understand. Any word may be a file's name. */
export function pathsIn(line: string): readonly string[] {
  const words = parseCommand(line)?.slice(1) ?? line.split(/[\s;&|<>()$`"'={},]+/);
  return words.flatMap(pathsInWord).filter((word) => word !== '' && !HARMLESS.has(word) && !ADDRESS.test(word));
}

/** `--file=/etc/passwd` and `-C/etc` name a path too. */
function pathsInWord(word: string): string[] {
  if (!word.startsWith('-')) return word.includes('=') ? [word, word.slice(word.indexOf('=') + 1)] : [word];
  const value = /^-[^=]*=(.*)$/.exec(word)?.[1] ?? /^-[\w-]*?((?:\/|~|\.\.).*)$/.exec(word)?.[1];
  return value === undefined ? [] : [value];
}

const HARMLESS = new Set(['/', '.', '/dev/null', '/dev/stdout', '/dev/stderr']);
const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\//i;
