// The tools that results of a request's messages have found. Pure.
import { type ModelRequest } from '../../core/ports/ports.ts';

/** Names of tools that can be described where they were found; others were found before a compaction. */
export function foundInMessages({ messages, found = [] }: ModelRequest): Set<string> {
  // Most conversations find none, and this is asked for every request.
  if (found.length === 0) return new Set();
  const described = new Set(found.map(({ name }) => name));
  const named = messages.flatMap((message) =>
    message.role === 'tool' && message.failed !== true ? (message.found ?? []) : [],
  );
  return new Set(named.filter((name) => described.has(name)));
}
