// Maps the ids and arguments of calls that another API made to what an endpoint accepts. Pure.
import { createHash } from 'node:crypto';

const ALLOWED = /^[a-zA-Z0-9_-]{1,64}$/;

/** The same id for the call and its result: unchanged if it is allowed. */
export function callId(id: string): string {
  if (ALLOWED.test(id)) return id;
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, 32)}`;
}

/** The arguments as an object; undefined if they are not one. */
export function argumentsOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text === '' ? '{}' : text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Not JSON, as for a call that was cut.
  }
  return undefined;
}

/** Servers refuse text with half of a surrogate pair, which a cut text may end with. */
export function wellFormed(text: string): string {
  // With the flag `u`, the halves of a whole pair do not match.
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}
