// What the suggestions of an empty chat depend on in the open folder.
import * as z from 'zod';

export const folderFactsSchema = z.strictObject({
  /** False: no folder is open. */
  open: z.boolean(),
  /** False: Earshot only reads. */
  trusted: z.boolean(),
  /** It has no files and folders, apart from hidden ones. */
  empty: z.boolean(),
  /** It has a project or source files. */
  code: z.boolean(),
  /** The path of its README. */
  readme: z.string().max(1000).optional(),
  /** The command that runs its tests; its program is installed. */
  tests: z.string().max(100).optional(),
  /** The name of the task that checks it. */
  check: z.string().max(100).optional(),
});
export type FolderFacts = z.infer<typeof folderFactsSchema>;
