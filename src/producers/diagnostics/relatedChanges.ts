// Remembers the last changes of files that may affect the problems of other files.
import { extname } from 'node:path';

/** Extensions of languages whose files may import each other. */
const FAMILIES: readonly ReadonlySet<string>[] = [
  new Set(['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs', '.vue', '.svelte', '.astro']),
  new Set(['.c', '.h', '.cc', '.cpp', '.cxx', '.hpp', '.hh', '.hxx', '.inl', '.m', '.mm']),
  new Set(['.java', '.kt', '.kts', '.scala', '.groovy']),
  new Set(['.cs', '.fs', '.vb', '.razor']),
  new Set(['.py', '.pyi', '.pyx']),
  new Set(['.css', '.scss', '.less', '.html']),
];
/** Project files affect every language. */
const CONFIGURATION = new Set(['.json', '.jsonc', '.toml', '.yaml', '.yml', '.xml', '.mod', '.lock', '.cfg', '.ini']);

export interface RelatedChange {
  readonly path: string;
  readonly at: number;
}

export class RelatedChanges {
  /** The newest change, by extension. */
  readonly #last = new Map<string, RelatedChange>();

  add(path: string, at: number): void {
    const ending = extname(path);
    // A change that is reported late may be older.
    if (at >= (this.#last.get(ending)?.at ?? 0)) this.#last.set(ending, { path, at });
  }

  /** The newest change since then that may concern this file. */
  since(path: string, time: number): RelatedChange | undefined {
    const ending = extname(path);
    let newest: RelatedChange | undefined;
    for (const [other, change] of this.#last) {
      if (change.at < time || !mayConcern(other, ending)) continue;
      if (newest === undefined || change.at > newest.at) newest = change;
    }
    return newest;
  }
}

/** Whether a change of a file with the first extension may concern files with the second. */
export function mayConcern(changed: string, ending: string): boolean {
  return (
    changed === ending || CONFIGURATION.has(changed) || FAMILIES.some((one) => one.has(changed) && one.has(ending))
  );
}
