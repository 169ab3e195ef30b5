// The commits whose results of CI and reviews a conversation gets, as the log has them, and what its notifications say.
import * as z from 'zod';

/** How a conversation is concerned with a commit. `folder`: an outside agent that works in the folder. */
const CONCERNS = ['pushed', 'committed', 'edited', 'folder'] as const;

const followedCommitSchema = {
  /** `github.com/owner/name`. */
  repository: z.string().min(1).max(500),
  branch: z.string().min(1).max(500),
  sha: z.string().regex(/^[0-9a-f]{40,64}$/),
  /** When it was pushed. */
  at: z.iso.datetime(),
  by: z.enum(CONCERNS),
  /** The first line of its message. */
  title: z.string().max(200).optional(),
};
export type FollowedCommit = z.infer<z.ZodObject<typeof followedCommitSchema>>;

/** The fields of the events; `event.ts` has their types. */
export const forgeEvents = {
  /** The conversation gets the results of this commit, until a later one of the same branch replaces it. */
  commit_followed: followedCommitSchema,
  /** Ends a command of an outside agent that commits or pushes; `since`: it had not begun before. */
  git_ran: { since: z.iso.datetime() },
};

/** In the data of `ci.*`, `review.*` and `pr.*`: what was reported, so that it is reported once. */
export const forgeDataSchema = z.object({
  /** The state that was reported of the notification's subject. */
  result: z.string().max(4000).optional(),
  /** The reviews and comments that the message has. */
  reviews: z.array(z.string().max(100)).max(1000).optional(),
});
export type ForgeData = z.infer<typeof forgeDataSchema>;
