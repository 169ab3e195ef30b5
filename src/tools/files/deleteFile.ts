// The tool delete_file: removes a file, unless it has changed since the model saw it; its bytes are kept.
import * as z from 'zod';
import { defineTool } from '../defineTool.ts';

export const deleteFileTool = defineTool({
  name: 'delete_file',
  description: 'Deletes one file of the workspace, into the trash where there is one. The user can bring it back.',
  effect: 'edit',
  previewed: true,
  arguments: { path: z.string().min(1).describe('The file, relative to the workspace') },
  touches: ({ path }) => ({ paths: [path] }),
  run: async ({ path }, context) => (await import('../changing/relocate.ts')).deleteFile(path, context),
});
