// Refuses changes to a file whose current state the model has not seen, and explains why. Pure.
import { type SeenPart } from '../../protocol/event.ts';
import { type Difference, differenceOf } from '../files/difference.ts';
import { printPart, SHOWN_IN_PART } from '../files/seenPart.ts';

/** A refusal may show more than a notification, because the model wants to change the file. */
const SHOWN = { lines: 200, characters: 8000 };

/** The state that the model was shown last, compared with the current file. */
export interface SeenOf {
  /** The file still has these bytes. */
  readonly current: boolean;
  /** The model was shown that the file does not exist. */
  readonly gone: boolean;
  /** Absent: it was not text, or the bytes are lost. */
  readonly text?: string | undefined;
  readonly part?: SeenPart | undefined;
  readonly compacted: boolean;
}

export type Verdict =
  | { readonly allowed: true }
  /** `shown`: the reason shows the whole difference, so that the model has now seen the current state. */
  | { readonly allowed: false; readonly reason: string; readonly shown: boolean };

const ALLOWED: Verdict = { allowed: true };

/**
 * For replacing a whole file. `now`: its text; undefined if it is not text. `editor`: the tool that replaces parts of
 * files.
 */
export function judgeWrite(path: string, seen: SeenOf | undefined, now: string | undefined, editor: string): Verdict {
  if (seen === undefined) {
    return refused(`${path} exists and you have not read it. Nothing was written. Read it first, or use ${editor}.`);
  }
  if (!seen.current) return changedSince(path, seen, now, 'Nothing was written.');
  if (seen.compacted) {
    return refused(
      `What you read of ${path} is no longer in this conversation. Nothing was written. Read it again first.`,
    );
  }
  if (seen.part === undefined) return ALLOWED;
  return refused(
    `You have seen ${printPart(seen.part)} of ${path}. Nothing was written. Read the rest first, or use ${editor}.`,
  );
}

/** For creating a file where there is none. */
export function judgeNew(path: string, seen: SeenOf | undefined): Verdict {
  if (seen === undefined || seen.gone) return ALLOWED;
  return {
    allowed: false,
    reason: `${path} was deleted or renamed since you read it. Nothing was written. If it is to be there again, call this again.`,
    shown: true,
  };
}

/** For replacing exact texts. `misfit`: why they do not fit; if they do, other changes in the file do not matter. */
export function judgeEdit(path: string, seen: SeenOf | undefined, now: string, misfit: string | undefined): Verdict {
  if (misfit === undefined) return ALLOWED;
  if (seen === undefined || seen.current) return refused(`Nothing was changed. ${misfit}`);
  return changedSince(path, seen, now, `Nothing was changed. ${misfit}\n`);
}

/** For moving or deleting a file. A file that the model never saw cannot be stale. */
export function judgeRemoval(path: string, seen: SeenOf | undefined, now: string | undefined): Verdict {
  if (seen === undefined || seen.current) return ALLOWED;
  return changedSince(path, seen, now, 'Nothing was done.');
}

/**
 * Other changes in a file in which the texts to replace were found. Undefined if there are none, or the file was not
 * seen.
 */
export function otherChanges(
  path: string,
  seen: SeenOf | undefined,
  now: string,
): { readonly note: string; readonly shown: boolean } | undefined {
  if (seen === undefined || seen.current || seen.gone) return undefined;
  const difference = seen.text === undefined ? undefined : differenceOf(seen.text, now, SHOWN);
  const { words, shown } = describeDifference(difference);
  return { note: `${path} had also changed since you read it${words}`, shown };
}

/** The part of a file that the model knows after it was shown a difference to its last view. */
export function partAfter(seen: SeenOf | undefined, shown: boolean): SeenPart | undefined {
  const knewAll = seen !== undefined && seen.part === undefined && !seen.compacted && !seen.gone;
  return knewAll && (seen.current || shown) ? undefined : SHOWN_IN_PART;
}

function changedSince(path: string, seen: SeenOf, now: string | undefined, done: string): Verdict {
  if (seen.gone)
    return refused(`${path} exists again since a notification reported it as deleted. ${done} Read it first.`);
  const comparable = seen.text !== undefined && now !== undefined;
  const { words, shown } = describeDifference(comparable ? differenceOf(seen.text, now, SHOWN) : undefined);
  const next = shown ? 'If your change is still right, make it again on this.' : 'Read it again first.';
  return {
    allowed: false,
    reason: `${done}${done.endsWith('\n') ? '' : ' '}${path} has changed since you read it${words}\n${next}`,
    shown,
  };
}

function describeDifference(difference: Difference | undefined): { words: string; shown: boolean } {
  if (difference === undefined) return { words: ', too much to show here.', shown: false };
  const counts = ` (+${difference.added} −${difference.removed})`;
  if (difference.diff === undefined) return { words: `${counts}, too much to show here.`, shown: false };
  return { words: `${counts}:\n${difference.diff}`, shown: true };
}

function refused(reason: string): Verdict {
  return { allowed: false, reason, shown: false };
}
