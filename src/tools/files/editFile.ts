// The tool edit_file: replaces exact texts of a file, all of them or none.
import * as z from 'zod';
import { defineTool, refuse } from '../defineTool.ts';

const edit = z.strictObject({
  old_text: z
    .string()
    .min(1)
    .describe('The exact text to replace, without line numbers; enough of it to be there only once'),
  new_text: z.string().describe('What to put in its place; empty to remove it'),
  replace_all: z.boolean().optional().describe('Replace it wherever it is; without this it must be there exactly once'),
});

export const editFileTool = defineTool({
  name: 'edit_file',
  description:
    'Replaces exact texts in a file of the workspace. Give several edits of one file in one call: they are made one after the other, all or none. Saves the file, unless the user has unsaved changes in it. If a text is not there, the result shows the nearest one.',
  effect: 'edit',
  previewed: true,
  arguments: {
    path: z.string().min(1).describe('Path relative to the workspace, for example src/app.ts'),
    edits: z.array(edit).min(1).max(100),
  },
  touches: ({ path }) => ({ paths: [path] }),
  run: async ({ path, edits }, context) => {
    const idle = edits.findIndex(({ old_text: before, new_text: after }) => before === after);
    if (idle !== -1) return refuse(`edits[${idle}]: old_text and new_text are the same.`);
    return (await import('../changing/edit.ts')).editFile(path, edits, context);
  },
});
