// A tool that writes a whole file without any checks, for tests of what happens after an edit.
import * as z from 'zod';
import { answer, defineTool } from '../../../src/tools/defineTool.ts';

/** Writes a whole file through the editor, as an edit tool does. */
export const writeTool = defineTool({
  name: 'write',
  description: 'Writes.',
  effect: 'edit',
  arguments: { path: z.string(), text: z.string() },
  touches: ({ path }) => ({ paths: [path] }),
  run: async ({ path, text }, { workspace }) => {
    const file = await workspace.resolve(path);
    if (!file.ok) throw new Error(file.failure.message);
    const before = await workspace.read(file.value);
    const from = before.ok ? { from: before.value.bytes } : {};
    const applied = await workspace.apply([{ type: 'write', file: file.value, ...from, to: Buffer.from(text) }]);
    if (!applied.ok) throw new Error(applied.failure.message);
    const changes = applied.value.map(({ file: changed, before: old, after }) => ({
      file: changed,
      ...(old !== undefined && { before: old }),
      ...(after !== undefined && { after }),
    }));
    return { ...answer('Written.'), changes, seen: [{ file: file.value, bytes: Buffer.from(text) }] };
  },
});
