// Reads the file states that a notification names, by hash: what updates *seen* and *announced* in the log.
import { type Notification } from '../../protocol/notification.ts';

/** The hash that stands for a file that is not there. */
export const GONE = 'gone';
/** The hash that stands for a file that keeps changing, so that no state of it can be named. */
export const CHANGING = 'changing';

/** `complete`: a reader of the message knows the file's bytes. */
export interface FileState {
  readonly path: string;
  readonly hash: string;
  readonly complete: boolean;
}

/** One in `data` itself, or several in `data.files`. */
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
