// Matches paths against patterns name by name, in time linear in the path. `**` matches any number of names, everything
// else one name. Used for globs and ignore files.
import { compileName, isNavigation, type NamePattern, splitNames } from './namePattern.ts';

/** Any number of names, including none. */
const ANY_NAMES = '**';
const ONE_NAME: NamePattern = { matches: (name) => name !== '' };

export interface PathPattern {
  /** Starts a walk along one path, from its outermost name inwards. */
  start(): PathWalk;
}

export interface PathWalk {
  /** Takes the next name; returns whether the path so far matches. */
  step(name: string): boolean;
}

export interface PathPatternOptions {
  readonly ignoreCase?: boolean;
  /** `a/**` matches what is in `a`, not `a` itself. */
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
  // The most common form, `**/*.log`: only the last name matters.
  if (names.length === 2 && first === ANY_NAMES && second !== ANY_NAMES && second !== undefined) {
    return { step: (name) => second.matches(name) };
  }
  /** All positions in the pattern that the path may have reached, so that nothing is tried twice. */
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
