// How a request was printed: what the log needs to print it again.
import * as z from 'zod';
import { EFFORTS } from '../page/controlsView.ts';

/**
 * How a request was printed, so that it can be printed again from the log. `bytes` and `crc` (CRC-32) are those of its
 * body, in its last form; `unreasoned`: the first messages whose reasoning the endpoint had refused.
 */
export const sentSchema = z.strictObject({
  api: z.enum(['chat', 'responses', 'messages']),
  /** Without user name, password and query. */
  base_url: z.string(),
  model: z.string(),
  conversation: z.string().optional(),
  /** The last event that it contains. */
  through: z.int(),
  bytes: z.int(),
  crc: z.int(),
  temperature: z.number().optional(),
  max_tokens: z.int().optional(),
  /** As the model's options say, and as chosen. */
  usual_effort: z.enum(EFFORTS).optional(),
  effort: z.enum(EFFORTS).optional(),
  allowed: z.array(z.string()).optional(),
  /** What differs from the known profile of the endpoint, and the parameters that it refuses. */
  profile: z.record(z.string(), z.unknown()).optional(),
  without: z.array(z.string()).optional(),
  no_images: z.literal(true).optional(),
  unreasoned: z.int().optional(),
});
export type SentRequest = z.infer<typeof sentSchema>;
