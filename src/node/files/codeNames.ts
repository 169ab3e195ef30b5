// Finds the names of other code in a text of code: imports, and words that may name a file. Finds rather too many, since
// each name is then looked for on disk.

export type CodeLanguage = 'js' | 'python' | 'other';

export interface CodeNames {
  /** What it imports, as written. */
  readonly modules: readonly string[];
  /** Words that may name a file, such as the arguments of a program that it starts. */
  readonly words: readonly string[];
  /** The first words of commands; only for texts of shells. */
  readonly commands: readonly string[];
  /** Whether it can load code whose name it computes. */
  readonly isDynamic: boolean;
}

const MOST_NAMES = 5000;

const JS_MODULE = /\b(?:from|import|require|resolve)\s{0,20}\(?\s{0,20}(['"`])([^'"`\n]{1,500})\1/g;
const JS_DYNAMIC =
  /\b(?:require|import)\s{0,20}\((?!\s{0,20}['"`][^'"`$\n]{1,500}['"`]\s{0,20}[),])|=\s{0,20}require\b(?!\s{0,20}[(.])|\b(?:eval|createRequire|dlopen|child_process|worker_threads|importScripts|WebAssembly|mainModule|getBuiltinModule)\b|\bnew\s{1,20}(?:Function|Worker)\b|['"`](?:node:)?(?:vm|module|cluster|repl|inspector)['"`]/;
const PYTHON_MODULE =
  /^[ \t]{0,100}(?:from[ \t]{1,20}([.\w]{1,300})[ \t]{1,20}import[ \t]{1,20}([^\n#]{1,500})|import[ \t]{1,20}([^\n#]{1,500}))/gm;
const PYTHON_DYNAMIC =
  /\b(?:exec|eval|compile|execfile|__import__)\s{0,20}\(|\b(?:importlib|runpy|imp|pkgutil|zipimport|subprocess|multiprocessing|ctypes|pickle)\b|\bsys\s{0,5}\.\s{0,5}(?:path|meta_path|modules)\b|\bos\s{0,5}\.\s{0,5}(?:system|popen|exec\w{1,3}|spawn\w{1,3}|posix_spawn\w?)\b/;
/** The first word of a command, also after words that run another command. */
const COMMAND =
  /(?:^|[;&|({\n`]|\b(?:then|do|else|exec|env|sudo|nice|nohup|time|command))[ \t]{0,20}@?([\w./~-]{1,300})/g;

/** `language` is that of the file; everything that is not JavaScript or Python is split into words. */
export function readCodeNames(text: string, language: CodeLanguage): CodeNames {
  if (language === 'js') {
    const modules = take(text.matchAll(JS_MODULE), ([, , name]) => [name]);
    return { modules, words: wordsOf(text), commands: [], isDynamic: JS_DYNAMIC.test(text) };
  }
  if (language === 'python') {
    const modules = take(text.matchAll(PYTHON_MODULE), ([, from, names, plain]) => pythonModules(from, names, plain));
    return { modules, words: wordsOf(text), commands: [], isDynamic: PYTHON_DYNAMIC.test(text) };
  }
  const commands = take(text.matchAll(COMMAND), ([, name]) => [name]);
  return { modules: [], words: wordsOf(text), commands, isDynamic: true };
}

/** The words of a text that are not only punctuation. */
function wordsOf(text: string): readonly string[] {
  return take(text.matchAll(/[^\s;&|()<>"'`=,[\]{}]{1,500}/g), ([word]) => (/\w/.test(word) ? [word] : []));
}

/** `import a.b, c` gives `a.b` and `c`; `from .a import b` gives `.a.b`, since `b` may be a module. */
function pythonModules(from: string | undefined, names: string | undefined, plain: string | undefined): string[] {
  const each = (list = '') => list.split(/[,()]/).flatMap((one) => /^\s*([.\w]+)/.exec(one)?.[1] ?? []);
  if (from === undefined) return each(plain);
  return [from, ...each(names).map((name) => (from.endsWith('.') ? `${from}${name}` : `${from}.${name}`))];
}

function take(
  matches: Iterable<RegExpMatchArray>,
  read: (match: RegExpMatchArray) => readonly (string | undefined)[],
): string[] {
  const names = new Set<string>();
  for (const match of matches) {
    for (const name of read(match)) if (name !== undefined) names.add(name);
    if (names.size >= MOST_NAMES) break;
  }
  return [...names];
}
