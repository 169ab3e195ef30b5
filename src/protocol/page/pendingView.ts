// Pending notifications as the page shows them, and how the user mutes them.
import * as z from 'zod';
import { type Level } from '../notification.ts';

const kind = z.strictObject({ source: z.string().max(100), name: z.string().max(100) });
export const muteSchema = z.discriminatedUnion('by', [
  z.strictObject({ by: z.literal('kind'), kind }),
  z.strictObject({ by: z.literal('source'), kind }),
  z.strictObject({ by: z.literal('path'), path: z.string().min(1).max(1000) }),
]);
export type Mute = z.infer<typeof muteSchema>;

/** A notification's label and subject, for people. */
export interface NotificationLabel {
  readonly source: string;
  readonly name: string;
  /** English, the key of its translation: `File changed`. */
  readonly label: string;
  /** `src/menu.ts`; empty if the label says it all. */
  readonly subject: string;
}

/** One entry of the next block; it may represent several notifications. */
export interface PendingEntry extends NotificationLabel {
  readonly ids: readonly string[];
  /** How many further subjects it names. */
  readonly more: number;
  readonly level: Level;
  readonly origin: string;
  /** RFC 3339. */
  readonly at: string;
  readonly count: number;
  /** The text that the model will read, shortened. */
  readonly message: string;
  /** Estimated. */
  readonly tokens: number;
  /** The file that it is about. */
  readonly path?: string;
}
