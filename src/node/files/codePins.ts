// Collects the files of the workspace that a command runs, with all files that their code names, and what cannot be
// determined.
import { constants } from 'node:fs';
import { access, open, readdir, realpath, stat } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { basename, dirname, extname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ignore } from '../../base/async.ts';
import { type CodeLanguage, readCodeNames } from './codeNames.ts';
import { isInside } from './resolvePath.ts';

/** Code that may run and that no hash covers. */
export interface Unpinned {
  /**
   * `program`: it can run files that its command does not name. `variable`: it can load code. `loads`: the file
   * computes or caches what it loads. `package`: its files are too many. `many`: more files than are followed.
   */
  readonly kind: 'program' | 'variable' | 'loads' | 'package' | 'many';
  readonly what: string;
}

/** `exact`: the name is complete. `ending`: it may lack its ending. `module`: it may also be a folder with a main file. */
type NameForm = 'exact' | 'ending' | 'module';

/** `other`: a folder, or something that is not read. */
type Kind = 'none' | 'file' | 'other';

const MOST_FILES = 500;
const MOST_BYTES = 4 * 1024 * 1024;
const ENDINGS =
  '.js .mjs .cjs .ts .mts .cts .jsx .tsx .json .node .py .sh .bash .rb .pl .php .lua .cmd .bat .ps1'.split(' ');
/** Files that a word in a text may mean. A data file that a program also writes would be asked for again and again. */
const CODE = new Set(
  [...ENDINGS, '.jar', '.wasm', '.so', '.dll', '.dylib', '.exe', '.mk'].filter((one) => one !== '.json'),
);

export class CodePins {
  /** Paths whose content is approved. */
  readonly files = new Set<string>();
  /** Files whose code was searched for names. */
  readonly #visited = new Set<string>();
  readonly #kinds = new Map<string, Promise<Kind>>();
  readonly #unpinned = new Map<string, Unpinned>();
  readonly #roots: readonly string[];
  readonly #folder: string;
  #isInWorkspace = false;

  /** `roots`: the folders of the workspace. `folder`: where the command runs. */
  constructor(folder: string, roots: readonly string[]) {
    this.#folder = folder;
    this.#roots = roots;
  }

  get unpinned(): readonly Unpinned[] {
    return [...this.#unpinned.values()];
  }

  /** Whether code of the workspace runs, whoever configured the command. */
  get isInWorkspace(): boolean {
    return this.#isInWorkspace;
  }

  markInWorkspace(): void {
    this.#isInWorkspace = true;
  }

  addUnpinned(kind: Unpinned['kind'], what: string): void {
    this.#unpinned.set(`${kind} ${what}`, { kind, what });
  }

  /** A name for the user: relative to the workspace, if it is in it. */
  nameOf(path: string): string {
    const root = this.#roots.find((one) => isInside(one, path));
    return root === undefined ? path : relative(root, path).split(sep).join('/');
  }

  /** Whether the path, as written or where its links lead, is in the workspace. */
  async isInside(path: string): Promise<boolean> {
    if (this.#roots.some((root) => isInside(root, path))) return true;
    const real = await realpath(path).catch(() => path);
    return this.#roots.some((root) => isInside(root, real));
  }

  /** What is at the path, looked up once: the same names occur in many files. */
  #kindOf(path: string): Promise<Kind> {
    const kind = this.#kinds.get(path) ?? lookUp(path);
    this.#kinds.set(path, kind);
    return kind;
  }

  async #firstFile(paths: readonly string[]): Promise<string | undefined> {
    for (const path of paths) if ((await this.#kindOf(path)) === 'file') return realpath(path).catch(() => path);
    return undefined;
  }

  /** The real path of the file that a name in `base` means. */
  async find(name: string, form: NameForm, base = this.#folder): Promise<string | undefined> {
    const path = resolve(base, name);
    const file = await this.#firstFile([path, ...(form === 'exact' ? [] : ENDINGS.map((ending) => path + ending))]);
    if (file !== undefined || form !== 'module' || (await this.#kindOf(path)) !== 'other') return file;
    const main = await mainOf(path);
    const mains =
      main === undefined ? [] : [resolve(path, main), ...ENDINGS.map((ending) => resolve(path, main + ending))];
    const inner = [main ?? '.', '.'].flatMap((one) => ENDINGS.map((ending) => resolve(path, one, `index${ending}`)));
    return this.#firstFile([...mains, ...inner, join(path, '__main__.py')]);
  }

  /** All files that a name without its ending may mean, since it depends on the program which one it is. */
  async findAll(name: string, form: 'exact' | 'ending', base = this.#folder): Promise<readonly string[]> {
    const endings = form === 'exact' ? [''] : ['', ...ENDINGS];
    const found = await Promise.all(endings.map((ending) => this.find(name + ending, 'exact', base)));
    return found.filter((path) => path !== undefined);
  }

  /** Adds a file that the command names, and what its code names if it is in the workspace. */
  async addFile(path: string, known?: CodeLanguage): Promise<void> {
    if (this.#visited.has(path)) return;
    this.#visited.add(path);
    this.files.add(path);
    if (!(await this.isInside(path))) return;
    this.#isInWorkspace = true;
    if (this.files.size > MOST_FILES) {
      this.addUnpinned('many', String(MOST_FILES));
      return;
    }
    const installed = /(?:^|[\\/])node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(this.nameOf(path))?.[1];
    if (installed !== undefined) {
      this.addUnpinned('package', installed);
      return;
    }
    if (known === undefined && !(await isCode(path))) return;
    const language = known ?? languageOf(path);
    const text = await readText(path);
    if (text === undefined) this.addUnpinned('loads', this.nameOf(path));
    else await this.#addNames(text, path, language);
  }

  /** Adds a file that influences the command, but whose content is not code. */
  addInfluence(path: string): void {
    this.files.add(path);
  }

  /** Adds the code files that the words of a text name, such as a command line, and returns its commands. */
  async addText(text: string, base = this.#folder): Promise<readonly string[]> {
    const { words, commands } = readCodeNames(text, 'other');
    await this.#addWords(words, base);
    return commands;
  }

  /** Adds those files of the folder and of the workspace's folders above it that exist; returns their paths. */
  async findUpwards(names: readonly string[], from = this.#folder): Promise<readonly string[]> {
    const found: string[] = [];
    for (let folder = from; await this.isInside(folder); folder = dirname(folder)) {
      for (const name of names) if ((await this.#kindOf(join(folder, name))) !== 'none') found.push(join(folder, name));
      if (dirname(folder) === folder) break;
    }
    return found;
  }

  async #addNames(text: string, path: string, language: CodeLanguage): Promise<void> {
    const { modules, words, isDynamic } = readCodeNames(text, language);
    const folder = dirname(path);
    if (isDynamic) this.addUnpinned('loads', this.nameOf(path));
    if (language === 'js') {
      const [nearest] = await this.findUpwards(['package.json'], folder);
      if (nearest !== undefined) this.addInfluence(nearest);
      for (const name of modules) await this.#addJsModule(name, path, nearest);
    }
    if (language === 'python') for (const name of modules) await this.#addPythonModule(name, path);
    // In these languages a plain word is rather the name of a variable than of a file.
    const isPath = (word: string) => /[\\/]/.test(word) || CODE.has(extname(word));
    await this.#addWords(language === 'other' ? words : words.filter(isPath), folder);
  }

  async #addWords(words: readonly string[], base: string): Promise<void> {
    for (const from of new Set([base, this.#folder])) {
      const names = await readdir(from).catch((): string[] => []);
      const known = new Set([...names, ...names.map((name) => name.replace(/\.[^.]*$/, '')), '..']);
      for (const word of words) {
        const inner = relative(from, resolve(from, word));
        // Saves looking for each word of a text with each ending.
        if (!known.has(inner.split(sep)[0] ?? '')) continue;
        for (const path of await this.findAll(word, CODE.has(extname(word)) ? 'exact' : 'ending', from)) {
          if ((await this.isInside(path)) && (await isCode(path))) await this.addFile(path);
        }
      }
    }
  }

  async #addJsModule(name: string, importer: string, nearest: string | undefined): Promise<void> {
    if (isBuiltin(name)) return;
    if (/^(?:\.{0,2}[\\/]|\.{1,2}$|file:|[A-Za-z]:[\\/])/.test(name)) {
      const path = await this.find(pathOfSpecifier(name), 'module', dirname(importer));
      if (path !== undefined) await this.addFile(path);
      return;
    }
    const [, installed = name] = /^((?:@[^/]+\/)?[^/]+)/.exec(name) ?? [];
    const places = await this.findUpwards([join('node_modules', installed)], dirname(importer));
    const isOwn =
      name.startsWith('#') || (nearest !== undefined && (await readText(nearest))?.includes(`"${installed}"`));
    if (places.length > 0 || isOwn === true) this.addUnpinned('package', installed);
  }

  /** A module of the workspace is not pinned: Python may run its compiled form from `__pycache__` without a check. */
  async #addPythonModule(name: string, importer: string): Promise<void> {
    const [dots = ''] = /^\.*/.exec(name) ?? [];
    const plain = name.slice(dots.length);
    const above = dots.length > 1 ? Array.from({ length: dots.length - 1 }, () => '..') : [];
    const bases = dots === '' ? [dirname(importer), this.#folder] : [resolve(dirname(importer), ...above)];
    const parts = plain.split('.').filter((part) => part !== '');
    for (const base of new Set(bases)) {
      if (!(await hasModule(base, parts[0] ?? '__init__'))) continue;
      this.addUnpinned('loads', this.nameOf(importer));
      for (let count = 1; count <= Math.max(1, parts.length); count += 1) {
        const path = join(base, ...parts.slice(0, count));
        for (const file of [`${path}.py`, join(path, '__init__.py')])
          if ((await this.#kindOf(file)) === 'file') await this.addFile(file);
      }
    }
  }
}

function languageOf(path: string): CodeLanguage {
  if (/\.[mc]?[jt]sx?$/i.test(path)) return 'js';
  return /\.pyw?$/i.test(path) ? 'python' : 'other';
}

/** The beginning of the file as text; undefined if it is too large, not a regular file or cannot be read. */
export async function readText(path: string, most = MOST_BYTES): Promise<string | undefined> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const { size } = await file.stat();
      if (!(await file.stat()).isFile() || size > most) return undefined;
      const { bytesRead, buffer } = await file.read(Buffer.alloc(size), 0, size, 0);
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}

async function mainOf(folder: string): Promise<string | undefined> {
  try {
    const text = (await readText(join(folder, 'package.json'))) ?? '{}';
    const { main } = JSON.parse(text) as { main?: unknown };
    return typeof main === 'string' ? main : undefined;
  } catch {
    return undefined;
  }
}

function pathOfSpecifier(name: string): string {
  const [plain = ''] = name.split(/[?#]/, 1);
  try {
    return plain.startsWith('file:') ? fileURLToPath(plain) : plain;
  } catch {
    return plain;
  }
}

async function hasModule(folder: string, name: string): Promise<boolean> {
  const names = await readdir(folder).catch((): string[] => []);
  return names.some((one) => one === name || (one.startsWith(`${name}.`) && /\.(?:py|pyc|so|pyd)$/.test(one)));
}

/** Compiled code and data name no files that could be read. */
async function isCode(path: string): Promise<boolean> {
  if (extname(path) !== '') return CODE.has(extname(path).toLowerCase());
  return /^(?:GNU)?[Mm]akefile$/.test(basename(path)) || (await isExecutable(path));
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function lookUp(path: string): Promise<Kind> {
  const found = path.includes('\0') ? undefined : await stat(path).catch(ignore);
  if (found === undefined) return 'none';
  return found.isFile() ? 'file' : 'other';
}
