// The data of a window that front ends outside the editor get: background commands, models and completions.
import * as z from 'zod';
import { APPROVAL_MODES, EFFORT_CHOICES, EFFORTS, MODES } from './controlsView.ts';

/** A background command, named by the call that started it. */
export const commandSchema = z.strictObject({
  tool_call_id: z.string(),
  name: z.string(),
  command: z.string(),
  state: z.enum(['running', 'waiting', 'stopped', 'failed']),
  /** The state in words: `ended with exit code 1 after 12 s`. */
  detail: z.string(),
  /** Set if all that can be said is that it is running: since when. RFC 3339. */
  since: z.string().optional(),
  /** Its last lines. */
  output: z.string(),
});

export const completionSchema = z.strictObject({
  /** A file's path; for the trigger `/` a name. */
  name: z.string(),
  label: z.string(),
  detail: z.string(),
  /** Replaces the typed text; absent for a file that can be attached. */
  insert: z.string().optional(),
});

/** Another model, and its price for reading a context that it has not in its cache. */
const alternativeSchema = z.strictObject({
  model: z.string(),
  /** In tokens; absent: not known. */
  window: z.number().optional(),
  /** For a million tokens, in the currency of the settings. */
  price: z.number(),
  /** Prices of requests with more tokens than `above`. */
  tiers: z.array(z.strictObject({ above: z.number(), price: z.number() })).optional(),
});
export type AlternativeModel = z.infer<typeof alternativeSchema>;

export const modelSchema = z.strictObject({
  label: z.string(),
  detail: z.string(),
  context_window: z.number(),
  /** The levels of reasoning that it has, and the chosen one. */
  efforts: z.array(z.enum(EFFORTS)).optional(),
  effort: z.enum(EFFORT_CHOICES).optional(),
  /** As in the setting `earshot.model`. */
  reference: z.string().optional(),
  /** As they hold in the conversation. */
  mode: z.enum(MODES).optional(),
  approvals: z.enum(APPROVAL_MODES).optional(),
  /** The models whose price is known; favourites first. */
  alternatives: z.array(alternativeSchema).optional(),
});
export type ChosenModel = z.infer<typeof modelSchema>;
export const offeredModelSchema = z.strictObject({
  id: z.string(),
  label: z.string(),
  detail: z.string(),
  current: z.boolean(),
});
export type OfferedModel = z.infer<typeof offeredModelSchema>;
export type OfferedCompletion = z.infer<typeof completionSchema>;
