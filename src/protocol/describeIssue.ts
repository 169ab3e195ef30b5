// Describes why zod rejected a value, in one line.
import type * as z from 'zod';

/** The first issue, in the form `field: message`. */
export function describeIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  if (issue === undefined) return 'not valid';
  const path = issue.path.join('.');
  return path === '' ? issue.message : `${path}: ${issue.message}`;
}
