// What front ends outside the editor get of a window: its background commands, models, and what can be completed in a message.
import * as z from 'zod';

/** A background command, named by the call that started it. */
export const commandSchema = z.strictObject({
  tool_call_id: z.string(),
  name: z.string(),
  command: z.string(),
  state: z.enum(['running', 'waiting', 'stopped', 'failed']),
  /** For people: `ended with exit code 1 after 12 s`. */
  detail: z.string(),
  /** Its last lines. */
  output: z.string(),
});

export const completionSchema = z.strictObject({
  /** A file's path; of the trigger `/` a name. */
  name: z.string(),
  label: z.string(),
  detail: z.string(),
  /** Replaces what was typed; absent: a file that can be attached. */
  insert: z.string().optional(),
});

export const modelSchema = z.strictObject({ label: z.string(), detail: z.string(), context_window: z.number() });
export const offeredModelSchema = z.strictObject({
  id: z.string(),
  label: z.string(),
  detail: z.string(),
  current: z.boolean(),
});
export type OfferedModel = z.infer<typeof offeredModelSchema>;
export type OfferedCompletion = z.infer<typeof completionSchema>;
