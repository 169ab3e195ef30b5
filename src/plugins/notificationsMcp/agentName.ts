// The name of an agent by what its MCP client calls itself. Its hook must come to the same name.

/** What is known of them, by a part of the name in small letters. */
const KNOWN: readonly (readonly [string, string])[] = [
  ['claude', 'claude-code'],
  ['codex', 'codex'],
  ['copilot', 'copilot'],
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
