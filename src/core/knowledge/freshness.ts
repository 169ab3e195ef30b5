// Compares what a conversation knows of files with their present state: which are current, and what it was notified of.
import { decodeText } from '../../base/text.ts';
import { type FileFreshness, type Freshness, type FreshnessCounts } from '../../protocol/page/freshnessView.ts';
import { HIDDEN, PROTECTED } from '../consent/door.ts';
import { type KnownFile, type Seen } from '../conversation/projections/seen.ts';
import { CHANGING, GONE } from '../files/fileState.ts';
import { followLines } from '../files/followLines.ts';
import { type Snapshots } from '../ports/storage.ts';
import { NOT_FOUND, type Workspace } from '../ports/workspace.ts';

interface FreshnessDeps {
  readonly snapshots: Pick<Snapshots, 'get' | 'hash'>;
  readonly workspace: Pick<Workspace, 'resolve' | 'read' | 'fingerprint'>;
}

/** Only the files that were shown last are compared. */
const MOST_COMPARED = 1000;
const AT_ONCE = 20;

/** The present state of a file; `hash` is `GONE` if it was deleted, and absent if the state cannot be identified. */
interface Present {
  readonly hash?: string;
  readonly bytes?: Uint8Array;
  readonly unsaved?: true;
  /** Why the model may not read it. */
  readonly reason?: string;
}

/** Reads the files; in the order in which they were shown. */
export async function readFreshness(deps: FreshnessDeps, seen: Seen): Promise<readonly FileFreshness[]> {
  const known = seen.known.slice(-MOST_COMPARED);
  const files: FileFreshness[] = [];
  for (let from = 0; from < known.length; from += AT_ONCE)
    files.push(...(await Promise.all(known.slice(from, from + AT_ONCE).map((file) => compare(deps, file)))));
  return files;
}

/** How many files the conversation knows that `readFreshness` leaves out. */
export function countOlder(seen: Seen): number {
  return Math.max(0, seen.known.length - MOST_COMPARED);
}

async function compare(deps: FreshnessDeps, file: KnownFile): Promise<FileFreshness> {
  const { path, at, part, hash, movedTo, compacted } = file;
  const shown = { path, at, seen: hash, ...(part && { lines: part.ranges }) };
  if (compacted === true) return { ...shown, state: 'forgotten', notified: 'no' };
  const present = await readPresent(deps, path);
  const { hash: now, unsaved, reason } = present;
  const judged = judge(file, present, await areLinesSame(deps, file, present));
  const { state, notified } = judged;
  const updatable = state === 'unshown' || state === 'unreported' || (state === 'deleted' && notified === 'no');
  return {
    ...shown,
    ...judged,
    ...(updatable && { updatable }),
    ...(now !== undefined && now !== GONE && { now }),
    ...(unsaved && { unsaved }),
    ...(now === GONE && movedTo !== undefined && { moved_to: movedTo }),
    ...(reason !== undefined && { reason }),
  };
}

const counted = new WeakMap<Seen, { readonly revision: number; readonly counts: FreshnessCounts | null }>();

/** Null if no content of a file is in the context. */
export function countFreshness(seen: Seen): FreshnessCounts | null {
  const before = counted.get(seen);
  if (before?.revision === seen.revision) return before.counts;
  const counts = { current: 0, reported: 0, pending: 0, unshown: 0, deleted: 0 };
  let total = 0;
  for (const file of seen.known) {
    if (file.compacted === true) continue;
    total += 1;
    // The newest state that was announced is the present one.
    const hash = file.announced ?? file.unsaved ?? file.hash;
    const { state } = judge(file, { hash, ...(file.announced === undefined && file.unsaved && { unsaved: true }) });
    // A state that a filtered notification announced.
    counts[state in counts ? (state as keyof typeof counts) : 'unshown'] += 1;
  }
  const result = { revision: seen.revision, counts: total === 0 ? null : counts };
  counted.set(seen, result);
  return result.counts;
}

function judge(
  { hash, delivered = {}, pending, notified }: KnownFile,
  { hash: now, unsaved, reason }: Present,
  areSame = false,
): { readonly state: Freshness; readonly notified: FileFreshness['notified'] } {
  /** What the model believes the state to be. */
  const told = (unsaved === true ? delivered.unsaved : (delivered.announced ?? delivered.unsaved)) ?? hash;
  const isPending = pending.has(now ?? CHANGING) || pending.has(CHANGING);
  const isTold = told === now || told === CHANGING;
  const report = isPending ? 'pending' : isTold && told !== hash ? 'delivered' : 'no';
  if (now === GONE) return { state: 'deleted', notified: report };
  if (now === undefined || (reason !== undefined && now !== hash)) return { state: 'withheld', notified: report };
  if (isPending) return { state: 'pending', notified: 'pending' };
  if (isTold && now === hash)
    return notified === true ? { state: 'reported', notified: 'delivered' } : { state: 'current', notified: 'no' };
  if (isTold) return { state: 'unshown', notified: 'delivered' };
  return { state: areSame ? 'current' : 'unreported', notified: 'no' };
}

async function readPresent({ workspace, snapshots }: FreshnessDeps, path: string): Promise<Present> {
  const file = await workspace.resolve(path);
  const read = file.ok ? await workspace.read(file.value) : file;
  if (read.ok) {
    const { bytes, unsaved } = read.value;
    return { hash: snapshots.hash(bytes), bytes, ...(unsaved && { unsaved: true }) };
  }
  const { code, message: reason } = read.failure;
  if (code === NOT_FOUND) return { hash: GONE };
  // For a file that the model may not see, only the hash.
  const mark =
    file.ok && (code === PROTECTED || code === HIDDEN)
      ? await workspace.fingerprint(file.value, { hash: (bytes) => snapshots.hash(bytes) })
      : undefined;
  return { reason, ...(mark?.ok === true && { hash: mark.value }) };
}

/** Of a file of which only lines were seen that a search showed, other lines do not matter. */
async function areLinesSame({ snapshots }: FreshnessDeps, { part, hash }: KnownFile, { bytes }: Present) {
  if (part?.searched !== true || bytes === undefined || snapshots.hash(bytes) === hash) return false;
  const shown = await snapshots.get(hash);
  const [before, now] = [shown && decodeText(shown), decodeText(bytes)];
  return before !== undefined && now !== undefined && followLines(before, now, part.ranges)?.changes === '';
}
