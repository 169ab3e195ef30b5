// Parses a command line as far as its meaning to its shell is certain: the words of one plain command, and the paths it
// names.
import { type NamedPaths, namedPaths } from './shell/namedPaths.ts';
import { plainLists } from './shell/plainLists.ts';
import { plainWords, trimBlanks } from './shell/plainWords.ts';
import { isPosix, type ShellSyntax } from './shell/script.ts';
import { pathsInText } from './shell/wordPaths.ts';

/** With more paths than this, the command counts as unclear. */
const MOST_PATHS = 1000;

/** The words of a line that is just one program and its arguments; undefined for everything else. */
export function parseCommand(line: string, syntax: ShellSyntax): readonly string[] | undefined {
  return plainWords(line, syntax);
}

/**
 * An entry allows exactly its words. An entry that ends with `*` also allows more words after them, unless `exactly` is
 * set.
 */
export function isAllowed(
  words: readonly string[],
  entries: readonly string[],
  syntax: ShellSyntax,
  exactly = false,
): boolean {
  return entries.some((entry) => {
    const whole = trimBlanks(entry, ' \t\n');
    const open = whole === '*' || whole.endsWith(' *') || whole.endsWith('\t*');
    if (open && exactly) return false;
    const allowed = plainWords(open ? whole.slice(0, -1) : whole, syntax);
    if (allowed === undefined) return false;
    const fits = allowed.every((word, index) => words[index] === word);
    return fits && (open || words.length === allowed.length);
  });
}

/** Everything in the line that may be a path, even if not all of it is understood. Any word may be a file name. */
export function pathsIn(line: string, syntax: ShellSyntax): NamedPaths {
  if (isPosix(syntax)) return namedPaths(line, syntax);
  const commands = plainLists(line, syntax);
  const texts =
    commands === undefined ? [line] : commands.flatMap(([program = '', ...words]) => [...pathOf(program), ...words]);
  const paths = [...new Set(texts.flatMap(pathsInText))];
  if (commands === undefined) return { paths, unclear: `what it does in this shell (${syntax}) is not certain` };
  return paths.length > MOST_PATHS ? { paths, unclear: 'it names too many files' } : { paths };
}

/** Words that may be files: after `cd` also relative to that folder, and for `HEAD:src/a.ts` also the path in git. */
export function filesNamedIn(command: string): readonly string[] {
  const words = pathsIn(command, 'bash').paths.flatMap((word) => {
    const revision = /^[\w./~^@{}-]+:(?!\/)(.+)$/.exec(word)?.[1];
    return revision === undefined ? [word] : [word, revision];
  });
  const folder = folderIn(command);
  const inFolder =
    folder === undefined ? [] : words.filter((word) => word !== folder).map((word) => `${folder}/${word}`);
  return [...new Set([...inFolder, ...words])];
}

/** The folder that the command enters first with `cd`. */
export function folderIn(command: string): string | undefined {
  return /(?:^|[;&|(]\s*)cd\s+(?:"([^"]+)"|'([^']+)'|([^\s;&|)]+))/.exec(command)?.slice(1).find(Boolean);
}

function pathOf(program: string): string[] {
  return /[\\/~]/.test(program) ? [program] : [];
}
