// Matches globs against workspace paths, and indexes globs by a key, so that a path is not compared with all of them.
import { compilePath, type PathPattern } from '../../base/patterns/pathPattern.ts';
import { withoutTrailing } from '../../base/text.ts';

/** Longer globs match nothing. */
export const GLOB_LIMIT = 1000;
/** What callers may add around a glob of the greatest allowed length. */
const ROOM = '**//**'.length;
/** A glob whose braces expand to more globs than this matches nothing. */
const MOST_ALTERNATIVES = 100;

/**
 * Supports `*` and `?` within a name, `**` for any number of folders, `[...]` and `{a,b}`; a backslash escapes a
 * character. Dots are ordinary characters, `/` separates, and case matters, on every machine.
 */
export function compileGlob(glob: string): (path: string) => boolean {
  if (glob === '' || glob.length > GLOB_LIMIT + ROOM) return () => false;
  const patterns = (alternativesOf(glob) ?? []).map((one) => compilePath(one.startsWith('./') ? one.slice(2) : one));
  return (path) => patterns.some((pattern) => matchesPath(pattern, path));
}

/** Why a glob matches nothing, for its author; undefined if it can match. */
export function whyUnusable(glob: string): string | undefined {
  if (glob === '') return 'it is empty';
  if (glob.length > GLOB_LIMIT) return `it is longer than ${GLOB_LIMIT} characters`;
  return alternativesOf(glob) === undefined ? `its braces stand for more than ${MOST_ALTERNATIVES} globs` : undefined;
}

function matchesPath(pattern: PathPattern, path: string): boolean {
  const walk = pattern.start();
  let matches = false;
  for (const name of withoutTrailing(path, '/').split('/')) matches = walk.step(name);
  return matches;
}

/** `a.{ts,js}` → `a.ts`, `a.js`. Undefined if there are too many. */
function alternativesOf(glob: string): string[] | undefined {
  const done: string[] = [];
  const open = [glob];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const braces = firstBraces(next);
    if (braces === undefined) done.push(next);
    else for (const one of braces.alternatives) open.push(braces.before + one + braces.after);
    if (done.length + open.length > MOST_ALTERNATIVES) return undefined;
  }
  return done;
}

interface Braces {
  readonly before: string;
  readonly alternatives: readonly string[];
  readonly after: string;
}

/** The first pair of braces with a comma of its own; others are ordinary characters. */
function firstBraces(glob: string): Braces | undefined {
  const open: { readonly at: number; readonly commas: number[] }[] = [];
  let found: { readonly at: number; readonly commas: readonly number[]; readonly end: number } | undefined;
  for (let at = 0; at < glob.length; at += 1) {
    const unit = glob[at];
    if (unit === '\\') at += 1;
    else if (unit === '{') open.push({ at, commas: [] });
    else if (unit === ',') open.at(-1)?.commas.push(at);
    else if (unit === '}') {
      const pair = open.pop();
      if (pair === undefined || pair.commas.length === 0) continue;
      if (found === undefined || pair.at < found.at) found = { ...pair, end: at };
    }
  }
  if (found === undefined) return undefined;
  const cuts = [found.at, ...found.commas, found.end];
  const alternatives = cuts.slice(1).map((end, index) => glob.slice((cuts[index] ?? 0) + 1, end));
  return { before: glob.slice(0, found.at), alternatives, after: glob.slice(found.end + 1) };
}

const compiledLists = new WeakMap<readonly string[], (path: string) => boolean>();

/** Whether any of the globs matches the path or a folder above it, so that `dist` includes everything in it. */
export function matchesAny(globs: readonly string[], path: string): boolean {
  let compiled = compiledLists.get(globs);
  if (compiled === undefined) {
    const matchers = globs.flatMap((glob) => [compileGlob(glob), compileGlob(`${withoutTrailing(glob, '/')}/**`)]);
    compiled = (candidate) => matchers.some((matches) => matches(candidate));
    compiledLists.set(globs, compiled);
  }
  return compiled(path);
}

const LITERAL = /^(?!\.{1,2}$)[\p{L}\p{N}_.-]+$/u;
const LITERAL_ENDING = /^\*(\.[\p{L}\p{N}_-]+)$/u;
/** With these characters, the text between two slashes is not necessarily one segment of a path. */
const UNSAFE = /[!()[\]{}|\\]/;

/** The folder that contains every match (empty: any), and the name or ending that every match has (empty: any). */
export interface GlobKey {
  readonly folder: string;
  readonly tail: string;
}

export function globKeyOf(glob: string): GlobKey {
  if (UNSAFE.test(glob)) return { folder: '', tail: '' };
  const segments = glob.split('/');
  const last = segments.pop() ?? '';
  const wild = segments.findIndex((segment) => !LITERAL.test(segment));
  const folder = segments.slice(0, wild === -1 ? segments.length : wild).join('/');
  const tail = LITERAL.test(last) ? last : (LITERAL_ENDING.exec(last)?.[1] ?? '');
  return { folder, tail };
}

/** Every key that a glob matching this path can have. */
export function keysFor(path: string): readonly GlobKey[] {
  const trimmed = withoutTrailing(path, '/');
  const name = trimmed.slice(trimmed.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  const tails = new Set(['', name, dot === -1 ? '' : name.slice(dot)]);
  // No glob names a longer folder.
  const folders = trimmed.length > GLOB_LIMIT ? [''] : ['', trimmed];
  for (let at = path.indexOf('/'); at !== -1 && at <= GLOB_LIMIT; at = path.indexOf('/', at + 1)) {
    folders.push(path.slice(0, at));
  }
  return [...new Set(folders)].flatMap((folder) => [...tails].map((tail) => ({ folder, tail })));
}
