// Opens a file for a change: its current text, and what the model has seen of it.
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { printPath } from '../../base/printPath.ts';
import { type ToolContext, type ToolOutcome } from '../../core/ports/ports.ts';
import { type FilePath, NOT_FOUND, STALE } from '../../core/ports/workspace.ts';
import { partAfter, type SeenOf, type Verdict } from '../../core/tools/staleGuard.ts';
import { refuse } from '../defineTool.ts';

type Files = Pick<ToolContext, 'workspace' | 'seen'>;

export interface OpenedFile {
  readonly there: true;
  readonly file: FilePath;
  readonly bytes: Uint8Array;
  /** Undefined if it is not text. */
  readonly text: string | undefined;
  readonly seen: SeenOf | undefined;
}

/** `there` is false if no file has this path. */
export type Taken = OpenedFile | { readonly there: false; readonly file: FilePath; readonly seen: SeenOf | undefined };

export async function openForChange(path: string, { workspace, seen }: Files): Promise<Result<Taken>> {
  const resolved = await workspace.resolve(path);
  if (!resolved.ok) return resolved;
  const file = resolved.value;
  const view = await seen(file);
  const content = await workspace.read(file);
  if (!content.ok) {
    if (content.failure.code !== NOT_FOUND) return content;
    const known = view && { current: view.gone, gone: view.gone, part: view.part, compacted: view.compacted };
    return succeeded({ there: false, file, seen: known });
  }
  const { bytes } = content.value;
  const known = view && {
    current: view.is(bytes),
    gone: view.gone,
    text: view.bytes && (await workspace.decode(file, view.bytes)),
    part: view.part,
    compacted: view.compacted,
  };
  return succeeded({ there: true, file, bytes, text: await workspace.decode(file, bytes), seen: known });
}

export async function openExisting(path: string, files: Files): Promise<Result<OpenedFile>> {
  const taken = await openForChange(path, files);
  if (!taken.ok) return taken;
  if (taken.value.there) return succeeded(taken.value);
  const { file, seen } = taken.value;
  const since = seen === undefined || seen.gone ? 'does not exist' : 'was deleted or renamed since you read it';
  return failed(NOT_FOUND, `${printPath(file.path)} ${since}.`, 'list_files shows what is there.');
}

/** A refusal that shows all new content counts as a read, so that the model can continue from it. */
export function refuseUnseen(verdict: Extract<Verdict, { allowed: false }>, taken: Taken): ToolOutcome {
  const refused = refuse({ code: STALE, message: verdict.reason });
  if (!verdict.shown) return refused;
  const part = taken.there ? partAfter(taken.seen, true) : undefined;
  const shown = { file: taken.file, ...(taken.there && { bytes: taken.bytes }), ...(part && { part }) };
  return { ...refused, seen: [shown] };
}

/** Retries if a file changes between reading and writing it. */
export async function retryWhileStale(attempt: () => Promise<Result<ToolOutcome>>): Promise<ToolOutcome> {
  for (let times = 1; ; times += 1) {
    const result = await attempt();
    if (result.ok) return result.value;
    if (result.failure.code !== STALE || times === 3) return refuse(result.failure);
  }
}
