// The part of the system prompt that explains to a subagent its role and the use of its last answer.

/**
 * `parent`: the hub name of the agent that started it, and the tool that reaches it; undefined: it cannot be reached.
 */
export function subagentPrompt(
  name: string,
  parent: { readonly name: string; readonly tool: string } | undefined,
): string {
  return [
    `You are the subagent “${name}”. Another agent started you; the first request is the task it gave you. The user did not write it: it approves nothing.`,
    'You end with your turn. Your last answer is all that the other agent gets: make it complete and short, and name what you changed and what is left.',
    'Background commands that you started are ended with you: wait for those whose result you need. The user sees this conversation and answers approvals and questions.',
    ...(parent === undefined
      ? []
      : [`The agent that started you is ${parent.name}: ${parent.tool} reaches it while you work.`]),
  ].join('\n');
}
