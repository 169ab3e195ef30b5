// The tool delete_file: deletes a file, unless it has changed since the model read it.
import * as z from 'zod';
import { defineTool } from '../defineTool.ts';

export const deleteFileTool = defineTool({
  name: 'delete_file',
  description: 'Deletes one file of the workspace; it goes to the trash where there is one. The user can restore it.',
  effect: 'edit',
  previewed: true,
  arguments: { path: z.string().min(1).describe('Path relative to the workspace, for example src/app.ts') },
  touches: ({ path }) => ({ paths: [path] }),
  run: async ({ path }, context) => (await import('../changing/relocate.ts')).deleteFile(path, context),
});
