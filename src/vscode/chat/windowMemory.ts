// Remembers which conversation was shown and which were running, for the next start of the window.
import * as z from 'zod';
import { type DraftDeps, keepFile } from './drafts.ts';

const stateSchema = z.strictObject({
  /** Null: a new chat. */
  shown: z.string().nullable(),
  running: z.array(z.string()),
});
type State = z.infer<typeof stateSchema>;

export interface WindowMemory {
  read(): Promise<{ readonly shown: string | null | undefined; readonly running: readonly string[] }>;
  write(state: State): void;
}

export function createWindowMemory(deps: DraftDeps): WindowMemory {
  const file = keepFile(deps, 'window.json');
  let written: string | undefined;
  return {
    read: async () => {
      const text = await file.read();
      try {
        if (text !== '') return stateSchema.parse(JSON.parse(text));
      } catch {
        deps.logger.warn('the stored state of the window cannot be read');
      }
      return { shown: undefined, running: [] };
    },
    write: (state) => {
      const text = JSON.stringify(state);
      if (text === written) return;
      written = text;
      const report = (error: unknown) => deps.logger.error('the state of the window cannot be stored', error);
      void file.write(text).catch(report);
    },
  };
}
