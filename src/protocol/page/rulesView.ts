// The user's permanent approvals (answers of *Always*), for front ends that list and revoke them.
import * as z from 'zod';

export const ruleSchema = z.strictObject({
  /** The calls that it covers, as the policy writes them. Names the rule, together with `conversation`. */
  rule: z.string(),
  /** The same for people. */
  label: z.string(),
  /** The only conversation that it holds in; absent: all conversations of the folder. */
  conversation: z.string().optional(),
  /** RFC 3339; absent: not known. */
  since: z.string().optional(),
});
export type RuleView = Readonly<z.infer<typeof ruleSchema>>;

export type RuleKind = 'command' | 'url' | 'task' | 'mcp' | 'tool';

export function ruleKind({ rule }: Pick<RuleView, 'rule'>): RuleKind {
  switch (rule.slice(0, rule.indexOf(':'))) {
    case 'words':
    case 'line':
      return 'command';
    case 'url':
      return 'url';
    case 'task':
      return 'task';
    case 'mcp':
      return 'mcp';
    default:
      return 'tool';
  }
}

/** Those that hold in a conversation besides its mode; absent: in a new one. */
export function rulesIn<R extends Pick<RuleView, 'conversation'>>(
  rules: readonly R[],
  conversation: string | undefined,
): readonly R[] {
  return rules.filter((rule) => (rule.conversation ?? conversation) === conversation);
}
