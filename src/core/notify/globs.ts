// Decides what a glob over workspace paths matches, and under which key it is found without trying every glob.
import picomatch from 'picomatch';

/** Longer ones could take for ever to compile. */
export const GLOB_LIMIT = 1000;

/** Dots are ordinary, `/` parts, case counts: the same on every machine. A glob too long to be one matches nothing. */
export function compileGlob(glob: string): (path: string) => boolean {
  if (glob === '' || glob.length > GLOB_LIMIT) return () => false;
  try {
    return picomatch(glob, { dot: true, windows: false });
  } catch {
    return () => false;
  }
}

const compiledLists = new WeakMap<readonly string[], (path: string) => boolean>();

/** Whether any of the globs matches the path or a folder above it, so that `dist` stands for all that is in it. */
export function matchesAny(globs: readonly string[], path: string): boolean {
  let compiled = compiledLists.get(globs);
  if (compiled === undefined) {
    const matchers = globs.flatMap((glob) => [compileGlob(glob), compileGlob(`${glob.replace(/\/+$/, '')}/**`)]);
    compiled = (candidate) => matchers.some((matches) => matches(candidate));
    compiledLists.set(globs, compiled);
  }
  return compiled(path);
}

const LITERAL = /^(?!\.{1,2}$)[\p{L}\p{N}_.-]+$/u;
const LITERAL_ENDING = /^\*(\.[\p{L}\p{N}_-]+)$/u;
/** With these, what stands between two slashes need not be one part of a path. */
const UNSAFE = /[!()[\]{}|\\]/;

/** A folder that every match lies in (empty: any), and the name or ending that every match has (empty: any). */
export interface GlobKey {
  readonly folder: string;
  readonly tail: string;
}

export function keyOf(glob: string): GlobKey {
  if (UNSAFE.test(glob)) return { folder: '', tail: '' };
  const segments = glob.split('/');
  const last = segments.pop() ?? '';
  const wild = segments.findIndex((segment) => !LITERAL.test(segment));
  const folder = segments.slice(0, wild === -1 ? segments.length : wild).join('/');
  const tail = LITERAL.test(last) ? last : (LITERAL_ENDING.exec(last)?.[1] ?? '');
  return { folder, tail };
}

/** Every key under which a glob that matches this path can stand. */
export function keysFor(path: string): readonly GlobKey[] {
  const trimmed = path.replace(/\/+$/, '');
  const name = trimmed.slice(trimmed.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  const tails = new Set(['', name, dot === -1 ? '' : name.slice(dot)]);
  const folders = ['', trimmed];
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
    folders.push(path.slice(0, slash));
  }
  return [...new Set(folders)].flatMap((folder) => [...tails].map((tail) => ({ folder, tail })));
}
