// Finds one sequence in another in linear time (Knuth, Morris, Pratt); `indexOf` is quadratic on repetitive text.

/** Starts of the occurrences that do not overlap. `wanted` must not be empty. */
export function findSequence<T>(all: ArrayLike<T>, wanted: ArrayLike<T>, from = 0): number[] {
  const fallbacks = fallbacksOf(wanted);
  const found: number[] = [];
  let matched = 0;
  for (let at = from; at < all.length; at += 1) {
    while (matched > 0 && all[at] !== wanted[matched]) matched = fallbacks[matched - 1] ?? 0;
    if (all[at] === wanted[matched]) matched += 1;
    if (matched < wanted.length) continue;
    found.push(at + 1 - wanted.length);
    matched = 0;
  }
  return found;
}

/** Starts of all occurrences, overlapping ones included. */
export function findOverlapping<T>(all: ArrayLike<T>, wanted: ArrayLike<T>, from = 0): number[] {
  const fallbacks = fallbacksOf(wanted);
  const found: number[] = [];
  let matched = 0;
  for (let at = from; at < all.length; at += 1) {
    while (matched > 0 && (matched === wanted.length || all[at] !== wanted[matched])) {
      matched = fallbacks[matched - 1] ?? 0;
    }
    if (all[at] === wanted[matched]) matched += 1;
    if (matched === wanted.length) found.push(at + 1 - wanted.length);
  }
  return found;
}

/** For each prefix, the length of its longest proper prefix that is also its suffix. */
function fallbacksOf<T>(wanted: ArrayLike<T>): Int32Array {
  const fallbacks = new Int32Array(wanted.length);
  let length = 0;
  for (let at = 1; at < wanted.length; at += 1) {
    while (length > 0 && wanted[at] !== wanted[length]) length = fallbacks[length - 1] ?? 0;
    if (wanted[at] === wanted[length]) length += 1;
    fallbacks[at] = length;
  }
  return fallbacks;
}
