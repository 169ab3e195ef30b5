// The tool write_file: creates a file, or replaces one whose current content the model has read.
import * as z from 'zod';
import { defineTool } from '../defineTool.ts';

export const writeFileTool = defineTool({
  name: 'write_file',
  description:
    'Creates a file, with missing folders, or replaces a whole file. To replace a file you must have read all of its present content. To change parts of a file use edit_file.',
  effect: 'edit',
  previewed: true,
  arguments: {
    path: z.string().min(1).describe('Path relative to the workspace, for example src/app.ts'),
    content: z.string().describe('Complete content of the file'),
  },
  touches: ({ path }) => ({ paths: [path] }),
  run: async ({ path, content }, context) => (await import('../changing/write.ts')).writeFile(path, content, context),
});
