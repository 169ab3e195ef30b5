// The tool write_file: makes a file, or replaces the whole of one that the model knows as it is now.
import * as z from 'zod';
import { defineTool } from '../defineTool.ts';

export const writeFileTool = defineTool({
  name: 'write_file',
  description:
    'Makes a file with this content, with its folders, or replaces a whole file. To replace one you must have read all of it, as it is now; to change parts of a file use edit_file.',
  effect: 'edit',
  previewed: true,
  arguments: {
    path: z.string().min(1).describe('Path relative to the workspace, for example src/app.ts'),
    content: z.string().describe('The whole content of the file'),
  },
  touches: ({ path }) => ({ paths: [path] }),
  run: async ({ path, content }, context) => (await import('../changing/write.ts')).writeFile(path, content, context),
});
