// Names of MCP tools for the model: `server__tool`, with characters and a length that every endpoint accepts.
const MOST_LENGTH = 64;
const MOST_SERVER = 30;

/** Prefixes by server. `servers`: all configured ones in order, so that prefixes do not depend on connections. */
export function prefixServers(servers: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set<string>();
  return new Map(
    servers.map((server) => [server, free(begun(plain(server)).slice(0, MOST_SERVER), MOST_SERVER, taken)]),
  );
}

/** Adds the new name to `taken`. */
export function nameTool(prefix: string, tool: string, taken: Set<string>): string {
  return free(`${prefix}__${plain(tool)}`.slice(0, MOST_LENGTH), MOST_LENGTH, taken);
}

function free(base: string, length: number, taken: Set<string>): string {
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? '' : `_${number}`;
    const name = base.slice(0, length - suffix.length) + suffix;
    if (taken.has(name)) continue;
    taken.add(name);
    return name;
  }
}

function plain(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]+/g, '_') || 'x';
}

/** Gemini refuses names that begin with a digit or a hyphen. */
function begun(name: string): string {
  return /^[A-Za-z_]/.test(name) ? name : `_${name}`;
}
