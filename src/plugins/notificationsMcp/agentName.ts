// Derives an agent's name from the name of its MCP client. The agent's hook must use the same name.

/** Known agents, by a part of the client's name in lower case. */
const KNOWN: readonly (readonly [string, string])[] = [
  ['claude', 'claude-code'],
  ['codex', 'codex'],
  ['copilot', 'copilot'],
  ['cursor', 'cursor'],
  ['gemini', 'gemini'],
  ['opencode', 'opencode'],
  ['visual studio code', 'copilot'],
  ['vscode', 'copilot'],
];
const FALLBACK = 'agent';
const LONGEST = 32;

export function agentNameOf(client: string | undefined): string {
  const lower = (client ?? '').slice(0, 200).toLowerCase();
  const known = KNOWN.find(([part]) => lower.includes(part))?.[1];
  const plain = lower.replace(/[^a-z0-9]+/g, '-').slice(0, LONGEST);
  return known ?? (plain.replace(/^-|-$/g, '') || FALLBACK);
}
