// The instructions that ask a model for structured data, and ask again after an answer that does not fit.
import { SYSTEM_REQUEST } from '../conversation/projections/messages.ts';

type Schema = Readonly<Record<string, unknown>>;

export function schemaInstruction(schema: Schema): string {
  return `Your final answer must be JSON that fits this JSON Schema, and nothing else: ${JSON.stringify(schema)}`;
}

export function repeatInstruction(misfit: string): string {
  return `${SYSTEM_REQUEST}\nYour answer does not fit the JSON Schema: ${misfit}. Answer again with JSON that fits, and nothing else.`;
}
