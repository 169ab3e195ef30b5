// Compares consecutive requests of a conversation: each should extend the one before, so that endpoints read it from
// their caches.
import { type ModelRequest } from '../ports/ports.ts';

export interface PrefixBreak {
  readonly part: 'system' | 'tools' | 'found' | 'messages';
  /** The index of the first tool or message that differs. */
  readonly at: number;
}

/** Undefined: the later request has the same prompt and tools, and the same messages followed by others. */
export function prefixBreak(before: ModelRequest, after: ModelRequest): PrefixBreak | undefined {
  if (before.system !== after.system) return { part: 'system', at: 0 };
  const lists = [
    ['tools', before.tools, after.tools, true],
    ['found', before.found ?? [], after.found ?? [], false],
    ['messages', before.messages, after.messages, false],
  ] as const;
  for (const [part, old, now, isWhole] of lists) {
    const at = firstDifference(old, now);
    if (at !== undefined) return { part, at };
    if (isWhole && now.length > old.length) return { part, at: old.length };
  }
  return undefined;
}

/** Almost always the same objects; after a repair of the log, equal ones. */
function firstDifference(old: readonly unknown[], now: readonly unknown[]): number | undefined {
  const at = old.findIndex((one, index) => one !== now[index] && JSON.stringify(one) !== JSON.stringify(now[index]));
  return at === -1 ? undefined : at;
}
