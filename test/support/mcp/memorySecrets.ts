// Secrets of one MCP server in memory.
import { type ServerSecrets } from '../../../src/mcp/oauth/signInPort.ts';

export function memorySecrets(kept = new Map<string, string>()): ServerSecrets {
  return {
    get: async (key) => kept.get(key),
    set: async (key, value) => {
      if (value === undefined) kept.delete(key);
      else kept.set(key, value);
    },
  };
}
