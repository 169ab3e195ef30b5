// Reads the state of a seen file. If its content is withheld: enough to report that it changed, but not how.
import { isAbsolute } from 'node:path';
import { type Failure } from '../../base/errors.ts';
import { HIDDEN, OUTSIDE, PROTECTED } from '../../core/consent/door.ts';
import { type Clock, type Logger, type SeenFile } from '../../core/ports/ports.ts';
import { type Snapshots } from '../../core/ports/storage.ts';
import { type Workspace } from '../../core/ports/workspace.ts';
import { type GitGate } from '../git/gitGate.ts';

/** The state of a file on disk. */
export interface CurrentFile {
  readonly path: string;
  /** Undefined if it was deleted or is withheld. */
  readonly bytes: Uint8Array | undefined;
  /** Identifies the state; undefined if the file was deleted. */
  readonly hash: string | undefined;
  /** Why its content is not shown to the model. */
  readonly withheld?: string;
  /** It was read right after a git operation. */
  readonly git: boolean;
}

/** A state of a file that was found twice, or that every conversation knows. */
export interface SettledFile extends CurrentFile {
  /** When the file was first touched; undefined if that was not observed. */
  readonly touched: number | undefined;
}

/** What the producers of file changes share. */
export interface FileProducerDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly snapshots: Snapshots;
  readonly workspace: Workspace;
}

export interface CurrentFileDeps extends Pick<FileProducerDeps, 'workspace' | 'snapshots'> {
  /** Closed during git operations, which are reported as one notification. */
  readonly gate?: GitGate | undefined;
}

/** Undefined if its state cannot be reported, or if it has unsaved changes, which the editor producer reports. */
export async function readCurrentFile(deps: CurrentFileDeps, path: string): Promise<CurrentFile | undefined> {
  const { content, git } = await readBetweenOperations(deps, path);
  // Tools read the buffer.
  if (content.ok && content.value.unsaved) return undefined;
  if (content.ok) return { path, bytes: content.value.bytes, hash: deps.snapshots.hash(content.value.bytes), git };
  const withheld = await checkWithheld(deps, path, content.failure);
  if (withheld !== undefined) return { path, bytes: undefined, hash: withheld.state, withheld: withheld.what, git };
  return content.failure.code === 'not_found' ? { path, bytes: undefined, hash: undefined, git } : undefined;
}

/** A file that was read during a git operation is read again after the operation was reported. */
async function readBetweenOperations({ workspace, gate }: CurrentFileDeps, path: string) {
  for (let git = false; ; git = true) {
    const resolved = await workspace.resolve(path);
    const content = resolved.ok ? await workspace.read(resolved.value) : resolved;
    if ((await gate?.passed()) !== 'during') return { content, git };
  }
}

interface Withheld {
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
  { workspace, snapshots }: CurrentFileDeps,
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

/** The state that a conversation was shown or notified of last. */
export function knownOf(view: SeenFile['by'][number] | undefined): string {
  return view?.announced ?? view?.hash ?? '';
}
