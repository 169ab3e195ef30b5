// Maps ids, names, arguments and texts of other APIs to what an endpoint accepts. Pure.
import { parseObject } from '../../base/json/outsideJson.ts';
import { createHash } from 'node:crypto';

const ALLOWED = /^[a-zA-Z0-9_-]{1,64}$/;

/** The same id for the call and its result: unchanged if it is allowed. */
export function callId(id: string): string {
  if (ALLOWED.test(id)) return id;
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, 32)}`;
}

/** The arguments as an object; undefined if they are not one. */
export function argumentsOf(text: string): Record<string, unknown> | undefined {
  return parseObject(text === '' ? '{}' : text);
}

/** Models invent names; a name that an endpoint refuses would block the conversation. */
export function callName(name: string): string {
  return name.replace(/[^\w-]/g, '_').slice(0, 64) || 'unknown';
}

/** Several servers refuse a request with half of a character. */
export function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed();
}
