// The tool apply_patch: changes several files at once, in the form that some models were trained on; the whole patch or nothing.
import * as z from 'zod';
import { pathsInPatch } from '../../core/files/patchPaths.ts';
import { defineTool } from '../defineTool.ts';

export const applyPatchTool = defineTool({
  name: 'apply_patch',
  description: [
    'Changes files of the workspace by a patch in this form; all of it or nothing:',
    '*** Begin Patch',
    '*** Add File: path',
    '+each line of the new file',
    '*** Update File: path',
    '*** Move to: new path (only to rename it)',
    '@@ a line that stands before the change, such as a function’s head (only where needed)',
    ' three lines of context before',
    '-a line that goes',
    '+a line that comes',
    ' three lines of context after',
    '*** Delete File: path',
    '*** End Patch',
    'Paths are relative to the workspace. There are no line numbers: the context says where.',
  ].join('\n'),
  effect: 'edit',
  previewed: true,
  arguments: { input: z.string().min(1).describe('The whole patch, from “*** Begin Patch” to “*** End Patch”') },
  touches: ({ input }) => {
    const paths = pathsInPatch(input);
    return paths.length === 0 ? {} : { paths };
  },
  run: async ({ input }, context) => (await import('../changing/patch.ts')).applyPatch(input, context),
});
