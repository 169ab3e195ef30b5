// The value of a claim in the bucket of names, and the rule for taking it over.
import * as z from 'zod';
import { parseObject } from '../../base/json/outsideJson.ts';
import { HUB_NAME, isReservedName } from '../../protocol/hub.ts';

const DAY = 24 * 3600_000;
/** A machine that was absent for this long loses its claims. */
const ABSENT_AFTER = 30 * DAY;
/** A present machine writes its claims again after this time, so that their age shows how long a machine is absent. */
export const REFRESH_AFTER = DAY;

const isFree = (text: string) => !isReservedName(text);
const claimSchema = z.object({
  machine: z.string().regex(HUB_NAME),
  role: z.string().regex(HUB_NAME).refine(isFree).catch(''),
  module: z.string().max(64).catch(''),
  display: z.string().max(200).refine(isFree).catch(''),
  /** The agent's name on its own machine, if it differs. */
  agent: z.string().regex(HUB_NAME).refine(isFree).optional(),
  /** The hub that made the claim: a machine has one hub for each folder. */
  hub: z.string().max(64).optional(),
  /** When it was claimed, in milliseconds since 1970 by the server's clock. */
  since: z.number().catch(0),
  /** The agent is gone and the name is free. The claim still shows which machine wrote the older records. */
  released: z.boolean().optional(),
});

export interface Claim extends z.infer<typeof claimSchema> {
  readonly revision: number;
  /** When it was written, by the server's clock. */
  readonly writtenAt: number;
}

/** Undefined: the text is not a valid claim. */
export function parseClaim(text: string, revision: number, writtenAt: number): Claim | undefined {
  const parsed = claimSchema.safeParse(parseObject(text));
  return parsed.success ? { ...parsed.data, since: parsed.data.since || writtenAt, revision, writtenAt } : undefined;
}

/** `now`: by the server's clock. */
export function mayTakeOver(claim: Claim, now: number, isPresent: boolean): boolean {
  return claim.released === true || (!isPresent && now - claim.writtenAt > ABSENT_AFTER);
}
