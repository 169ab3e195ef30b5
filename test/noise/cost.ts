// What the input of the replayed hour costs by the shipped price table, with the vendor's cache and without it.
import { join } from 'node:path';
import { estimateTokens } from '../../src/core/conversation/tokens.ts';
import { type ModelRequest } from '../../src/core/ports/ports.ts';
import { costOfCall, KnownModels } from '../../src/models/facts/modelFacts.ts';

/** A request as its vendor's cache compares it: tools and system prompt, then each message. */
export interface SentRequest {
  readonly at: number;
  readonly parts: readonly string[];
}

/** How long each vendor keeps a prefix that is not used. */
const VENDORS = [
  { model: 'claude-opus-5-5', baseUrl: 'https://api.anthropic.com/v1', minutes: 5 },
  { model: 'gpt-6-sol', baseUrl: 'https://api.openai.com/v1', minutes: 30 },
] as const;

export function partsOf({ system, tools, messages }: ModelRequest): readonly string[] {
  return [JSON.stringify(tools), system, ...messages.map((message) => JSON.stringify(message))];
}

/** In US dollars. */
interface HourCost {
  readonly model: string;
  readonly cached: number;
  readonly uncached: number;
}

export function costsOf(sent: readonly SentRequest[]): readonly HourCost[] {
  const known = new KnownModels({
    path: join(import.meta.dirname, '../../media/models.json'),
    logger: {
      warn: (message) => {
        throw new Error(message);
      },
    },
  });
  return VENDORS.map(({ model, baseUrl, minutes }) => {
    const facts = known.get(baseUrl, model);
    const sum = (kept: (index: number) => number | undefined) =>
      sent.reduce((total, { parts }, index) => {
        const input = tokensIn(parts);
        const read = kept(index);
        const usage = { input_tokens: input, output_tokens: 0 };
        const caches = read === undefined ? {} : { cached_tokens: read, written_tokens: input - read };
        return total + (costOfCall({ ...usage, ...caches }, facts) ?? Number.NaN);
      }, 0);
    const cached = sum((index) => tokensKept(sent[index], sent[index - 1], minutes));
    return { model, cached, uncached: sum(() => undefined) };
  });
}

/** The tokens at the beginning that the request before had too, if the cache still has them. */
function tokensKept(now: SentRequest | undefined, before: SentRequest | undefined, minutes: number): number {
  if (now === undefined || before === undefined || now.at - before.at > minutes * 60_000) return 0;
  const changed = before.parts.findIndex((part, index) => part !== now.parts[index]);
  return tokensIn(now.parts.slice(0, changed === -1 ? before.parts.length : changed));
}

function tokensIn(parts: readonly string[]): number {
  return parts.reduce((sum, part) => sum + estimateTokens(part), 0);
}
