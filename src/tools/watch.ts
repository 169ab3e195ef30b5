// The tool watch: subscribes to files by glob. The patterns are projected from the calls in the log.
import * as z from 'zod';
import { changeWatches, describeWatches, MOST_WATCHES } from '../core/conversation/watching.ts';
import { GLOB_LIMIT } from '../core/files/globs.ts';
import { answer, defineTool, refuse } from './defineTool.ts';

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
  run: async (change, { watches }) => {
    const changed = changeWatches(watches, change);
    return changed.ok ? answer(describeWatches(changed.value)) : refuse(changed.failure);
  },
});
