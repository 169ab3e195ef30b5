// The tool watch: subscribes to files by glob. The patterns are projected from the calls in the log.
import * as z from 'zod';
import { applyWatch } from '../core/conversation/projections/watches.ts';
import { GLOB_LIMIT, whyUnusable } from '../core/files/globs.ts';
import { answer, defineTool, refuse } from './defineTool.ts';

/** More would make every change in the workspace costly. */
const MOST_WATCHES = 100;
const globs = z.array(z.string().min(1).max(GLOB_LIMIT)).max(MOST_WATCHES);

export const watchTool = defineTool({
  name: 'watch',
  description:
    'Adds or removes glob patterns such as src/**/*.ts: you are notified when matching files are created or changed, even if you have not read them. At most 100 patterns. Without arguments it lists them. Files you have read are watched anyway.',
  effect: 'read',
  traits: { changesWatches: true },
  arguments: {
    add: globs.optional().describe('Patterns to watch, relative to the workspace, with / as separator'),
    remove: globs.optional().describe('Patterns to stop watching, exactly as they were added'),
  },
  run: async ({ add = [], remove = [] }, { watches }) => {
    const outside = add.find((glob) => /^([/\\]|[a-z]:|\.\.(\/|$))/i.test(glob));
    if (outside !== undefined)
      return refuse(`add: ${outside} leads out of the workspace. Patterns are relative to it.`);
    for (const glob of add) {
      const reason = whyUnusable(glob);
      if (reason !== undefined) return refuse(`add: ${glob} cannot be watched: ${reason}. Split it into several.`);
    }
    const unknown = remove.find((glob) => !watches.has(glob));
    if (unknown !== undefined) {
      return refuse(`remove: ${unknown} is not watched. ${describeWatches(watches)}`);
    }
    const next = applyWatch(watches, { add, remove });
    if (next.size > MOST_WATCHES) {
      return refuse(`add: that would be ${next.size} patterns; at most ${MOST_WATCHES} can be watched. Remove some.`);
    }
    return answer(describeWatches(next));
  },
});

function describeWatches(watches: ReadonlySet<string>): string {
  return watches.size === 0 ? 'No pattern is watched.' : `Watched: ${[...watches].join(', ')}.`;
}
