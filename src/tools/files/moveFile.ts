// The tool move_file: gives a file another name or place, unless it has changed since the model saw it.
import * as z from 'zod';
import { defineTool } from '../defineTool.ts';

export const moveFileTool = defineTool({
  name: 'move_file',
  description: 'Moves or renames one file of the workspace; missing folders are made. Nothing is overwritten.',
  effect: 'edit',
  previewed: true,
  arguments: {
    path: z.string().min(1).describe('The file, relative to the workspace'),
    to: z.string().min(1).describe('Its new path, with the file’s name'),
  },
  touches: ({ path, to }) => ({ paths: [path, to] }),
  run: async ({ path, to }, context) => (await import('../changing/relocate.ts')).moveFile(path, to, context),
});
