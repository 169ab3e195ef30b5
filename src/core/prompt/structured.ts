// Checks that an answer is JSON that fits the requested JSON Schema. Loaded when a schema is first used.
import * as z from 'zod';
import { describeError, failed, type Result, succeeded } from '../../base/errors.ts';
import { isDeeperThan, MOST_DEPTH, TOO_DEEP } from '../../base/json/outsideJson.ts';
import { describeIssue } from '../../protocol/describeIssue.ts';

const FENCE = '```';

type Schema = Readonly<Record<string, unknown>>;

/** Why the schema cannot be used; undefined if it can. Checked before anything is sent. */
export function whyUnusable(schema: Schema): string | undefined {
  if (isDeeperThan(schema, MOST_DEPTH)) return `it is ${TOO_DEEP}`;
  try {
    z.fromJSONSchema({ ...schema });
    return undefined;
  } catch (error) {
    return describeError(error);
  }
}

export function readStructured(text: string, schema: Schema): Result<unknown> {
  const value = parseJson(text);
  if (!value.ok) return value;
  if (isDeeperThan(value.value, MOST_DEPTH)) return failed('schema', `it is ${TOO_DEEP}`);
  const checked = z.fromJSONSchema({ ...schema }).safeParse(value.value);
  // Returns the model's own value, without the defaults that the schema would add.
  return checked.success ? value : failed('schema', describeIssue(checked.error));
}

/** Models whose output is not restricted to JSON often wrap it in a code fence. */
function parseJson(text: string): Result<unknown> {
  try {
    return succeeded(JSON.parse(withoutFence(text.trim())));
  } catch (error) {
    return failed('schema', `it is not JSON (${describeError(error)})`);
  }
}

function withoutFence(text: string): string {
  const head = text.indexOf('\n');
  if (head === -1 || !/^```(?:json)?\s*$/.test(text.slice(0, head)) || !text.endsWith('\n```')) return text;
  return text.slice(head, -FENCE.length);
}
