// The tool symbols: definitions, uses and names as the language server knows them, and renaming everywhere at once.
import * as z from 'zod';
import { type Languages } from '../../core/ports/languages.ts';
import { type Tool } from '../../core/ports/ports.ts';
import { defineTool } from '../defineTool.ts';

const ACTIONS = ['definition', 'references', 'rename', 'outline', 'find'] as const;

export function createSymbolsTool(languages: Languages): Tool {
  return defineTool({
    name: 'symbols',
    description:
      'Asks the editor’s language server about names in code, which is exact where search guesses. definition and references of a symbol that stands in a file; rename changes it everywhere, strings and comments excepted; outline lists what a file declares; find looks for a name in the whole workspace.',
    effect: 'edit',
    previewed: true,
    effectFor: ({ action }) => (action === 'rename' ? 'edit' : 'read'),
    arguments: {
      action: z.enum(ACTIONS),
      path: z.string().min(1).optional().describe('The file; not for find'),
      symbol: z.string().min(1).max(500).optional().describe('The name as it stands there; for find, a part of it'),
      line: z.int().min(1).optional().describe('A line in which the name stands; rename needs it'),
      new_name: z.string().min(1).max(500).optional().describe('For rename'),
    },
    touches: ({ path }) => ({ paths: path === undefined ? [] : [path] }),
    run: async (args, context) => (await import('./symbolQueries.ts')).askSymbols(languages, args, context),
  });
}
