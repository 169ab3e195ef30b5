// Changes the globs that a conversation or an outside agent watches, within their limits.
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { whyUnusable } from '../files/globs.ts';
import { applyWatch, type WatchArguments } from './projections/watches.ts';

/** With more globs, handling each change in the workspace would be too slow. */
export const MOST_WATCHES = 100;
const OUTSIDE = /^([/\\]|[a-z]:|\.\.(\/|$))/i;

/** The globs watched after the change; fails with a reason for the model. */
export function changeWatches(
  watches: ReadonlySet<string>,
  { add = [], remove = [] }: WatchArguments,
): Result<ReadonlySet<string>> {
  const refuse = (reason: string) => failed('refused', reason);
  const outside = add.find((glob) => OUTSIDE.test(glob));
  if (outside !== undefined) return refuse(`add: ${outside} leads out of the workspace. Patterns are relative to it.`);
  for (const glob of add) {
    const reason = whyUnusable(glob);
    if (reason !== undefined) return refuse(`add: ${glob} cannot be watched: ${reason}. Split it into several.`);
  }
  const unknown = remove.find((glob) => !watches.has(glob));
  if (unknown !== undefined) return refuse(`remove: ${unknown} is not watched. ${describeWatches(watches)}`);
  const next = applyWatch(watches, { add, remove });
  if (next.size > MOST_WATCHES) {
    return refuse(`add: that would be ${next.size} patterns; at most ${MOST_WATCHES} can be watched. Remove some.`);
  }
  return succeeded(next);
}

export function describeWatches(watches: ReadonlySet<string>): string {
  return watches.size === 0 ? 'No pattern is watched.' : `Watched: ${[...watches].join(', ')}.`;
}
