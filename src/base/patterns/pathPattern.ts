// Matches paths against patterns name by name, so that the work grows with the length of the path and no faster:
// `**` stands for any number of names, everything else for one. Used for globs and for ignore files.
import { compileName, isNavigation, type NamePattern, splitNames } from './namePattern.ts';

/** Any number of names, also none. */
const ANY_NAMES = '**';
const ONE_NAME: NamePattern = { matches: (name) => name !== '' };

export interface PathPattern {
  /** Follows one path from its outermost name inwards. */
  start(): PathWalk;
}

export interface PathWalk {
  /** Goes one name further in: whether the path up to here matches. */
  step(name: string): boolean;
}

export interface PathPatternOptions {
  readonly ignoreCase?: boolean;
  /** `a/**` is what lies in `a`, not `a` itself. */
  readonly insideOnly?: boolean;
}

/** Names are separated by `/`. */
export function compilePath(pattern: string, { ignoreCase, insideOnly }: PathPatternOptions = {}): PathPattern {
  const parts = splitNames(pattern);
  const names = parts.flatMap((part, index): (NamePattern | typeof ANY_NAMES)[] => {
    if (part !== ANY_NAMES) return [compileName(part, ignoreCase)];
    return index === parts.length - 1 && insideOnly === true ? [ANY_NAMES, ONE_NAME] : [ANY_NAMES];
  });
  return { start: () => createWalk(names) };
}

function createWalk(names: readonly (NamePattern | typeof ANY_NAMES)[]): PathWalk {
  const [first, second] = names;
  // The most common kind, `**/*.log`: only the last name counts.
  if (names.length === 2 && first === ANY_NAMES && second !== ANY_NAMES && second !== undefined) {
    return { step: (name) => second.matches(name) };
  }
  /** Where in the pattern the path may be by now: all at once, so that nothing is tried twice. */
  let places = new Set<number>();
  const reach = (place: number, into: Set<number>) => {
    into.add(place);
    for (let next = place; names[next] === ANY_NAMES; next += 1) into.add(next + 1);
  };
  reach(0, places);
  return {
    step: (name) => {
      const reached = new Set<number>();
      for (const place of places) {
        const wanted = names[place];
        if (wanted === ANY_NAMES) {
          if (!isNavigation(name)) reach(place, reached);
        } else if (wanted?.matches(name) === true) reach(place + 1, reached);
      }
      places = reached;
      return places.has(names.length);
    },
  };
}
