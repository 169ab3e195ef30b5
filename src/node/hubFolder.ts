// The private folder of a workspace folder for sockets: short enough for a socket's path.
import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where the hub of a workspace folder and the sockets of its windows are. */
export async function hubFolder(workspaceFolder: string, home = homedir()): Promise<string> {
  const path = await realpath(workspaceFolder);
  return join(home, '.earshot', 'hubs', createHash('sha256').update(path).digest('hex').slice(0, 16));
}
