// The search query and the bounded collection of found lines, shared by ripgrep and the scanner.
import { printWholePath } from '../../base/printPath.ts';
import { shortList, wholeCharacters } from '../../base/text.ts';
import { compileGlob } from '../../core/files/globs.ts';

export interface SearchQuery {
  readonly text: string;
  readonly regex: boolean;
  /** If undefined, case-sensitive only if the text has a capital letter. */
  readonly caseSensitive?: boolean | undefined;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly contextLines: number;
  /** Also search files ignored by .gitignore. */
  readonly ignored: boolean;
}

export interface FoundLine {
  readonly number: number;
  readonly text: string;
  /** Start of the match in the text; absent for context lines. */
  readonly at?: number;
}

/** How a search ended. `full`: more was found than is shown. */
export type SearchEnd =
  | { readonly type: 'ended' | 'full' | 'cancelled' | 'timed_out' }
  /** Only some of the files were searched. */
  | { readonly type: 'limited'; readonly files: number }
  | { readonly type: 'refused'; readonly reason: string };

/**
 * Takes one line; returns false if no more lines are wanted. `path` as in FilePath. `too_large`: the file, or a line of
 * it, is too large to be searched.
 */
export type TakeLine = (path: string, line: FoundLine | 'too_large') => boolean;

export const MOST_MATCHES = 200;
/** So that one file cannot hide the matches in others. */
export const MOST_IN_ONE_FILE = 100;
const MOST_CHARACTERS = 24_000;
/** Shown length of a line, around the match. */
const LINE_LENGTH = 300;
const BEFORE_MATCH = 80;

export class FoundLines {
  readonly #files = new Map<string, string[]>();
  readonly #matchesIn = new Map<string, number>();
  readonly #last = new Map<string, number>();
  /** The shown lines of each file, by number. */
  readonly #lines = new Map<string, Map<number, string>>();
  /** Files with more matches than are shown, and the line of the first one that is not shown. */
  readonly #cut = new Map<string, number>();
  readonly #tooLarge = new Set<string>();
  readonly #progress: (text: string) => void;
  #shown: string | undefined;
  #matches = 0;
  #characters = 0;
  #isFull = false;

  constructor(progress: (text: string) => void) {
    this.#progress = progress;
  }

  readonly take: TakeLine = (path, found) => {
    if (found === 'too_large') {
      this.#tooLarge.add(path);
      return true;
    }
    const isMatch = found.at !== undefined;
    const before = this.#matchesIn.get(path) ?? 0;
    if (isMatch && before === MOST_IN_ONE_FILE && !this.#cut.has(path)) this.#cut.set(path, found.number);
    if (this.#cut.has(path)) return true;
    if (this.#characters >= MOST_CHARACTERS || (isMatch && this.#matches >= MOST_MATCHES)) {
      this.#isFull = true;
      return false;
    }
    const lines = this.#files.get(path) ?? [];
    const last = this.#last.get(path);
    const gap = last !== undefined && found.number > last + 1 ? ['  …'] : [];
    const text = [...gap, printLine(found)];
    this.#files.set(path, [...lines, ...text]);
    this.#last.set(path, found.number);
    this.#lines.set(path, (this.#lines.get(path) ?? new Map<number, string>()).set(found.number, found.text));
    if (isMatch) {
      this.#matches += 1;
      this.#matchesIn.set(path, before + 1);
    }
    this.#characters += text.join('\n').length + (lines.length === 0 ? path.length : 0);
    this.#progress(`${this.#shown === path ? '' : `${printWholePath(path)}\n`}${text.join('\n')}\n`);
    this.#shown = path;
    return true;
  };

  /** Drops matches in files that are not wanted. */
  async keepOnly(isWanted: (path: string) => Promise<boolean>): Promise<void> {
    for (const path of new Set([...this.#files.keys(), ...this.#tooLarge])) {
      if (await isWanted(path)) continue;
      this.#tooLarge.delete(path);
      this.#cut.delete(path);
      this.#files.delete(path);
      this.#lines.delete(path);
      this.#matches -= this.#matchesIn.get(path) ?? 0;
    }
  }

  /** The shown lines of each file: their texts by number. */
  get lines(): ReadonlyMap<string, ReadonlyMap<number, string>> {
    return this.#lines;
  }

  get matches(): number {
    return this.#matches;
  }

  /** Sorted by path, so that the result does not depend on timing. */
  print(): string {
    const files = [...this.#files].sort(([a], [b]) => (a < b ? -1 : 1));
    const where = `${files.length} ${files.length === 1 ? 'file' : 'files'}`;
    const isPart = this.#isFull || this.#cut.size > 0;
    const head = `${this.#matches}${isPart ? ' or more' : ''} matching ${this.#matches === 1 ? 'line' : 'lines'} in ${where}:`;
    const blocks = files.map(([path, lines]) => [printWholePath(path), ...lines, ...this.#printCut(path)].join('\n'));
    return [head, ...blocks].join('\n');
  }

  /** Which files were not searched whole. */
  printTooLarge(): string[] {
    const paths = [...this.#tooLarge].sort().map(printWholePath);
    if (paths.length === 0) return [];
    return [`(Too large to be searched whole: ${shortList(paths)}. Use read_file or a command.)`];
  }

  #printCut(path: string): string[] {
    const line = this.#cut.get(path);
    return line === undefined
      ? []
      : [`  (More from line ${line} on: use a longer query, or read the file from there.)`];
  }
}

function printLine({ number, text, at }: FoundLine): string {
  const sign = at === undefined ? '-' : ':';
  const line = text.trimEnd();
  if (line.length <= LINE_LENGTH) return `  ${number}${sign} ${line}`;
  const start = Math.max(0, Math.min((at ?? 0) - BEFORE_MATCH, line.length - LINE_LENGTH));
  const cut = wholeCharacters(line.slice(start), LINE_LENGTH);
  return `  ${number}${sign} ${start > 0 ? '…' : ''}${cut}${start + cut.length < line.length ? '…' : ''}`;
}

export function isCaseSensitive({ caseSensitive, text }: SearchQuery): boolean {
  return caseSensitive ?? /\p{Lu}/u.test(text);
}

/** Whether a match can have several lines. */
export function isMultiline({ text, regex }: SearchQuery): boolean {
  return regex ? /\\n|\n/.test(text) : text.includes('\n');
}

/** ripgrep's globs: one without a slash matches at any depth. */
export function wantsPath({ include, exclude }: SearchQuery): (path: string) => boolean {
  const compile = (globs: readonly string[]) =>
    globs.map((glob) => {
      const anchored = glob.replace(/\/$/, '').includes('/');
      const whole = anchored ? glob.replace(/^\//, '') : `**/${glob}`;
      const [itself, inside] = [compileGlob(whole), compileGlob(`${whole.replace(/\/$/, '')}/**`)];
      return (path: string) => itself(path) || inside(path);
    });
  const [wanted, unwanted] = [compile(include), compile(exclude)];
  return (path) =>
    (wanted.length === 0 || wanted.some((matches) => matches(path))) && !unwanted.some((matches) => matches(path));
}
