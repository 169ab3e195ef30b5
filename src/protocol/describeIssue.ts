// Describes why zod rejected a value, in one line.
import type * as z from 'zod';
import { failed, type Result, succeeded } from '../base/errors.ts';

/** The first issue, in the form `field: message`. */
export function describeIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  if (issue === undefined) return 'not valid';
  const path = issue.path.join('.');
  return path === '' ? issue.message : `${path}: ${issue.message}`;
}

/** Parses the arguments of a call; a failure says what the model can correct. */
export function parseArguments<T>(schema: z.ZodType<T>): (value: unknown) => Result<T, 'bad_arguments'> {
  return (value) => {
    const parsed = schema.safeParse(value);
    if (parsed.success) return succeeded(parsed.data);
    return failed('bad_arguments', `${describeIssue(parsed.error)}.`, 'Call it again with this corrected.');
  };
}
