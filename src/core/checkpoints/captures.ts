// Decides when the workspace is captured: at the start of a turn, and around a command, whose changes are found that way.
import { type Failure, FailureError, type Result } from '../../base/errors.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { type ChangedFile, type Clock, type Log, type ToolOutcome } from '../ports.ts';
import { type CheckpointBytes, type CheckpointDifference, type Checkpoints, type Snapshots } from '../storagePorts.ts';
import { type Buffers, type FilePath, type Workspace } from '../workspacePorts.ts';
import { sameBytes } from './byteLines.ts';

/** Whoever waits for a capture waits no longer than this; then it is said that there is none. */
const LIMIT_MILLISECONDS = 60_000;
/** Of what a command changed, as much is kept beside the checkpoint, ready to be reviewed. */
const MOST_FILES = 1000;
const MOST_BYTES = 64 * 1024 * 1024;

export interface CapturesDeps {
  readonly log: ConversationLog;
  readonly checkpoints: Checkpoints;
  readonly snapshots: Snapshots;
  readonly workspace: Workspace;
  readonly buffers?: Buffers | undefined;
  readonly clock: Clock;
  readonly output: Log;
}

type Reason = 'turn' | 'command' | 'restore';

export class Captures {
  readonly #deps: CapturesDeps;
  /** Never rejects. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(deps: CapturesDeps) {
    this.#deps = deps;
  }

  /** Goes on beside the model's first answer; whatever changes something waits for it. */
  beginTurn(signal: AbortSignal): void {
    const { workspace, log, output } = this.#deps;
    // Nothing is changed there, and a turn that was taken up again has one from before.
    if (!workspace.trusted || log.state.changes.turns.at(-1)?.checkpoint !== undefined) return;
    this.#turn = this.take('turn', signal).catch((error: unknown) => {
      // The log was closed, or cannot be written: whoever runs the turn notices that too.
      if (!signal.aborted && !(error instanceof FailureError)) output.error('the workspace was not captured', error);
    });
  }

  async turnTaken(): Promise<void> {
    await this.#turn;
  }

  /** Captures the workspace and puts that into the log. Undefined, with the reason in the log, if it cannot be. */
  async take(reason: Reason, signal: AbortSignal, call?: string): Promise<string | undefined> {
    const { log, snapshots, workspace } = this.#deps;
    const unsaved = await Promise.all(
      workspace.unsaved().map(async (file) => {
        const content = await workspace.readLocally(file);
        return content.ok ? [{ path: file.path, hash: await snapshots.put(content.value.bytes) }] : [];
      }),
    );
    const taken = await this.#capture(true, await this.#touched(), signal);
    await log.append({
      type: 'checkpoint_taken',
      reason,
      ...(call !== undefined && { tool_call_id: call }),
      ...(unsaved.flat().length > 0 && { unsaved: unsaved.flat() }),
      ...(taken.ok && { checkpoint: taken.value.name }),
      ...(taken.ok && taken.value.leftOut.length > 0 && { left_out: taken.value.leftOut.length }),
      ...(!taken.ok && { failure: taken.failure }),
    });
    return taken.ok ? taken.value.name : undefined;
  }

  /** Runs a command and finds what it changed, also when it was called off half-way. */
  async around(call: string, signal: AbortSignal, run: () => Promise<ToolOutcome>): Promise<ToolOutcome> {
    await this.turnTaken();
    const also = await this.#touched();
    let before: string | undefined;
    try {
      before = await this.take('command', signal, call);
    } catch (error) {
      if (signal.aborted) return { content: 'Cancelled by the user.', isError: true };
      throw error;
    }
    const saved = new Map<string, Uint8Array>();
    const listening = this.#deps.buffers?.onDidSave(({ file, bytes }) => saved.set(file.path, bytes));
    try {
      const outcome = await run();
      const found = before === undefined ? [] : await this.#changesSince(before, also, saved);
      const own = new Set(outcome.changes?.map(({ file }) => file.path));
      const changes = [...(outcome.changes ?? []), ...found.filter(({ file }) => !own.has(file.path))];
      return changes.length === 0 ? outcome : { ...outcome, changes };
    } finally {
      listening?.dispose();
    }
  }

  async #changesSince(
    before: string,
    also: readonly FilePath[],
    saved: ReadonlyMap<string, Uint8Array>,
  ): Promise<readonly ChangedFile[]> {
    const { checkpoints, output } = this.#deps;
    const never = new AbortController().signal;
    const after = await this.#capture(false, also, never);
    const compared = after.ok ? await checkpoints.compare(before, after.value.name, never) : after;
    if (!compared.ok) {
      output.warn(`what the command changed is not known: ${compared.failure.message}`);
      return [];
    }
    const differences = bounded(compared.value);
    const bytes = await checkpoints.read(differences.flatMap(bytesOf), never);
    return differences.flatMap((difference) => changeOf(difference, bytes, saved.get(difference.file.path)));
  }

  async #capture(
    keep: boolean,
    also: readonly FilePath[],
    signal: AbortSignal,
  ): Promise<Result<{ name: string; leftOut: readonly string[] }>> {
    const { checkpoints, workspace, clock } = this.#deps;
    const limit = new AbortController();
    const timer = clock.after(LIMIT_MILLISECONDS, () => limit.abort());
    try {
      const { folders } = workspace;
      return await checkpoints.take({ folders, also, keep, signal: AbortSignal.any([signal, limit.signal]) });
    } catch (error) {
      if (signal.aborted || !limit.signal.aborted) throw error;
      return { ok: false, failure: tooSlow };
    } finally {
      timer.dispose();
    }
  }

  /** What the conversation has to do with is captured also where it is ignored. */
  async #touched(): Promise<readonly FilePath[]> {
    const { log, workspace } = this.#deps;
    const paths = new Set([...log.state.seen.paths(), ...log.state.changes.paths]);
    const files = await Promise.all([...paths].map((path) => workspace.resolve(path)));
    return files.flatMap((file) => (file.ok ? [file.value] : []));
  }
}

const tooSlow: Failure = {
  code: 'checkpoint',
  message: `The workspace’s files could not be captured within ${LIMIT_MILLISECONDS / 1000} s.`,
  nextStep: 'Large folders that need no care can be named in .gitignore.',
};

function bytesOf({ before, after }: CheckpointDifference): readonly CheckpointBytes[] {
  return [before, after].filter((bytes) => bytes !== undefined);
}

function bounded(differences: readonly CheckpointDifference[]): readonly CheckpointDifference[] {
  let bytes = 0;
  return differences.slice(0, MOST_FILES).filter((difference) => {
    bytes += bytesOf(difference).reduce((sum, { size }) => sum + size, 0);
    return bytes <= MOST_BYTES;
  });
}

/** What the user saved meanwhile is the user's own: it is no change, or it is what was overwritten. */
function changeOf(
  { file, before, after }: CheckpointDifference,
  bytes: ReadonlyMap<string, Uint8Array>,
  saved: Uint8Array | undefined,
): readonly ChangedFile[] {
  const old = saved ?? (before && bytes.get(before.key));
  const now = after && bytes.get(after.key);
  if (after !== undefined && now === undefined) return [];
  if (before !== undefined && old === undefined) return [];
  if (old !== undefined && now !== undefined && sameBytes(old, now)) return [];
  return [{ file, ...(old !== undefined && { before: old }), ...(now !== undefined && { after: now }) }];
}
