// Decides how many tokens a text is taken for where the provider has not said it yet.
import { estimateTokenCount } from 'tokenx';

export function estimateTokens(text: string): number {
  return estimateTokenCount(text);
}
