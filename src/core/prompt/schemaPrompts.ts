// The instructions by which a model is asked for structured data, and asked again.
import { SYSTEM_REQUEST } from '../conversation/projections/messages.ts';

type Schema = Readonly<Record<string, unknown>>;

export function schemaInstruction(schema: Schema): string {
  return `Your final answer must be JSON that fits this JSON Schema, and nothing else: ${JSON.stringify(schema)}`;
}

export function repeatInstruction(misfit: string): string {
  return `${SYSTEM_REQUEST}\nYour answer does not fit the JSON Schema: ${misfit}. Answer again with JSON that fits, and nothing else.`;
}
