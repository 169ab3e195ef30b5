// The tool edit_file: replaces exact texts in a file, all or none.
import * as z from 'zod';
import { defineTool, refuse } from '../defineTool.ts';

const edit = z.strictObject({
  old_text: z.string().min(1).describe('Exact text to replace, without line numbers; long enough to occur only once'),
  new_text: z.string().describe('Replacement; empty to remove the text'),
  replace_all: z
    .boolean()
    .optional()
    .describe('Replace every occurrence; default false: old_text must occur exactly once'),
});

export const editFileTool = defineTool({
  name: 'edit_file',
  description:
    'Replaces exact texts in one file of the workspace. Put several edits of a file into one call: they are applied in order, all or none. Saves the file unless the user has unsaved changes in it. If old_text is not found, the result shows the most similar text. For new files use write_file.',
  effect: 'edit',
  previewed: true,
  arguments: {
    path: z.string().min(1).describe('Path relative to the workspace, for example src/app.ts'),
    edits: z.array(edit).min(1).max(100),
  },
  touches: ({ path }) => ({ paths: [path] }),
  run: async ({ path, edits }, context) => {
    const idle = edits.findIndex(({ old_text: before, new_text: after }) => before === after);
    if (idle !== -1) return refuse('bad_arguments', `edits[${idle}]: old_text and new_text are the same.`);
    return (await import('../changing/edit.ts')).editFile(path, edits, context);
  },
});
