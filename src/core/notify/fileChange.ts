// Decides what is said of a file that is no longer as the model saw it: a bounded diff, else a summary. Pure.
import { structuredPatch } from 'diff';
import { decodeText } from '../../base/text.ts';
import { type NotificationDraft } from '../../protocol/notification.ts';

const DIFF_LINES = 40;
const DIFF_CHARACTERS = 1800;
const LONGEST_COMPARED = 2_000_000;
const MOST_EDITS = 2000;

/** The hash that stands for a file that is not there. */
export const GONE = 'gone';

/** What a notification of ours says a file's state is; `complete` means that its whole difference is in the message. */
export interface FileState {
  readonly path: string;
  readonly hash: string;
  readonly complete: boolean;
}

export function fileStateOf(notification: {
  readonly data?: Readonly<Record<string, unknown>> | undefined;
}): FileState | undefined {
  const { path, hash, complete } = notification.data ?? {};
  if (typeof path !== 'string' || typeof hash !== 'string') return undefined;
  return { path, hash, complete: complete === true };
}

type Draft = Omit<NotificationDraft, 'at'>;

export function fileChanged(path: string, before: Uint8Array | undefined, after: Uint8Array, hash: string): Draft {
  const difference = before === undefined ? undefined : compare(before, after);
  const complete = difference?.diff !== undefined;
  const counts = difference === undefined ? '' : ` (+${difference.added} −${difference.removed})`;
  const rest = complete ? `:\n${difference.diff}` : ', too much to show here. Read it again before you rely on it.';
  return draft('changed', path, `${path} changed on disk since you read it${counts}${rest}`, { path, hash, complete });
}

export function fileDeleted(path: string): Draft {
  return draft('deleted', path, `${path}, which you read, is no longer there.`, { path, hash: GONE, complete: false });
}

/** Told of a change without seeing it, then changed back. */
export function fileAgainAsRead(path: string, hash: string): Draft {
  return draft('changed', path, `${path} is again as you read it.`, { path, hash, complete: true });
}

function draft(name: string, path: string, message: string, state: FileState): Draft {
  const scope = `file:${path}`;
  return {
    kind: { source: 'file', name },
    level: 'warning',
    message,
    subject: scope,
    scopes: [scope],
    data: { ...state },
    origin: 'filesystem',
  };
}

interface Difference {
  readonly added: number;
  readonly removed: number;
  /** Absent if it is too long. */
  readonly diff?: string;
}

/** Undefined if the two cannot be compared as text. */
function compare(before: Uint8Array, after: Uint8Array): Difference | undefined {
  if (before.length + after.length > LONGEST_COMPARED) return undefined;
  const [old, now] = [decodeText(before), decodeText(after)];
  if (old === undefined || now === undefined) return undefined;
  const patch = structuredPatch('', '', old, now, '', '', { context: 2, maxEditLength: MOST_EDITS });
  // More edits than allowed.
  if (patch === undefined) return undefined;
  const lines = patch.hunks.flatMap((hunk) => [
    `@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`,
    ...hunk.lines,
  ]);
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
  const diff = lines.join('\n');
  const fits = lines.length <= DIFF_LINES && diff.length <= DIFF_CHARACTERS;
  return { added: count('+'), removed: count('-'), ...(fits && { diff }) };
}
