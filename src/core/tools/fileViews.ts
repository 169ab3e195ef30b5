// The files of a running call: the states it has seen, snapshots before overwriting, and views and changes for the log.
import { defined } from '../../base/json/defined.ts';
import { decodeText } from '../../base/text.ts';
import { type EventOf, type SeenPart } from '../../protocol/event.ts';
import { fileScope } from '../../protocol/scopes.ts';
import { type Effect } from '../../protocol/tool.ts';
import { delegateWorkspace } from '../consent/delegateWorkspace.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { fileStatesOf, GONE } from '../files/fileState.ts';
import { followLines } from '../files/followLines.ts';
import { joinParts } from '../files/seenPart.ts';
import { type SeenView, type ShownFile } from '../ports/fileViews.ts';
import { type ToolOutcome } from '../ports/ports.ts';
import { type Snapshots } from '../ports/storage.ts';
import { type FileEdit, type FilePath, type Workspace } from '../ports/workspace.ts';
import { type OwnEdits } from './ownEdits.ts';
import { type ChosenImage } from './shownImages.ts';

export interface FileViewDeps {
  readonly log: ConversationLog;
  readonly snapshots: Snapshots;
  readonly edits: OwnEdits;
}

type Response = EventOf<'tool_call_response'>;
type Views = NonNullable<Response['seen']>;
type Changes = NonNullable<Response['changes']>;

/** The last state of a file that the conversation was shown, including by calls that are still running. */
export async function seenView({ log, snapshots, edits }: FileViewDeps, file: FilePath): Promise<SeenView | undefined> {
  const state = edits.newest(file.path) ?? log.state.seen.get(file.path);
  if (state === undefined) return undefined;
  const { hash, part, compacted } = state;
  const bytes = hash === GONE ? undefined : await snapshots.get(hash);
  return {
    gone: hash === GONE,
    compacted: compacted === true,
    ...defined({ bytes, part }),
    is: (other) => snapshots.hash(other) === hash,
  };
}

/**
 * The workspace as a call sees it: takes snapshots before overwriting, and marks changes as the call's own, so that
 * they are not reported back to its conversation.
 */
export function ownWorkspace(workspace: Workspace, { snapshots, edits }: FileViewDeps, call: string): Workspace {
  return delegateWorkspace(workspace, {
    apply: async (list, options) => {
      await Promise.all(list.flatMap(({ from }) => (from === undefined ? [] : [snapshots.put(from)])));
      edits.begin(call, list.flatMap(touchedBy));
      return workspace.apply(list, options);
    },
  });
}

function touchedBy(edit: FileEdit): string[] {
  const files = edit.type === 'move' ? [edit.file, edit.to] : [edit.file];
  return files.flatMap(({ path, real }) => (real === undefined ? [path] : [path, real]));
}

/** Calls that change files run one after the other, so that each sees what the previous ones have shown or changed. */
export async function inTurn(
  { log, snapshots, edits }: FileViewDeps,
  call: string,
  effect: Effect,
  run: () => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  const work = async () => {
    const ran = await run();
    const seen =
      ran.seen && (await Promise.all(ran.seen.map((one) => withEarlierLines({ log, snapshots, edits }, one))));
    const outcome = { ...ran, ...defined({ seen }) };
    const views = (seen ?? []).map(({ file, bytes, part }) => ({
      path: file.path,
      hash: bytes === undefined ? GONE : snapshots.hash(bytes),
      part,
    }));
    edits.moved(call, views, (path) => log.state.seen.get(path));
    return outcome;
  };
  return effect === 'edit' ? edits.inTurn(work) : work();
}

/** Stores the bytes on disk before the event that names them is written. */
export async function keepViews(
  { log, snapshots }: FileViewDeps,
  outcome: ToolOutcome,
): Promise<{ seen: Views; changes: Changes; meanwhile: Changes }> {
  const hashOf = async (bytes: Uint8Array | undefined) => (bytes === undefined ? GONE : snapshots.put(bytes));
  const seen = await Promise.all(
    (outcome.seen ?? []).map(async ({ file, bytes, part }) => ({
      path: file.path,
      hash: await hashOf(bytes),
      ...(part && { part: copyOf(part) }),
    })),
  );
  const changes = await keepChanges(snapshots, outcome.changes);
  const meanwhile = await keepChanges(snapshots, outcome.meanwhile);
  await withdrawShown(log, seen, changes);
  return { seen, changes, meanwhile };
}

/** Adds lines that earlier searches showed, as far as they did not change, at their present places. */
async function withEarlierLines({ log, snapshots, edits }: FileViewDeps, view: ShownFile): Promise<ShownFile> {
  const { file, bytes, part } = view;
  const before = edits.newest(file.path) ?? log.state.seen.get(file.path);
  if (part?.searched !== true || before?.part?.searched !== true || bytes === undefined) return view;
  const shown = before.hash === snapshots.hash(bytes) ? undefined : await snapshots.get(before.hash);
  const [old, now] = [shown && decodeText(shown), decodeText(bytes)];
  const ranges = old === undefined || now === undefined ? [] : followLines(old, now, before.part.ranges)?.ranges;
  const joined = joinParts({ ...part, ranges: ranges ?? [] }, part);
  const { part: _, ...whole } = view;
  return joined === undefined ? whole : { ...view, part: joined };
}

function copyOf({ ranges, ...part }: SeenPart): SeenPart {
  return { ...part, ranges: ranges.map(([first, last]): [number, number] => [first, last]) };
}

async function keepChanges(snapshots: Snapshots, changes: ToolOutcome['changes'] = []): Promise<Changes> {
  return Promise.all(
    changes.map(async ({ file, before, after, beforeKind, afterKind, beforeMode, afterMode }) => ({
      path: file.path,
      ...(before !== undefined && { before: await snapshots.put(before) }),
      ...(after !== undefined && { after: await snapshots.put(after) }),
      ...defined({ before_kind: beforeKind, after_kind: afterKind, before_mode: beforeMode, after_mode: afterMode }),
    })),
  );
}

/** Withdraws pending notifications of states that the call has shown or started from, which would be reported twice. */
export async function withdrawShown(log: ConversationLog, seen: Views, changes: Changes = []): Promise<void> {
  const ids = seen.flatMap(({ path, hash, part }) => {
    if (part !== undefined) return [];
    const shown = new Set([
      hash,
      ...changes.flatMap((change) => (change.path === path ? (change.before ?? GONE) : [])),
    ]);
    return ['changed', 'deleted']
      .flatMap((name) => log.state.pending.idsOf({ source: 'file', name }, fileScope(path)))
      .filter((id) => {
        const pending = log.state.pending.newest(id);
        // Replaced notifications are not shown anyway.
        return (
          pending === undefined || fileStatesOf(pending).some((state) => state.path === path && shown.has(state.hash))
        );
      });
  });
  if (ids.length > 0) {
    await log.append({ type: 'notification_withdrawn', ids, reason: 'it was shown with the result of a call' });
  }
}

/** Stores the bytes on disk before the event that names them is written. */
export async function keepImages(
  { snapshots }: Pick<FileViewDeps, 'snapshots'>,
  images: readonly ChosenImage[],
): Promise<NonNullable<Response['images']>> {
  const kept: NonNullable<Response['images']> = [];
  for (const { mediaType, bytes, name, tokens } of images)
    kept.push({ media_type: mediaType, hash: await snapshots.put(bytes), name, tokens });
  return kept;
}

/** Stores the bytes on disk before the event that names them is written. */
export async function keepMedia(
  { snapshots }: Pick<FileViewDeps, 'snapshots'>,
  { media = [] }: ToolOutcome,
): Promise<NonNullable<Response['media']>> {
  const kept: NonNullable<Response['media']> = [];
  for (const { mediaType, bytes } of media) kept.push({ media_type: mediaType, hash: await snapshots.put(bytes) });
  return kept;
}
