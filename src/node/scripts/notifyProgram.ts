// Installs `earshot-notify` in the user's account, and tells commands where it is and to which conversation they belong.
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { ignore } from '../../base/async.ts';
import { socketHome } from '../hubFolder.ts';
import { platform } from '../platform/platform.ts';
import { keyedHash } from './keyedHash.ts';
import { renameFile } from '../files/renameFile.ts';

const NOTIFY_VARIABLE = 'EARSHOT_NOTIFY';
export const CONVERSATION_VARIABLE = 'EARSHOT_CONVERSATION';
export const GRANT_VARIABLE = 'EARSHOT_GRANT';

/**
 * Proves that a line comes from a command of the conversation: only its owner knows the key. An approval of the command
 * is the user's grant that its lines may wake the model while it runs.
 */
function grantFor(run: string, key: string): string {
  return `${run}:${keyedHash(key, `notify ${run}`)}`;
}

/** The command of the conversation with this key that the grant was made for; undefined: it was not made for one. */
export function runOfGrant(grant: string, key: string): string | undefined {
  const run = grant.slice(0, Math.max(0, grant.lastIndexOf(':')));
  return run !== '' && key !== '' && grant === grantFor(run, key) ? run : undefined;
}

/** The variables with which a command talks back to its own conversation. `program` is undefined: there is none. */
export function notifyEnvironment(
  program: string | undefined,
  conversation: string,
  run: string,
  key: string,
): Readonly<Record<string, string>> {
  return {
    [CONVERSATION_VARIABLE]: conversation,
    ...(program !== undefined && { [NOTIFY_VARIABLE]: program }),
    ...(key !== '' && { [GRANT_VARIABLE]: grantFor(run, key) }),
  };
}

/** Copies the program, since the path of the extension changes with each version. Resolves to the path to run. */
export async function installNotifyProgram(program: string, home = socketHome()): Promise<string> {
  const folder = join(home, '.earshot', 'bin');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const copy = join(folder, 'earshot-notify.mjs');
  await replaceIfOther(copy, await readFile(program, 'utf8'), 0o600);
  const { ending, text } = platform.programs.launcher(process.execPath, copy);
  const launcher = join(folder, `earshot-notify${ending}`);
  await replaceIfOther(launcher, text, 0o700);
  return launcher;
}

async function replaceIfOther(path: string, text: string, mode: number): Promise<void> {
  if ((await readFile(path, 'utf8').catch(ignore)) === text) return;
  // A command may run the program at this moment.
  const part = `${path}.${randomUUID()}`;
  await writeFile(part, text, { mode });
  await chmod(part, mode);
  await renameFile(part, path);
}
