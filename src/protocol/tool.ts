// The description of a tool for the model, its effect, and how failures are stored.
import * as z from 'zod';
import { type FailureCode } from '../base/failureCodes.ts';

/**
 * Says to people what went wrong; the result of a call says it to the model. Any string is valid, since a log may have
 * codes of other versions. Only compare it with codes that are known.
 */
export const failureCodeSchema = z.string() as z.ZodType<FailureCode>;

export const failureSchema = z.strictObject({
  code: failureCodeSchema,
  message: z.string(),
  nextStep: z.string().optional(),
});

/** `read` changes nothing, `edit` changes files of the workspace, `execute` runs programs. Approval modes refer to it. */
export type Effect = 'read' | 'edit' | 'execute';

export interface ToolDescription {
  readonly name: string;
  /** Written for a model. */
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}
