// Mentions in the user's messages: the name being typed after `@`, and the agents that a text mentions.

const LONGEST = 80;

/** The beginning of a name at the caret, and where its `@` is; undefined if none is being typed. */
export function mentionAt(text: string, caret: number): { readonly start: number; readonly query: string } | undefined {
  const before = text.slice(Math.max(0, caret - LONGEST), caret);
  const typed = /(?:^|[\s(,])@([a-z0-9_-]*)$/i.exec(before)?.[1];
  return typed === undefined ? undefined : { start: caret - typed.length - 1, query: typed.toLowerCase() };
}

/** Names and roles that the text mentions and that exist, each once. */
export function mentionsIn(text: string, known: ReadonlySet<string>): string[] {
  const found = new Set<string>();
  for (const [, name = ''] of text.matchAll(/(?:^|[\s(,])@([a-z0-9_-]{1,80})/gi)) {
    const wanted = name.toLowerCase();
    if (known.has(wanted)) found.add(wanted);
  }
  return [...found];
}
