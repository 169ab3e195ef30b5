// Previews the file changes of a call: runs it on a workspace that records changes instead of making them. The preview of
// an open approval follows the current files.
import { coalesce, ignore, within } from '../../base/async.ts';
import { type Event } from '../../base/emitter.ts';
import { sameBytes } from '../../base/encodings.ts';
import { failed } from '../../base/errors.ts';
import { type FailureCode } from '../../base/failureCodes.ts';
import { failureText } from '../../base/failureTexts.ts';
import { defined } from '../../base/json/defined.ts';
import { type CallPreview, type FileDiff } from '../../protocol/page/diffView.ts';
import { delegateWorkspace } from '../consent/delegateWorkspace.ts';
import { diffOfCall, joinMoves, OF_APPROVAL } from '../files/callDiff.ts';
import {
  type ApprovalAnswer,
  type ApprovalRequest,
  type Clock,
  type Frontend,
  type Logger,
  type Tool,
  type ToolContext,
} from '../ports/ports.ts';
import { type Snapshots } from '../ports/storage.ts';
import { type FileEdit, type FilePath, type Workspace } from '../ports/workspace.ts';
import { effectOf } from './approvalPolicy.ts';

/** The changes that a call would make now. */
export interface PlannedCall {
  readonly edits: readonly FileEdit[];
  /** Why it would change nothing, in the words for the model. */
  readonly refusal?: string;
  /** The same for people. */
  readonly failure?: FailureCode | undefined;
}

const MOST_FILES = 50;
const LONGEST_REFUSAL = 1000;
/** A language server may never answer; then only the call's arguments are shown. */
const LONGEST_WAIT = 10_000;

/** Failure codes after which no tool retries. */
const ONLY_PLANNED = 'only_planned';
const NOT_AS_APPROVED = 'not_as_approved';

export interface PreviewDeps {
  readonly frontend: Pick<Frontend, 'requests'>;
  readonly snapshots: Snapshots;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly onDidChangeFiles?: Event<void> | undefined;
}

interface PreviewedCall {
  readonly args: unknown;
  readonly context: ToolContext;
}

export class OpenPreview {
  readonly #deps: PreviewDeps;
  readonly #tool: Tool;
  readonly #call: PreviewedCall;
  #plan: PlannedCall | undefined;

  private constructor(deps: PreviewDeps, tool: Tool, call: PreviewedCall) {
    this.#deps = deps;
    this.#tool = tool;
    this.#call = call;
  }

  /** Resolves once it is known what the call would do. */
  static async of(deps: PreviewDeps, tool: Tool, call: PreviewedCall): Promise<OpenPreview> {
    const preview = new OpenPreview(deps, tool, call);
    preview.#plan = await preview.#make();
    return preview;
  }

  /** The plan that was shown last; undefined if there was none to show. */
  get plan(): PlannedCall | undefined {
    return this.#plan;
  }

  /** Requests approval and updates the preview until it is answered. */
  async whileOpen(
    request: (preview: CallPreview | undefined) => ApprovalRequest,
    signal: AbortSignal,
  ): Promise<ApprovalAnswer> {
    const { onDidChangeFiles, logger } = this.#deps;
    const { requests } = this.#deps.frontend;
    const answered = new AbortController();
    // One update covers all changes that happen before it begins.
    const update = coalesce(async () => {
      if (await this.#refresh(answered.signal)) requests.approvalChanged(request(this.#shown()));
    });
    const listening = this.#isPreviewed()
      ? onDidChangeFiles?.(() => {
          const report = (error: unknown) => logger.error('the preview of an approval could not be made', error);
          void update().catch(report);
        })
      : undefined;
    try {
      return await requests.approve(request(this.#shown()), signal);
    } finally {
      answered.abort();
      listening?.dispose();
    }
  }

  /** Returns whether there is something new to show. */
  async #refresh(answered: AbortSignal): Promise<boolean> {
    const shown = this.#plan;
    const { workspace } = this.#call.context;
    if (shown !== undefined && shown.edits.length > 0 && (await isStillValid(shown, workspace))) return false;
    const now = await this.#make();
    if (answered.aborted || isSamePlan(now, shown)) return false;
    this.#plan = now;
    return true;
  }

  /** Whether the call would still do what was shown; if not, the preview is updated. */
  async isCurrent(): Promise<boolean> {
    const shown = this.#plan;
    if (!this.#isPreviewed() || shown === undefined) return true;
    this.#plan = await this.#make();
    return isSamePlan(shown, this.#plan);
  }

  #isPreviewed(): boolean {
    return this.#tool.previewed === true && effectOf(this.#tool, this.#call.args) === 'edit';
  }

  #shown(): CallPreview | undefined {
    return this.#plan && previewOf(this.#plan, this.#deps.snapshots);
  }

  async #make(): Promise<PlannedCall | undefined> {
    if (!this.#isPreviewed()) return undefined;
    const planning = planCall(this.#tool, this.#call.args, this.#call.context).catch(ignore);
    return within(this.#deps.clock, LONGEST_WAIT, planning);
  }
}

/** Undefined if the tool failed. */
async function planCall(tool: Tool, args: unknown, context: ToolContext): Promise<PlannedCall | undefined> {
  let edits: readonly FileEdit[] | undefined;
  const workspace = delegateWorkspace(context.workspace, {
    apply: async (list) => {
      edits = list;
      return failed(ONLY_PLANNED, 'Nothing was changed.');
    },
  });
  try {
    const { content, failure } = await tool.run(args, { ...context, workspace, progress: () => undefined });
    return edits === undefined ? { edits: [], refusal: content.slice(0, LONGEST_REFUSAL), failure } : { edits };
  } catch {
    return undefined;
  }
}

function isSamePlan(one: PlannedCall | undefined, other: PlannedCall | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.refusal === other.refusal && areSameEdits(one.edits, other.edits);
}

/** Whether the files still have the bytes that the plan starts from. */
async function isStillValid({ edits }: PlannedCall, workspace: Workspace): Promise<boolean> {
  for (const { file, from, type } of edits) {
    // The file that an earlier edit of the same plan writes does not have its new bytes yet.
    if (type === 'move' && edits.some((edit) => edit.type === 'write' && edit.file.path === file.path)) continue;
    const content = await workspace.read(file);
    if (!sameBytes(from, content.ok ? content.value.bytes : undefined)) return false;
  }
  return true;
}

/** Whether an earlier call of the same answer left these bytes of the file. */
type IsOwn = (file: FilePath, bytes: Uint8Array) => boolean;

/**
 * The workspace for a call that a person has approved: it makes the changes that were shown, or none. If the call would
 * make other changes, `differs` is called.
 */
export function heldToPlan(
  workspace: Workspace,
  plan: PlannedCall | undefined,
  { isOwn, differs }: { readonly isOwn: IsOwn; differs(): unknown },
): Workspace {
  if (plan === undefined) return workspace;
  return delegateWorkspace(workspace, {
    apply: async (edits, options) => {
      if (areSameChanges(edits, plan.edits, isOwn)) return workspace.apply(edits, options);
      differs();
      return failed(NOT_AS_APPROVED, 'The files have changed since this was approved. Nothing was changed.');
    },
  });
}

/** The diffs, in the form in which the card shows them after the call. */
function previewOf({ edits, refusal, failure }: PlannedCall, snapshots: Snapshots): CallPreview {
  const text = failureText(failure);
  if (refusal !== undefined) return { files: [], refusal, ...defined({ failure: text }) };
  const changed = changesOf(edits);
  const hashed = [...changed].map(([path, { before, after }]) => ({
    path,
    before: before && snapshots.hash(before),
    after: after && snapshots.hash(after),
  }));
  const joined = joinMoves(hashed);
  let { lines, characters } = OF_APPROVAL;
  const files = joined.slice(0, MOST_FILES).map(({ path, from }): FileDiff => {
    if (from !== undefined) return { path, from, kind: 'moved', added: 0, removed: 0, hunks: [] };
    const { before, after } = changed.get(path) ?? {};
    const limits = { ...OF_APPROVAL, lines, characters };
    const diff = diffOfCall({ path, ...defined({ before, after }) }, limits);
    const shown = diff.hunks.flatMap((hunk) => hunk.lines);
    lines -= shown.length;
    characters -= shown.reduce((sum, line) => sum + line.length, 0);
    return diff;
  });
  return { files, ...(joined.length > files.length && { more: joined.length - files.length }) };
}

interface Change {
  readonly before?: Uint8Array | undefined;
  readonly after?: Uint8Array | undefined;
}

/** A file that is written and then moved counts as one change of the old name and one of the new name. */
function changesOf(edits: readonly FileEdit[]): ReadonlyMap<string, Change> {
  const changes = new Map<string, Change>();
  const put = ({ path }: FilePath, before: Uint8Array | undefined, after: Uint8Array | undefined) => {
    const first = changes.get(path);
    changes.set(path, { before: first === undefined ? before : first.before, after });
  };
  for (const edit of edits) {
    if (edit.type === 'write') put(edit.file, edit.from, edit.to);
    else put(edit.file, edit.from, undefined);
    if (edit.type === 'move') put(edit.to, undefined, edit.from);
  }
  return changes;
}

/**
 * Whether the edits are equal, or replace the same lines in a file that only calls of the same answer have changed
 * since.
 */
function areSameChanges(edits: readonly FileEdit[], planned: readonly FileEdit[], isOwn: IsOwn): boolean {
  if (edits.length !== planned.length) return false;
  return edits.every((edit, index) => {
    const plan = planned[index];
    if (isSameEdit(edit, plan)) return true;
    if (edit.type !== 'write' || plan?.type !== 'write' || edit.file.absolute !== plan.file.absolute) return false;
    if (edit.from === undefined || plan.from === undefined || !isOwn(edit.file, edit.from)) return false;
    const [lines, shown] = [changedLines(edit.from, edit.to), changedLines(plan.from, plan.to)];
    return lines !== undefined && shown !== undefined && lines === shown;
  });
}

/** Undefined if the diff is incomplete, because then the person has not seen all of it. */
function changedLines(before: Uint8Array, after: Uint8Array): string | undefined {
  const { hunks, note, cut } = diffOfCall({ path: '', before, after }, OF_APPROVAL);
  if (note !== undefined || cut !== undefined) return undefined;
  return hunks.flatMap(({ lines }) => lines.filter((line) => !line.startsWith(' '))).join('\n');
}

function areSameEdits(one: readonly FileEdit[], other: readonly FileEdit[]): boolean {
  return one.length === other.length && one.every((edit, index) => isSameEdit(edit, other[index]));
}

function isSameEdit(one: FileEdit, other: FileEdit | undefined): boolean {
  if (other === undefined || one.file.absolute !== other.file.absolute || !sameBytes(one.from, other.from))
    return false;
  if (one.type === 'write') return other.type === 'write' && sameBytes(one.to, other.to);
  if (one.type === 'move') return other.type === 'move' && one.to.absolute === other.to.absolute;
  return other.type === 'delete';
}
