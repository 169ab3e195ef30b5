// Drafts notifications about files that differ from the state the model saw: with a bounded diff, or a summary. Pure.
import { printPath } from '../../../base/printPath.ts';
import { decodeText } from '../../../base/text.ts';
import { KINDS } from '../../../protocol/kinds.ts';
import { type NotificationDraft } from '../../../protocol/notification.ts';
import { fileScope } from '../../../protocol/scopes.ts';
import { type Difference, differenceOf, LONGEST_COMPARED } from '../../files/difference.ts';
import { CHANGING, GONE } from '../../files/fileState.ts';
import { REQUESTED } from '../queue.ts';
import { type Author, originOf, printAuthor, printCommand } from './author.ts';

const SHOWN = { lines: 40, characters: 1800, bareWhole: true };
/** For a difference that the user has requested. */
const SHOWN_ON_REQUEST = { lines: 200, characters: 3600, bareWhole: true };
const SHOWN_OF_TWO = { lines: 18, characters: 750, bareWhole: true };
const SEEN_NAMED = 20;

type Draft = Omit<NotificationDraft, 'at'>;

/** The file's current state. */
interface Now {
  readonly bytes: Uint8Array;
  readonly hash: string;
}

/** `before`: the bytes that the model saw; undefined if they are no longer known. */
export function fileChanged(path: string, before: Uint8Array | undefined, now: Now, author?: Author): Draft {
  const { counts, rest, complete } = describeDifference(before, now.bytes);
  const message = `${printPath(path)} changed since you read it${counts}${printAuthor(author)}${rest}`;
  return draft('changed', path, message, { path, hash: now.hash, complete }, author);
}

/** For a change of which the user wants the model to be notified. */
export function fileUpdate(path: string, before: Uint8Array | undefined, now: Now): Draft {
  const { counts, rest, complete } = describeDifference(before, now.bytes, SHOWN_ON_REQUEST);
  const message = `${printPath(path)} changed since you read it${counts}${rest}`;
  return draft('changed', path, message, { path, hash: now.hash, complete, [REQUESTED]: true });
}

/**
 * For content that the model may not see. `what`: describes the file's current state; `state`: identifies it, like a
 * hash.
 */
export function fileWithheld(path: string, state: string, what: string, author?: Author): Draft {
  const message = `${printPath(path)}, which you read, ${what}${printAuthor(author)}. Its content is not shown.`;
  return draft('changed', path, message, { path, hash: state, complete: false }, author);
}

/** A file that somebody else changed since the model saw it, and that the model's own command then overwrote. */
interface Overwritten {
  /** The bytes that the model saw; undefined if they are no longer known. */
  readonly before: Uint8Array | undefined;
  /** The bytes that somebody else had written. */
  readonly lost: Uint8Array | undefined;
  /** The bytes that the command left; undefined: it removed the file. */
  readonly now: Uint8Array | undefined;
  readonly hash: string | undefined;
}

/** Shows two diffs instead of one: what was lost, and what replaced it. */
export function fileOverwritten(path: string, { before, lost, now, hash }: Overwritten, command: string): Draft {
  const loss = lost && describeDifference(before, lost, SHOWN_OF_TWO);
  const did = now === undefined ? 'removed' : 'overwrote';
  const opening = `${printPath(path)}: your command ${printCommand(command)} ${did} changes that somebody else had made since you read it.`;
  const gone = `Lost${loss?.counts ?? ''}${loss?.rest ?? '; it is not known what.'}`;
  const back = 'The user can restore them with Undo.';
  if (now === undefined) {
    const message = [opening, gone, back].join('\n');
    return draft('deleted', path, message, { path, hash: GONE, complete: false }, { type: 'command', command });
  }
  const put = describeDifference(lost, now, SHOWN_OF_TWO);
  const message = [opening, gone, `Put there by your command${put.counts}${put.rest}`, back].join('\n');
  const complete = loss?.complete === true && put.complete;
  return draft('changed', path, message, { path, hash, complete }, { type: 'command', command });
}

/** Without bytes, the model may not see the diff. */
export function fileUnsaved(
  path: string,
  before: Uint8Array | undefined,
  now: Pick<Now, 'hash'> & Partial<Now>,
): Draft {
  const { counts, rest, complete } =
    now.bytes === undefined
      ? { counts: '', rest: '; what changed is not shown, since the file is protected or hidden.', complete: false }
      : describeDifference(before, now.bytes);
  const message = `${printPath(path)} has unsaved changes in the editor since you read it${counts}${rest}`;
  return draft('unsaved', path, message, { path, hash: now.hash, complete });
}

/** `sameBytesAt`: where a file with the bytes that the model saw has appeared. */
export function fileDeleted(path: string, author?: Author, sameBytesAt?: string): Draft {
  const there = sameBytesAt === undefined ? '' : ` A file with the same bytes appeared: ${printPath(sameBytesAt)}.`;
  const message = `${printPath(path)}, which you read, is no longer there${printAuthor(author)}.${there}`;
  return draft('deleted', path, message, { path, hash: GONE, complete: false }, author);
}

/** No two reads were equal for a while, so no content can be shown. */
export function fileKeepsChanging(path: string): Draft {
  const message = `${printPath(path)} has changed since you read it and keeps changing. Read it again when you need it.`;
  return draft('changed', path, message, { path, hash: CHANGING, complete: false });
}

/** For a change that was announced without being shown, and then reverted. */
export function fileAgainAsRead(path: string, hash: string): Draft {
  return draft('changed', path, `${printPath(path)} is again as you read it.`, { path, hash, complete: true });
}

/** For unsaved changes that were announced and no longer exist. */
export function fileNoLongerUnsaved(path: string, hash: string): Draft {
  const message = `${printPath(path)} has no unsaved changes any more and is as you read it.`;
  return draft('unsaved', path, message, { path, hash, complete: true });
}

/**
 * For a file or a folder; `files` are the files in it that the model has seen, each with the hash of the seen bytes.
 */
export function fileRenamed(
  from: string,
  to: string,
  files: readonly { readonly from: string; readonly to: string; readonly hash: string }[],
): Draft {
  const single = files.length === 1 && files[0]?.from === from;
  const named = files.slice(0, SEEN_NAMED).map((file) => printPath(file.to));
  const more = files.length > SEEN_NAMED ? ` and ${files.length - SEEN_NAMED} more` : '';
  const below = single ? '' : ` What you read of it is now: ${named.join(', ')}${more}.`;
  const message = `${printPath(from)} was renamed to ${printPath(to)} in the editor.${below}`;
  const states = files.flatMap((file) => [
    { path: file.from, hash: GONE, complete: false },
    // The seen content belongs to the new name from here on.
    { path: file.to, hash: file.hash, complete: true },
  ]);
  return {
    ...draft('renamed', from, message, { files: states }),
    scopes: [from, ...files.flatMap((file) => [file.from, file.to])].map(fileScope),
  };
}

/** For a file that was never seen but matches a watched glob. */
export function watchedFile(name: 'created' | 'changed' | 'deleted', path: string, author?: Author): Draft {
  const happened = { created: 'was created', changed: 'changed', deleted: 'was deleted' }[name];
  const message = `${printPath(path)}, which you watch for, ${happened}${printAuthor(author)}.`;
  return { ...draft(name, path, message, {}, author), level: 'info' };
}

function draft(
  name: 'changed' | 'deleted' | 'renamed' | 'unsaved' | 'created',
  path: string,
  message: string,
  data: Readonly<Record<string, unknown>>,
  author?: Author,
): Draft {
  const { level, origin } = KINDS[`file.${name}`];
  return {
    kind: { source: 'file', name },
    level,
    message,
    subject: fileScope(path),
    scopes: [fileScope(path)],
    data: { ...data },
    origin: author === undefined ? origin : originOf(author),
  };
}

interface Described {
  readonly counts: string;
  readonly rest: string;
  /** The whole difference is in `rest`. */
  readonly complete: boolean;
}

function describeDifference(before: Uint8Array | undefined, after: Uint8Array, shown = SHOWN): Described {
  const difference = before === undefined ? undefined : compare(before, after, shown);
  if (difference === 'binary') {
    return { counts: '', rest: '; it is no text, so there is nothing to show.', complete: false };
  }
  // The counts are redundant if every line is shown.
  if (difference?.diff !== undefined) return { counts: '', rest: `:\n${difference.diff}`, complete: true };
  const counts = difference === undefined ? '' : ` (+${difference.added} −${difference.removed})`;
  return { counts, rest: '; too much to show here. Read it again before you rely on it.', complete: false };
}

/** Undefined if comparing would take too long. */
function compare(before: Uint8Array, after: Uint8Array, shown: typeof SHOWN): Difference | 'binary' | undefined {
  if (before.length + after.length > LONGEST_COMPARED) return undefined;
  const [old, now] = [decodeText(before), decodeText(after)];
  return old === undefined || now === undefined ? 'binary' : differenceOf(old, now, shown);
}
