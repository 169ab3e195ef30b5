// The result of a tool that has changed files: each change, the editor's changes on save, and the files seen by it.
import { defined } from '../../base/json/defined.ts';
import { printPath } from '../../base/printPath.ts';
import { differenceOf } from '../../core/files/difference.ts';
import { SHOWN_IN_PART } from '../../core/files/seenPart.ts';
import { type ChangedFile, type ShownFile } from '../../core/ports/fileViews.ts';
import { type ToolContext, type ToolOutcome } from '../../core/ports/ports.ts';
import { type AppliedEdit, type FilePath } from '../../core/ports/workspace.ts';
import { type SeenPart } from '../../protocol/event.ts';
import { answer } from '../defineTool.ts';

const SHOWN = { lines: 80, characters: 4000 };

/** The intended change of one file. */
export interface Intended {
  readonly file: FilePath;
  /** Description of the change for the model: `Replaced 1 text in src/a.ts, line 10.` */
  readonly said: string;
  /** The new text; absent if the file is not text or was deleted. */
  readonly text?: string | undefined;
  /** The lines that the model has seen after this change; absent for all lines. */
  readonly part?: SeenPart | undefined;
}

export async function editOutcome(
  workspace: ToolContext['workspace'],
  applied: readonly AppliedEdit[],
  intended: readonly Intended[],
): Promise<ToolOutcome> {
  const notes: string[] = [];
  const seen: ShownFile[] = [];
  const changes = netChanges(applied);
  for (const { file, said, text, part } of intended) {
    const after = applied.findLast((edit) => edit.file.path === file.path);
    notes.push(said);
    if (after?.unsaved === true) {
      notes.push(
        `${printPath(file.path)} has unsaved changes of the user in the editor: it was changed there and is not saved.`,
      );
    }
    const beyond = await beyondEdit(workspace, file, text, after?.after);
    if (beyond !== undefined) notes.push(beyond.note);
    const known = beyond?.shown === false ? SHOWN_IN_PART : part;
    seen.push({ file, ...(after?.after && { bytes: after.after }), ...defined({ part: known }) });
  }
  return { ...answer(notes.join('\n')), seen, changes };
}

/** Changes that formatters and other save actions made. */
async function beyondEdit(
  workspace: ToolContext['workspace'],
  file: FilePath,
  meant: string | undefined,
  after: Uint8Array | undefined,
): Promise<{ note: string; shown: boolean } | undefined> {
  const now = meant === undefined || after === undefined ? undefined : await workspace.decode(file, after);
  if (meant === undefined || now === undefined || now === meant) return undefined;
  const difference = differenceOf(meant, now, SHOWN);
  if (difference?.diff === undefined) {
    const note = `When ${printPath(file.path)} was saved, the editor changed more of it than can be shown. Read it again before you rely on it.`;
    return { note, shown: false };
  }
  const { added, removed, diff } = difference;
  return {
    note: `When ${printPath(file.path)} was saved, the editor also changed this (+${added} −${removed}):\n${diff}`,
    shown: true,
  };
}

/** A file that was written and then moved is one change of the old path and one of the new path. */
function netChanges(applied: readonly AppliedEdit[]): readonly ChangedFile[] {
  const net = new Map<string, ChangedFile>();
  for (const { file, before, after, beforeMode } of applied) {
    const first = net.get(file.path);
    const start = first === undefined ? before : first.before;
    const mode = after === undefined && start !== undefined ? beforeMode : undefined;
    const kept = { ...defined({ before: start, beforeMode: mode }) };
    net.set(file.path, { file, ...kept, ...defined({ after }) });
  }
  return [...net.values()];
}
