// The search query and the bounded collection of found lines, shared by ripgrep and the scanner.
import { printWholePath } from '../../base/printPath.ts';
import { wholeCharacters } from '../../base/text.ts';
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

/** How a search ended. `full`: the limit of matches was reached. */
export type SearchEnd =
  | { readonly type: 'ended' | 'full' | 'cancelled' | 'timed_out' }
  /** Only some of the files were searched. */
  | { readonly type: 'limited'; readonly files: number }
  | { readonly type: 'refused'; readonly reason: string };

/** Takes one line; returns false if no more lines are wanted. `path` as in FilePath. */
export type TakeLine = (path: string, line: FoundLine) => boolean;

const MOST_MATCHES = 200;
const MOST_CHARACTERS = 24_000;
/** Shown length of a line, around the match. */
const LINE_LENGTH = 300;
const BEFORE_MATCH = 80;

export class FoundLines {
  readonly #files = new Map<string, string[]>();
  readonly #matchesIn = new Map<string, number>();
  readonly #last = new Map<string, number>();
  readonly #progress: (text: string) => void;
  #shown: string | undefined;
  #matches = 0;
  #characters = 0;

  constructor(progress: (text: string) => void) {
    this.#progress = progress;
  }

  readonly take: TakeLine = (path, found) => {
    if (this.isFull) return false;
    const lines = this.#files.get(path) ?? [];
    const last = this.#last.get(path);
    const gap = last !== undefined && found.number > last + 1 ? ['  …'] : [];
    const text = [...gap, printLine(found)];
    this.#files.set(path, [...lines, ...text]);
    this.#last.set(path, found.number);
    if (found.at !== undefined) {
      this.#matches += 1;
      this.#matchesIn.set(path, (this.#matchesIn.get(path) ?? 0) + 1);
    }
    this.#characters += text.join('\n').length + (lines.length === 0 ? path.length : 0);
    this.#progress(`${this.#shown === path ? '' : `${printWholePath(path)}\n`}${text.join('\n')}\n`);
    this.#shown = path;
    return !this.isFull;
  };

  /** Drops matches in files that are not wanted. */
  async keepOnly(isWanted: (path: string) => Promise<boolean>): Promise<void> {
    for (const path of [...this.#files.keys()]) {
      if (await isWanted(path)) continue;
      this.#files.delete(path);
      this.#matches -= this.#matchesIn.get(path) ?? 0;
    }
  }

  get isFull(): boolean {
    return this.#matches >= MOST_MATCHES || this.#characters >= MOST_CHARACTERS;
  }

  get matches(): number {
    return this.#matches;
  }

  /** Sorted by path, so that the result does not depend on timing. */
  print(): string {
    const files = [...this.#files].sort(([a], [b]) => (a < b ? -1 : 1));
    const where = `${files.length} ${files.length === 1 ? 'file' : 'files'}`;
    const head = `${this.#matches}${this.isFull ? ' or more' : ''} matching ${this.#matches === 1 ? 'line' : 'lines'} in ${where}:`;
    return [head, ...files.map(([path, lines]) => [printWholePath(path), ...lines].join('\n'))].join('\n');
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
