// Reads the file states that a notification names, by hash. They update *seen* and *announced* in the log.
import { type Notification } from '../../protocol/notification.ts';

/** Used instead of a hash for a file that does not exist. */
export const GONE = 'gone';
/** Used instead of a hash for a file that keeps changing, so that no state of it can be named. */
export const CHANGING = 'changing';

/** `complete`: a model that reads the message knows all bytes of the file. */
export interface FileState {
  readonly path: string;
  readonly hash: string;
  readonly complete: boolean;
}

/** Reads one state from `data` itself, or several from `data.files`. */
export function fileStatesOf({ data }: Pick<Notification, 'data'>): readonly FileState[] {
  if (data === undefined) return [];
  const files = Array.isArray(data['files']) ? (data['files'] as unknown[]) : [data];
  return files.flatMap((file) =>
    isState(file) ? { path: file.path, hash: file.hash, complete: file.complete === true } : [],
  );
}

function isState(value: unknown): value is Omit<FileState, 'complete'> & { readonly complete?: unknown } {
  if (typeof value !== 'object' || value === null) return false;
  const { path, hash } = value as { path?: unknown; hash?: unknown };
  return typeof path === 'string' && typeof hash === 'string';
}
