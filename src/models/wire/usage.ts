// Adds up the usage of several calls that make one answer. Pure.
import { type Usage } from '../../protocol/event.ts';

export function addUsage(first: Usage | undefined, second: Usage | undefined): Usage | undefined {
  if (first === undefined || second === undefined) return second ?? first;
  const sum = (a: number | undefined, b: number | undefined) =>
    a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0);
  const cached = sum(first.cached_tokens, second.cached_tokens);
  const written = sum(first.written_tokens, second.written_tokens);
  return {
    input_tokens: first.input_tokens + second.input_tokens,
    output_tokens: first.output_tokens + second.output_tokens,
    ...(cached !== undefined && { cached_tokens: cached }),
    ...(written !== undefined && { written_tokens: written }),
  };
}
