// The tool symbols: asks language servers for definitions, references and symbols, and renames symbols.
import * as z from 'zod';
import { type Languages } from '../../core/ports/languages.ts';
import { type Tool } from '../../core/ports/ports.ts';
import { defineTool } from '../defineTool.ts';

const ACTIONS = ['definition', 'references', 'rename', 'outline', 'find'] as const;

export function createSymbolsTool(languages: Languages): Tool {
  return defineTool({
    name: 'symbols',
    description:
      'Queries the language server about symbols; exact where search only matches text. definition, references: of a symbol in a file. rename: changes the symbol in all files, except in strings and comments. outline: the symbols that a file declares. find: symbols of the workspace by name.',
    effect: 'edit',
    previewed: true,
    effectFor: ({ action }) => (action === 'rename' ? 'edit' : 'read'),
    arguments: {
      action: z.enum(ACTIONS),
      path: z
        .string()
        .min(1)
        .optional()
        .describe('File with the symbol, relative to the workspace; required except for find'),
      symbol: z
        .string()
        .min(1)
        .max(500)
        .optional()
        .describe('Name of the symbol as written in the file; for find, part of the name; not used by outline'),
      line: z.int().min(1).optional().describe('A line on which the symbol occurs; required for rename'),
      new_name: z.string().min(1).max(500).optional().describe('New name; required for rename'),
    },
    touches: ({ path }) => ({ paths: path === undefined ? [] : [path] }),
    run: async (args, context) => (await import('./symbolQueries.ts')).askSymbols(languages, args, context),
  });
}
