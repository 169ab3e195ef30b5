// What a conversation knows of files, compared with their present state, for lists and for the ring beside the meter.
import * as z from 'zod';

/**
 * `current`: the model has read these bytes; `reported`: a notification showed it the whole change; `pending`: the next
 * request has the change; `unshown`: it was notified, but not shown the whole change; `unreported`: it was not
 * notified; `withheld`: it may not read the file now; `forgotten`: a compaction removed the content.
 */
const FRESHNESS = [
  ...(['current', 'reported', 'pending', 'unshown', 'unreported'] as const),
  ...(['deleted', 'withheld', 'forgotten'] as const),
] as const;
export type Freshness = (typeof FRESHNESS)[number];

export const fileFreshnessSchema = z.strictObject({
  path: z.string(),
  state: z.enum(FRESHNESS),
  /** What the model was notified of the present state. */
  notified: z.enum(['delivered', 'pending', 'no']),
  /** When it was shown the content. */
  at: z.iso.datetime(),
  /** The lines that it was shown; empty: small parts. Absent: the whole file. */
  lines: z
    .array(z.tuple([z.int(), z.int()]))
    .readonly()
    .optional(),
  /** The hash of the file whose content it was shown. */
  seen: z.string(),
  /** The hash of the present file; absent: it is gone, cannot be read, or its content is not in the context. */
  now: z.string().optional(),
  /** The present content is in the editor and not saved. */
  unsaved: z.literal(true).optional(),
  /** A notification can bring the model up to date. */
  updatable: z.literal(true).optional(),
  moved_to: z.string().optional(),
  /** Why the model may not read it. */
  reason: z.string().optional(),
});
export type FileFreshness = z.infer<typeof fileFreshnessSchema>;

/** Counted from the log alone, so changes that no producer has reported are not in it. */
export type FreshnessCounts = Readonly<Record<Exclude<Freshness, 'unreported' | 'withheld' | 'forgotten'>, number>>;
