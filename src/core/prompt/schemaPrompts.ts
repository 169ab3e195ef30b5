// The instruction that asks again for structured data, after an answer that does not fit.
import { SYSTEM_REQUEST } from '../conversation/projections/messages.ts';

export function repeatInstruction(misfit: string): string {
  return `${SYSTEM_REQUEST}\nYour answer does not fit the JSON Schema: ${misfit}. Answer again with JSON that fits, and nothing else.`;
}
