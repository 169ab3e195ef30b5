// Identifies the state of a seen file whose content is withheld: enough to report that it changed, but not how.
import { isAbsolute } from 'node:path';
import { type Failure } from '../../base/errors.ts';
import { HIDDEN, OUTSIDE, PROTECTED } from '../../core/consent/door.ts';
import { type Snapshots } from '../../core/ports/storage.ts';
import { type Workspace } from '../../core/ports/workspace.ts';

export interface Withheld {
  /** Identifies the state, as a hash does; for a protected or hidden file it is the hash of its bytes. */
  readonly state: string;
  /** The rest of a sentence that begins with the file's name. */
  readonly what: string;
}

const BECAME: Readonly<Record<string, string>> = {
  [OUTSIDE]: 'was replaced by a link that leads outside the workspace, or lies in a folder that was',
  not_regular: 'is no longer a regular file',
  is_folder: 'is a folder now',
  too_big: 'is too big to be read now',
};

/** Undefined if its state cannot be reported, or if it was always outside the workspace. */
export async function checkWithheld(
  { workspace, snapshots }: { readonly workspace: Workspace; readonly snapshots: Snapshots },
  path: string,
  { code, message }: Failure,
): Promise<Withheld | undefined> {
  if (isAbsolute(path)) return undefined;
  const became = BECAME[code];
  if (became !== undefined) return { state: `withheld:${code}`, what: became };
  if (code !== PROTECTED && code !== HIDDEN) return undefined;
  const file = await workspace.resolve(path);
  const state = file.ok ? await workspace.fingerprint(file.value, snapshots) : undefined;
  return state?.ok === true ? { state: state.value, what: `changed (${message.replace(/\.$/, '')})` } : undefined;
}
