// The configuration of hooks and their answers (Claude Code's JSON contract).
import * as z from 'zod';

export const HOOK_EVENTS = ['user_prompt', 'before_tool', 'after_tool', 'turn_end', 'notification'] as const;
export type HookEvent = (typeof HOOK_EVENTS)[number];

const hookSchema = z.strictObject({
  command: z.array(z.string().min(1).max(10_000)).min(1).max(100),
  /** Names of tools, separated by `|`, with `*` for any characters; absent for all tools. */
  matcher: z.string().max(1000).optional(),
  /** Seconds. */
  timeout: z.int().min(1).max(600).default(60),
});
export type Hook = z.infer<typeof hookSchema>;

export const hooksSchema = z.partialRecord(z.enum(HOOK_EVENTS), z.array(hookSchema).max(50));

/** Unknown fields are ignored, so that a hook may be written for a newer version or another agent. */
export const hookAnswerSchema = z.object({
  continue: z.boolean().optional(),
  stopReason: z.string().optional(),
  systemMessage: z.string().optional(),
  decision: z.string().optional(),
  reason: z.string().optional(),
  hookSpecificOutput: z
    .object({
      permissionDecision: z.string().optional(),
      permissionDecisionReason: z.string().optional(),
      additionalContext: z.string().optional(),
    })
    .optional(),
});
