// The tool move_file: moves or renames a file, unless it has changed since the model read it.
import * as z from 'zod';
import { defineTool } from '../defineTool.ts';

export const moveFileTool = defineTool({
  name: 'move_file',
  description:
    'Moves or renames one file of the workspace. Creates missing folders; fails if the new path exists. To rename a symbol in code use symbols.',
  effect: 'edit',
  previewed: true,
  arguments: {
    path: z.string().min(1).describe('Path relative to the workspace, for example src/app.ts'),
    to: z.string().min(1).describe('New path including the file name, relative to the workspace'),
  },
  touches: ({ path, to }) => ({ paths: [path, to] }),
  run: async ({ path, to }, context) => (await import('../changing/relocate.ts')).moveFile(path, to, context),
});
