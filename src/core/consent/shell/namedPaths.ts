// Finds the paths that a script names, and reports if some of them are known only when it runs.
import { readPosixScript } from './posixReader.ts';
import { isPosix, type PosixShell, type SimpleCommand, shellSyntaxOf, type Word, type Part } from './script.ts';
import { Variables } from './variables.ts';
import { pathsInText } from './wordPaths.ts';

export interface NamedPaths {
  readonly paths: readonly string[];
  /** Why there may be other paths; absent: there are none. */
  readonly unclear?: string;
}

/** With more paths than this, the script counts as unclear. */
const MOST_PATHS = 1000;
/** The most combinations of variable values for one word. */
const MOST_VALUES = 100;
const MOST_FOLDERS = 20;
/** The nesting limit for shells that get a command line as an argument. */
const DEEPEST_SHELLS = 3;

/** These only print or compare their arguments and never open them. */
const OPENS_NOTHING = new Set([
  ...['echo', 'printf', 'test', '[', '[[', 'true', 'false', ':', 'exit', 'return', 'break', 'continue', 'shift'],
  ...['kill', 'wait', 'sleep', 'seq', 'expr', 'basename', 'dirname', 'unset', 'read'],
]);
/** These read data from their input, not commands. */
const READS_DATA = new Set([
  'cat',
  'tee',
  'wc',
  'grep',
  'sort',
  'head',
  'tail',
  'tr',
  'cut',
  'jq',
  'git',
  'gh',
  'diff',
]);
/** Programs that belong to the system. */
const SYSTEM_PROGRAM = /^(?:\/usr(?:\/local)?|\/opt\/homebrew)?\/s?bin\/[^/]+$/;
/** These variables can make the shell run another program than the named one. */
const CHOOSES_PROGRAM = /^(?:PATH|ENV|BASH_ENV|ZDOTDIR|LD_.*|DYLD_.*)$/;
const FOLDER_OPTIONS = new Set(['-C', '--directory', '--chdir', '--cwd', '--prefix']);
const GIT_MESSAGES = new Set(['commit', 'tag', 'merge', 'stash', 'notes']);

export function namedPaths(line: string, shell: PosixShell): NamedPaths {
  const collector = new Collector();
  collector.line(line, shell, 0);
  return collector.result;
}

class Collector {
  readonly #paths = new Set<string>();
  /** Folders in which the next command may run, as far as the line says. */
  #bases: readonly string[] = [''];
  #unclear: string | undefined;

  get result(): NamedPaths {
    const paths = [...this.#paths];
    return this.#unclear === undefined ? { paths } : { paths, unclear: this.#unclear };
  }

  line(text: string, shell: PosixShell, depth: number): void {
    const script = readPosixScript(text, shell);
    if (!script.understood) {
      // Paths that can be recognized are reported anyway.
      this.#addPathsIn(text);
      this.#doubt(script.reason);
      return;
    }
    const known = new Variables(script.commands);
    for (const command of script.commands) {
      if (this.#isFull()) return;
      this.#command(command, known, shell, depth);
      known.passed(command);
    }
  }

  #doubt(reason: string): void {
    this.#unclear ??= reason;
  }

  /** With this many paths approval is needed anyway, so the search ends. */
  #isFull(): boolean {
    return this.#paths.size > MOST_PATHS;
  }

  #addPathsIn(text: string): void {
    if (this.#isFull()) return;
    for (const path of pathsInText(text)) {
      for (const base of isRelative(path) ? this.#bases : ['']) this.#paths.add(base === '' ? path : `${base}/${path}`);
      if (this.#isFull()) return this.#doubt('it names too many files');
    }
  }

  #command(command: SimpleCommand, known: Variables, shell: PosixShell, depth: number): void {
    const { words, redirects, documents, assignments, loops, alone } = command;
    const texts = (word: Word) => this.#texts(word, known, loops);
    const addPaths = (word: Word) => {
      const found = texts(word);
      for (const text of found.texts) this.#addPathsIn(text);
      if (found.unknown !== undefined) this.#doubt(onlyWhenRun(found.unknown));
    };
    for (const { name, values } of assignments) {
      for (const value of values) {
        const found = texts(value);
        for (const text of found.texts) this.#addPathsIn(text);
        if (found.unknown !== undefined && CHOOSES_PROGRAM.test(name)) this.#doubt(onlyWhenRun(found.unknown));
      }
    }
    for (const target of redirects) addPaths(target);
    const [first, ...rest] = words;
    let program = first === undefined ? undefined : this.#program(texts(first));
    for (const document of documents) {
      if (alone && program !== undefined && READS_DATA.has(program)) continue;
      for (const text of texts(document).texts) this.#addPathsIn(text);
      if (document.some((part) => part.type !== 'text')) this.#doubt('a here-document may be run');
    }
    if (program === undefined) return;
    const given = rest.map(texts);
    while ((program === 'command' || program === 'builtin') && given.length > 0) {
      program = this.#program(given.shift() ?? { texts: [] }) ?? '';
    }
    const messages = messagesOf(program, given);
    this.#folderOptions(given);
    for (const [index, one] of given.entries()) {
      if (messages.has(index)) continue;
      for (const text of one.texts) this.#addPathsIn(text);
      const harmless = alone && OPENS_NOTHING.has(program);
      if (one.unknown !== undefined && !harmless) this.#doubt(onlyWhenRun(one.unknown));
    }
    if (program === 'cd' || program === 'pushd' || program === 'chdir') this.#changeFolder(given);
    this.#lines(program, given, shell, depth);
  }

  /** Returns the program's name. A path to it is reported, too, unless it leads to a program of the system. */
  #program({ texts, unknown }: Texts): string | undefined {
    const [program, ...more] = texts;
    if (unknown !== undefined || program === undefined) {
      this.#doubt(onlyWhenRun(unknown ?? 'its program'));
      return undefined;
    }
    for (const text of texts) if (/[/\\~]/.test(text) && !SYSTEM_PROGRAM.test(text)) this.#addPathsIn(text);
    if (more.length > 0) this.#doubt('it is not certain which program runs');
    // A pattern may expand to any file name, so to any program.
    if (/[*?]/.test(program) || (program.includes('[') && program.includes(']')))
      this.#doubt('it is not certain which program runs');
    return baseNameOf(program);
  }

  /** Afterwards, relative paths may start from the new folder. */
  #changeFolder(given: readonly Texts[]): void {
    const target = given.find(({ texts }) => !texts[0]?.startsWith('-'));
    // Without a target it is the home folder; with `-`, the previous one.
    if (target === undefined) this.#doubt('cd does not name its folder');
    else this.#addBases(target.texts);
  }

  /** Handles options that change the folder of one program: `git -C folder`. */
  #folderOptions(given: readonly Texts[]): void {
    for (const [index, { texts }] of given.entries()) {
      const [option = '', value] = (texts[0] ?? '').split('=', 2);
      if (FOLDER_OPTIONS.has(option)) this.#addBases(value === undefined ? (given[index + 1]?.texts ?? []) : [value]);
    }
  }

  #addBases(folders: readonly string[]): void {
    if (this.#bases.length * (folders.length + 1) > MOST_FOLDERS) return this.#doubt('it changes the folder too often');
    const added = folders.flatMap((folder) =>
      isRelative(folder) ? this.#bases.map((base) => (base === '' ? folder : `${base}/${folder}`)) : [folder],
    );
    this.#bases = [...new Set([...this.#bases, ...added])];
  }

  /** Examines command lines passed to another shell: `sh -c 'line'`, also after `env`, `xargs` and similar programs. */
  #lines(program: string, given: readonly Texts[], shell: PosixShell, depth: number): void {
    if (program === 'trap') this.#inner(given[0]?.texts ?? [], shell, depth);
    if (program === 'eval') this.#inner([given.map(({ texts }) => texts[0] ?? '').join(' ')], shell, depth);
    let syntax = shellSyntaxOf(program);
    for (const [index, { texts }] of given.entries()) {
      const [word = ''] = texts;
      const named = shellSyntaxOf(baseNameOf(word));
      if (named !== 'unknown') syntax = named;
      else if (syntax !== 'unknown' && /^[-/][A-Za-z]*c(?:ommand)?$/i.test(word)) {
        if (!isPosix(syntax)) return this.#doubt('a command line is given to another shell');
        this.#inner(given[index + 1]?.texts ?? [], syntax, depth);
        syntax = 'unknown';
      }
    }
  }

  #inner(lines: readonly string[], shell: PosixShell, depth: number): void {
    if (depth >= DEEPEST_SHELLS) return this.#doubt('it is nested too deeply');
    for (const line of lines) this.line(line, shell, depth + 1);
  }

  #texts(word: Word, known: Variables, loops: readonly string[]): Texts {
    const expanded = expandBraces(word);
    if (expanded === undefined) return { texts: [], unknown: 'a word with braces' };
    const all = expanded.map((one) => textsOf(one, known, loops));
    const unknown = all.find((one) => one.unknown !== undefined)?.unknown;
    const texts = [...new Set(all.flatMap((one) => one.texts))];
    return unknown === undefined ? { texts } : { texts, unknown };
  }
}

interface Texts {
  /** The possible values of the word; unknown parts are replaced by a letter. */
  readonly texts: readonly string[];
  readonly unknown?: string;
}

const ANYTHING = 'x';

function textsOf(word: Word, known: Variables, loops: readonly string[]): Texts {
  let texts = [''];
  const alternatives: string[] = [];
  let unknown: string | undefined;
  for (const part of word) {
    if (part.type === 'text') {
      // Only patterns that begin with a dot match names that do; these may be `..` or contain secrets.
      if (!part.quoted && /(?:^|\/)\.[^/]*[*?[]/.test(part.text)) unknown ??= part.text;
      texts = texts.map((text) => text + part.text);
    } else if (part.type === 'unknown') {
      if (part.number !== true) unknown ??= part.source;
      // A default value in `${…}` is text that may name a path. Substituted commands are examined separately.
      if (part.source.startsWith('${')) alternatives.push(part.source);
      texts = texts.map((text) => text + ANYTHING);
    } else {
      const values = known.valuesOf(part.name, loops);
      if (values === undefined) unknown ??= `$${part.name}`;
      texts = texts.flatMap((text) => (values ?? [ANYTHING]).map((value) => text + value));
      if (texts.length > MOST_VALUES) return { texts: [], unknown: `$${part.name}` };
    }
  }
  return unknown === undefined ? { texts } : { texts: [...texts, ...alternatives], unknown };
}

/** The indexes of words that are messages for people, such as commit messages: they name no files. */
function messagesOf(program: string, given: readonly Texts[]): ReadonlySet<number> {
  const found = new Set<number>();
  const words = given.map(({ texts }) => texts[0] ?? '');
  const command = words.find((word) => !word.startsWith('-')) ?? '';
  if (program !== 'git' || !GIT_MESSAGES.has(command)) return found;
  for (const [index, word] of words.entries()) {
    if (/^-[a-z]*m$/.test(word) || word === '--message') found.add(index + 1);
    if (word.startsWith('--message=')) found.add(index);
  }
  return found;
}

function baseNameOf(program: string): string {
  return program.slice(Math.max(program.lastIndexOf('/'), program.lastIndexOf('\\')) + 1);
}

function isRelative(path: string): boolean {
  return !/^(?:[/\\~]|[A-Za-z]:[\\/])/.test(path);
}

function onlyWhenRun(source: string): string {
  const text = source.length > 60 ? `${source.slice(0, 60)}…` : source;
  return `the value of ${text} is known only when it runs`;
}

/** Words with more results, more braces or more characters are not expanded and count as uncertain. */
const MOST = 200;
const MOST_BRACES = 8;
const LONGEST = 4096;
const SEQUENCE = /^(?:-?\d+|[A-Za-z])\.\.(?:-?\d+|[A-Za-z])(?:\.\.-?\d+)?$/;

interface Character {
  readonly text: string;
  /** Set for a quoted or unknown part: one piece that braces do not split. */
  readonly part?: Part;
}

/** The result includes the unexpanded word, because some shells do not expand braces. Undefined: not certain. */
function expandBraces(word: Word): readonly Word[] | undefined {
  const characters = word.flatMap((part): Character[] =>
    part.type === 'text' && !part.quoted ? Array.from(part.text, (text) => ({ text })) : [{ text: '', part }],
  );
  const braces = characters.filter(({ text }) => text === '{').length;
  if (braces === 0) return [word];
  if (braces > MOST_BRACES || characters.length > LONGEST) return undefined;
  const open: number[] = [];
  for (const [index, { text }] of characters.entries()) {
    if (text === '{') open.push(index);
    const start = text === '}' ? open.pop() : undefined;
    if (start === undefined || open.length > 0) continue;
    const inner = characters.slice(start + 1, index);
    const choices = choicesOf(inner);
    if (choices === undefined) return undefined;
    if (choices.length === 0) continue;
    const before = characters.slice(0, start);
    const rest = characters.slice(index + 1);
    const made: Word[] = [word];
    for (const choice of choices) {
      const expanded = expandBraces(toWord([...before, ...choice, ...rest]));
      if (expanded === undefined || made.length + expanded.length > MOST) return undefined;
      made.push(...expanded);
    }
    return made;
  }
  return open.length > 0 ? undefined : [word];
}

/** Empty: the braces are ordinary characters. Undefined: not certain. */
function choicesOf(inner: readonly Character[]): Character[][] | undefined {
  const choices: Character[][] = [[]];
  let depth = 0;
  for (const character of inner) {
    if (character.text === '{') depth += 1;
    if (character.text === '}') depth -= 1;
    if (character.text === ',' && depth === 0) choices.push([]);
    else choices.at(-1)?.push(character);
  }
  if (choices.length > 1) return choices.length > MOST ? undefined : choices;
  const text = inner.map((character) => character.text).join('');
  if (!text.includes('..') && !text.includes('{')) return [];
  // The values of a sequence are only numbers or letters, which cannot change where the path leads.
  return SEQUENCE.test(text) && inner.every(({ part }) => part === undefined) ? [[{ text: '0' }]] : undefined;
}

function toWord(characters: readonly Character[]): Word {
  const parts: Part[] = [];
  let bare = '';
  const flush = () => {
    if (bare !== '') parts.push({ type: 'text', text: bare, quoted: false });
    bare = '';
  };
  for (const { text, part } of characters) {
    if (part === undefined) bare += text;
    else {
      flush();
      parts.push(part);
    }
  }
  flush();
  return parts;
}
