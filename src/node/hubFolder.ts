// The private folders of a workspace folder in the user's account: for sockets, short enough for a socket's path, and for
// the logs of outside agents.
import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';

/**
 * The home folder in which hubs and sockets are: that of the user's account, so that all programs of a user find each
 * other whatever HOME they have, and no other user can take the place. `EARSHOT_HOME` names another one, for tests.
 */
export function socketHome(): string {
  const named = process.env['EARSHOT_HOME'] ?? '';
  if (named !== '') return named;
  try {
    return userInfo().homedir || homedir();
  } catch {
    // The user has no account on this system, as in some containers.
    return homedir();
  }
}

/** Where the hub of a workspace folder and the sockets of its windows are. */
export async function hubFolder(workspaceFolder: string, home = socketHome()): Promise<string> {
  return join(home, '.earshot', 'hubs', await folderName(workspaceFolder));
}

/**
 * Where the logs of a folder's outside agents are: not in the storage of a window, since the window and `earshot-ears`
 * write them in turn.
 */
export async function outsideFolder(workspaceFolder: string, home = socketHome()): Promise<string> {
  return join(home, '.earshot', 'outside', await folderName(workspaceFolder));
}

async function folderName(workspaceFolder: string): Promise<string> {
  const path = await realpath(workspaceFolder);
  return createHash('sha256').update(path).digest('hex').slice(0, 16);
}
