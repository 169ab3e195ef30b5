// The tool apply_patch: changes several files at once, in the patch format that some models were trained on.
import * as z from 'zod';
import { pathsInPatch } from '../../core/files/patchPaths.ts';
import { defineTool } from '../defineTool.ts';

export const applyPatchTool = defineTool({
  name: 'apply_patch',
  description: [
    'Applies a patch to files of the workspace, completely or not at all. Use it to change several files at once; for one file prefer edit_file. Format:',
    '*** Begin Patch',
    '*** Add File: path',
    '+each line of the new file',
    '*** Update File: path',
    '*** Move to: new path (optional, to rename the file)',
    '@@ a line above the change, such as a function’s signature (optional, if the context occurs more than once)',
    ' three lines of context before',
    '-a line to remove',
    '+a line to add',
    ' three lines of context after',
    '*** Delete File: path',
    '*** End Patch',
    'Paths are relative to the workspace. Do not write line numbers: the context lines locate each change.',
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
