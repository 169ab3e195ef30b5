// Builds and parses the scopes of notifications and subscriptions: `file:src/a.ts`, `glob:src/**`, `handle:build`, …

const PREFIXES = {
  file: 'file:',
  glob: 'glob:',
  handle: 'handle:',
  task: 'task:',
  /** An MCP server whose tools the conversation was offered. */
  mcp: 'mcp:',
  /** A resource of an MCP server: `resource:server uri`. */
  resource: 'resource:',
  /** Matches every live conversation, whatever the notification is about. */
  kind: 'kind:',
  /** For facts about one conversation only, such as its own budget. */
  conversation: 'conversation:',
  /** A name on the hub that a message mentions. */
  mention: 'mention:',
} as const;

export type ScopeType = keyof typeof PREFIXES;

export function scopeOf(type: ScopeType, name: string): string {
  return PREFIXES[type] + name;
}

/** A file's scope is also the subject of notifications about it. */
export function fileScope(path: string): string {
  return scopeOf('file', path);
}

export function handleScope(name: string): string {
  return scopeOf('handle', name);
}

/** The handle that a scope names; undefined if the scope has another type. */
export function handleInScope(scope: string): string | undefined {
  return nameInScope('handle', scope);
}

/** The name in a scope of this type; undefined if the scope has another type. */
export function nameInScope(type: ScopeType, scope: string): string | undefined {
  const prefix = PREFIXES[type];
  return scope.startsWith(prefix) ? scope.slice(prefix.length) : undefined;
}

/** The name of an MCP server's resource in scopes and in the log. */
export function resourceName(server: string, uri: string): string {
  return `${server} ${uri}`;
}

/** A URI has no spaces; the name of a server may. */
export function parseResourceName(name: string): { readonly server: string; readonly uri: string } {
  const at = name.lastIndexOf(' ');
  return { server: name.slice(0, Math.max(0, at)), uri: name.slice(at + 1) };
}

/** The subject without its type, for people and models: `src/a.ts` for `file:src/a.ts`. */
export function nameOfSubject(subject: string): string {
  return subject.slice(subject.indexOf(':') + 1);
}
