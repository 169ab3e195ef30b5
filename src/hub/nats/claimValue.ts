// The value of a claim in the bucket of names, and when another machine may take it over.
import * as z from 'zod';
import { parseObject } from '../../base/json/outsideJson.ts';
import { HUB_NAME } from '../../protocol/hub.ts';

const DAY = 24 * 3600_000;
/** A machine that was absent for so long loses its claims. */
const ABSENT_AFTER = 30 * DAY;
/** A present machine writes its claims again, so that their age shows its absence. */
export const REFRESH_AFTER = DAY;

const claimSchema = z.object({
  machine: z.string().regex(HUB_NAME),
  role: z.string().regex(HUB_NAME).catch(''),
  module: z.string().max(64).catch(''),
  display: z.string().max(200).catch(''),
  /** Its name on its own machine, if that is another one. */
  agent: z.string().regex(HUB_NAME).optional(),
  /** The hub that claimed it: two folders of one machine are not one hub. */
  hub: z.string().max(64).optional(),
  /** When it was claimed, in milliseconds since 1970 of the server's clock. */
  since: z.number().catch(0),
  /** The agent is gone: the name is free, and it is still known whose the older records are. */
  released: z.boolean().optional(),
});

export interface Claim extends z.infer<typeof claimSchema> {
  readonly revision: number;
  /** Of the server's clock. */
  readonly writtenAt: number;
}

/** Undefined: not a claim. */
export function parseClaim(text: string, revision: number, writtenAt: number): Claim | undefined {
  const parsed = claimSchema.safeParse(parseObject(text));
  return parsed.success ? { ...parsed.data, since: parsed.data.since || writtenAt, revision, writtenAt } : undefined;
}

/** `now`: of the server's clock. */
export function mayTakeOver(claim: Claim, now: number, isPresent: boolean): boolean {
  return claim.released === true || (!isPresent && now - claim.writtenAt > ABSENT_AFTER);
}
