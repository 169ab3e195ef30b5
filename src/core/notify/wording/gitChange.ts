// Drafts one notification for everything that a git operation changed, naming the files that the conversation has seen.
// Pure.
import { printPath } from '../../../base/printPath.ts';
import { KINDS } from '../../../protocol/kinds.ts';
import { type NotificationDraft } from '../../../protocol/notification.ts';
import { type FileState, GONE } from '../../files/fileState.ts';
import { type Author, printAuthor } from './author.ts';

export const GIT_KIND = { source: 'git', name: 'head_changed' } as const;

const NAMED = 20;

export interface GitHead {
  /** Undefined: the head is detached. */
  readonly branch: string | undefined;
  readonly commit: string;
}

export interface GitOperation {
  readonly subject: string;
  readonly before: GitHead;
  readonly after: GitHead;
  /** In words: `switched from a to b`. */
  readonly what: string;
  /** How many files differ between the two commits; undefined if that is not known. */
  readonly files: number | undefined;
  readonly conflicts: readonly string[];
  /** Seen files that changed on disk while they have unsaved changes in the editor. */
  readonly under?: readonly string[];
  /** False: other notifications report some of its seen files. */
  readonly alone?: boolean;
}

/**
 * `files`: seen files whose current state the conversation does not know. `complete`: the file is again as it was read.
 */
export function gitHeadChanged(
  operation: GitOperation,
  files: readonly FileState[],
  author: Author | undefined,
): Omit<NotificationDraft, 'at'> {
  const { before, after, what, conflicts, subject, under = [] } = operation;
  // The names of two branches say enough.
  const isSwitch = before.branch !== undefined && after.branch !== undefined && before.branch !== after.branch;
  const isMoved = before.commit !== after.commit && !isSwitch;
  const moved = isMoved ? ` (${shortCommit(before.commit)} → ${shortCommit(after.commit)})` : '';
  const by = author?.type === 'command' ? printAuthor(author) : '';
  const message = [
    `Git ${what}${moved}${by}.`,
    ...(operation.files === undefined ? [] : [`${countFiles(operation.files)}.`]),
    ...(conflicts.length === 0 ? [] : [`In conflict: ${listFirst(conflicts.map(printPath))}.`]),
    ...describeSeen(files, operation.alone !== false && under.length === 0),
    ...(under.length === 0
      ? []
      : [
          `Changed on disk since you read them, under unsaved changes of the user’s: ${listFirst(under.map(printPath))}.`,
        ]),
  ].join(' ');
  const { level, origin } = KINDS['git.head_changed'];
  const data = { files: [...files], before: { ...before }, after: { ...after } };
  return { kind: GIT_KIND, level: conflicts.length > 0 ? 'error' : level, origin, subject, message, data };
}

function describeSeen(files: readonly FileState[], alone: boolean): string[] {
  const changed = files.filter(({ complete }) => !complete);
  const back = files.filter(({ complete }) => complete);
  if (files.length === 0) return alone ? ['No file that you have read is affected.'] : [];
  const names = (states: readonly FileState[]) =>
    listFirst(states.map(({ path, hash }) => printPath(path) + (hash === GONE ? ' (gone)' : '')));
  return [
    ...(changed.length === 0 ? [] : [`Changed since you read them; read again before use: ${names(changed)}.`]),
    ...(back.length === 0 ? [] : [`Again as you read it: ${names(back)}.`]),
  ];
}

export function listFirst(names: readonly string[], most = NAMED): string {
  const more = names.length > most ? ` and ${names.length - most} more` : '';
  return `${names.slice(0, most).join(', ')}${more}`;
}

function countFiles(number: number): string {
  return number === 1 ? '1 file differs' : `${number.toLocaleString('en')} files differ`;
}

function shortCommit(commit: string): string {
  return commit === '' ? 'nothing' : commit.slice(0, 7);
}
