// Checks that an answer is JSON that fits the requested JSON Schema. Loaded with the first schema.
import * as z from 'zod';
import { describeError, failed, type Result, succeeded } from '../../base/errors.ts';
import { isDeeperThan, MOST_DEPTH, TOO_DEEP } from '../../base/json/outsideJson.ts';
import { describeIssue } from '../../protocol/describeIssue.ts';

const FENCE = '```';

type Schema = Readonly<Record<string, unknown>>;

/** Why no answer could fit; undefined if one can. Checked before anything is sent. */
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
  // The model's own value, without the defaults that the schema would add.
  return checked.success ? value : failed('schema', describeIssue(checked.error));
}

/** Models that are not held to JSON like to wrap it in a fence. */
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
