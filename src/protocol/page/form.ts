// A form that the user is asked to fill in: the fields that MCP servers may ask for.
import * as z from 'zod';

const option = z.strictObject({ value: z.string(), label: z.string() });

export const formFieldSchema = z.strictObject({
  name: z.string(),
  label: z.string(),
  about: z.string().optional(),
  type: z.enum(['text', 'number', 'integer', 'boolean', 'choice', 'choices']),
  /** For texts. */
  format: z.enum(['email', 'uri', 'date', 'date-time']).optional(),
  options: z.array(option).optional(),
  required: z.boolean(),
  default: z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]).optional(),
  /** The limits of a number, of the length of a text, or of the number of choices. */
  least: z.number().optional(),
  most: z.number().optional(),
});
export type FormField = z.infer<typeof formFieldSchema>;

export type FormValue = NonNullable<FormField['default']>;

/**
 * The answer to a form is one text: a JSON object with the values by field name, or one of these constants. A field
 * that is not in the object has its default; one that is null is left out.
 */
export const FORM_DECLINED = '';
export const FORM_CANCELLED = 'cancel';
