// What the arguments for lines cost in every request.
import { expect, test } from 'vitest';
import { estimateTokens } from '../../../src/core/conversation/tokens.ts';
import { type Tool } from '../../../src/core/ports/ports.ts';
import { handleTool } from '../../../src/tools/commands/handle.ts';
import { runCommandTool } from '../../../src/tools/commands/runCommand.ts';
import { watchTool } from '../../../src/tools/watch.ts';

const ADDED: ReadonlySet<string> = new Set(['notify_on', 'quiet_after_secs', 'tail', 'untail']);

function costOf({ description: { parameters } }: Tool): number {
  const { properties } = parameters as { readonly properties: Readonly<Record<string, unknown>> };
  const added = Object.entries(properties).filter(([name]) => ADDED.has(name));
  return estimateTokens(JSON.stringify(Object.fromEntries(added)));
}

test('the arguments for lines cost at most 250 tokens in a request', () => {
  const costs = [runCommandTool, handleTool, watchTool].map(costOf);
  expect(costs.every((cost) => cost > 20)).toBe(true);
  expect(costs.reduce((sum, cost) => sum + cost, 0)).toBeLessThanOrEqual(250);
});
