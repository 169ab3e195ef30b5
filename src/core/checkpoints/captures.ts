// Captures the workspace at the start of a turn and around a command, and finds the files that the command changed.
import { type Failure, FailureError, type Result } from '../../base/errors.ts';
import { defined } from '../../base/json/defined.ts';
import { shortList } from '../../base/text.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { type ChangedFile } from '../ports/fileViews.ts';
import { type Clock, type Logger, type ToolOutcome } from '../ports/ports.ts';
import { type ObservedProcess, type ProcessObserver, type ProcessWatch } from '../ports/processes.ts';
import { type CheckpointBytes, type CheckpointDifference, type Checkpoints, type Snapshots } from '../ports/storage.ts';
import { type Buffers, type FilePath, type Workspace } from '../ports/workspace.ts';
import { sameBytes } from '../../base/encodings.ts';

/** The longest wait for a capture; a slower one counts as failed. */
const LIMIT_MILLISECONDS = 60_000;
/** Limits of the changes by one command that are also stored as snapshots, for review. */
const MOST_FILES = 1000;
const MOST_BYTES = 64 * 1024 * 1024;

export interface CapturesDeps {
  readonly log: ConversationLog;
  readonly checkpoints: Checkpoints;
  readonly snapshots: Snapshots;
  readonly workspace: Workspace;
  readonly buffers?: Buffers | undefined;
  readonly clock: Clock;
  /** Absent: all changes made while a command runs are attributed to it. */
  readonly processes?: ProcessObserver | undefined;
  readonly logger: Logger;
}

/** A call that may change files by running programs. */
export interface CapturedCall {
  readonly id: string;
  readonly signal: AbortSignal;
  /** Commands of the same conversation that run already. */
  readonly running: readonly ObservedProcess[];
  /** Every process that the call starts is announced while it runs. */
  readonly isObservable: boolean;
  /** Whether another call of the conversation is changing this file; that call reports the change itself. */
  isChanging(path: string): boolean;
}

type Reason = 'turn' | 'command' | 'restore';

export class Captures {
  readonly #deps: CapturesDeps;
  /** The captures of turns that are still being taken. Never rejects. */
  #turn: Promise<unknown> = Promise.resolve();
  #stopping = new AbortController();
  readonly #attribution: Attribution;

  constructor(deps: CapturesDeps) {
    this.#deps = deps;
    this.#attribution = new Attribution(deps.processes);
  }

  /** Runs in parallel to the model's first answer; calls that change something wait for it. */
  beginTurn(signal: AbortSignal): void {
    const { workspace, log, logger } = this.#deps;
    // An untrusted workspace is never changed, and a resumed turn has a capture already.
    if (!workspace.trusted || log.state.changes.turns.at(-1)?.checkpoint !== undefined) return;
    const either = AbortSignal.any([signal, this.#stopping.signal]);
    const taken = this.take('turn', either).catch((error: unknown) => {
      // The log was closed, or cannot be written: the turn notices that too.
      if (!either.aborted && !(error instanceof FailureError)) logger.error('the workspace was not captured', error);
    });
    // The previous turn's capture may still run; it must not contain changes of this turn.
    this.#turn = Promise.all([this.#turn, taken]);
  }

  async turnTaken(): Promise<void> {
    await this.#turn;
  }

  /** Ends captures that take longer than their turns. Resolves once these have ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#stopping = new AbortController();
    await this.#turn;
  }

  /** Captures the workspace and records that in the log. Undefined, with the reason in the log, if it fails. */
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
      ...defined({ tool_call_id: call }),
      ...(unsaved.flat().length > 0 && { unsaved: unsaved.flat() }),
      ...(taken.ok && { checkpoint: taken.value.name }),
      ...(taken.ok && leftOutOf(taken.value.leftOut)),
      ...(!taken.ok && { failure: taken.failure }),
    });
    return taken.ok ? taken.value.name : undefined;
  }

  /** Runs a command and finds the files that it changed, even if it was cancelled. */
  async around(
    call: CapturedCall,
    run: (observe: (process: ObservedProcess) => void) => Promise<ToolOutcome>,
  ): Promise<ToolOutcome> {
    await this.turnTaken();
    const also = await this.#touched();
    let before: string | undefined;
    try {
      before = await this.take('command', call.signal, call.id);
    } catch (error) {
      if (call.signal.aborted) return { content: 'Cancelled by the user.', isError: true, failure: 'cancelled' };
      throw error;
    }
    const since = this.#deps.log.state.changes.lastSeq;
    const saved = new Map<string, Uint8Array>();
    const listening = this.#deps.buffers?.onDidSave(({ file, bytes }) => saved.set(file.path, bytes));
    this.#attribution.begin(call.running, call.isObservable);
    try {
      const outcome = await run((process) => this.#attribution.observe(process));
      const found = before === undefined ? undefined : await this.#changesSince(before, also, saved);
      if (found === undefined) return outcome;
      const reported = new Set(outcome.changes?.map(({ file }) => file.path));
      const isReported = ({ file, after }: ChangedFile) =>
        reported.has(file.path) || call.isChanging(file.path) || this.#madeSince(since, file.path, after);
      const unreported = found.changes.filter((change) => !isReported(change));
      const others = await this.#attribution.othersOf(unreported, found.times, outcome.content);
      const own = unreported.filter(({ file }) => !others.has(file.path));
      const meanwhile = unreported.filter(({ file }) => others.has(file.path));
      const changes = [...(outcome.changes ?? []), ...own];
      return { ...outcome, ...(changes.length > 0 && { changes }), ...(meanwhile.length > 0 && { meanwhile }) };
    } finally {
      this.#attribution.end(call.isObservable);
      listening?.dispose();
    }
  }

  /** Whether another call of the conversation left exactly these bytes and has reported them in its response. */
  #madeSince(seq: number, path: string, bytes: Uint8Array | undefined): boolean {
    const { log, snapshots } = this.#deps;
    const last = log.state.changes.lastStep(path);
    if (last === undefined || last.seq <= seq) return false;
    return last.after === (bytes === undefined ? undefined : snapshots.hash(bytes));
  }

  async #changesSince(
    before: string,
    also: readonly FilePath[],
    saved: ReadonlyMap<string, Uint8Array>,
  ): Promise<{ changes: readonly ChangedFile[]; times: ReadonlyMap<string, number> } | undefined> {
    const { checkpoints, logger } = this.#deps;
    const never = new AbortController().signal;
    const after = await this.#capture(false, also, never);
    const compared = after.ok ? await checkpoints.compare(before, after.value.name, never) : after;
    if (!compared.ok) {
      logger.warn(`what the command changed is not known: ${compared.failure.message}`);
      return undefined;
    }
    const differences = bounded(compared.value);
    const tooMany = compared.value.length - differences.length;
    if (tooMany > 0) logger.warn(`${tooMany} changes of the command are not listed: they are too many or too large`);
    const bytes = await checkpoints.read(differences.flatMap(bytesOf), never);
    const unread = differences.filter((one) => bytesOf(one).some(({ key }) => !bytes.has(key)));
    if (unread.length > 0) {
      const paths = shortList(unread.map(({ file }) => file.path));
      logger.warn(`changes of the command may not be listed, since their bytes could not be read: ${paths}`);
    }
    const times = await checkpoints.changedAt(
      differences.map(({ file, movedIn }) => ({ ...file, ...defined({ movedIn }) })),
    );
    const changes = differences.flatMap((difference) => changeOf(difference, bytes, saved.get(difference.file.path)));
    return { changes, times };
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

  /** Files that the conversation has seen or changed; they are captured even if they are ignored. */
  async #touched(): Promise<readonly FilePath[]> {
    const { log, workspace } = this.#deps;
    const paths = new Set([...log.state.seen.paths(), ...log.state.changes.paths]);
    const files = await Promise.all([...paths].map((path) => workspace.resolve(path)));
    return files.flatMap((file) => (file.ok ? [file.value] : []));
  }
}

/** So many of the paths that are not in a checkpoint are recorded. */
const MOST_LEFT_OUT = 20;

function leftOutOf(paths: readonly string[]): { left_out?: number; left_out_paths?: string[] } {
  return paths.length === 0 ? {} : { left_out: paths.length, left_out_paths: paths.slice(0, MOST_LEFT_OUT) };
}

const tooSlow: Failure = {
  code: 'checkpoint',
  message: `The workspace’s files could not be captured within ${LIMIT_MILLISECONDS / 1000} s.`,
  nextStep: 'Add large folders that need no undo to .gitignore.',
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

/**
 * Bytes that the user saved meanwhile are not the command's change; if the command replaced them, they count as
 * overwritten.
 */
function changeOf(
  { file, before, after }: CheckpointDifference,
  bytes: ReadonlyMap<string, Uint8Array>,
  saved: Uint8Array | undefined,
): readonly ChangedFile[] {
  const old = (before?.kind === 'link' ? undefined : saved) ?? (before && bytes.get(before.key));
  const now = after && bytes.get(after.key);
  if (after !== undefined && now === undefined) return [];
  if (before !== undefined && old === undefined) return [];
  const kinds = kindsOf(before, after);
  const isSameKind = kinds.beforeKind === kinds.afterKind && kinds.beforeMode === kinds.afterMode;
  if (old !== undefined && now !== undefined && sameBytes(old, now) && isSameKind) return [];
  return [{ file, ...defined({ before: old, after: now }), ...kinds }];
}

/** The kind `executable` is recorded only if just one side has it. */
function kindsOf(
  before: CheckpointBytes | undefined,
  after: CheckpointBytes | undefined,
): Pick<ChangedFile, 'beforeKind' | 'afterKind' | 'beforeMode' | 'afterMode'> {
  const both = before?.kind === 'executable' && after?.kind === 'executable';
  const hasModes = before !== undefined && before.mode !== after?.mode;
  return {
    ...(hasModes && before.mode !== undefined && { beforeMode: before.mode }),
    ...(hasModes && after?.mode !== undefined && { afterMode: after.mode }),
    ...(before?.kind !== undefined && !both && { beforeKind: before.kind }),
    ...(after?.kind !== undefined && !both && { afterKind: after.kind }),
  };
}

interface Changed {
  readonly file: FilePath;
  readonly after?: Uint8Array;
}

/** Shorter content may be in any output. */
const LEAST_SHOWN = 20;

/** Uses one watch for all commands of a conversation that run at the same time: writes of any of them are its own. */
export class Attribution {
  readonly #observer: ProcessObserver | undefined;
  #watch: ProcessWatch | undefined;
  #users = 0;
  /** The number of running calls whose processes cannot be observed. */
  #blind = 0;

  constructor(observer: ProcessObserver | undefined) {
    this.#observer = observer;
  }

  /** `isObservable`: every process that the call starts is announced. */
  begin(running: readonly ObservedProcess[], isObservable: boolean): void {
    this.#users += 1;
    if (!isObservable) this.#blind += 1;
    this.#watch ??= this.#observer?.watch();
    for (const process of running) this.#watch?.add(process);
  }

  observe(process: ObservedProcess): void {
    this.#watch?.add(process);
  }

  end(isObservable: boolean): void {
    this.#users -= 1;
    if (!isObservable) this.#blind -= 1;
    if (this.#users > 0) return;
    this.#watch?.dispose();
    this.#watch = undefined;
  }

  /**
   * The paths that others wrote: at a time when no process of the conversation ran, or with the file still open in
   * another process. `times`: when each file was last changed; a file without a time is attributed to the command. Where
   * nothing can be observed, only files whose content is in `output`, what the call showed, are attributed to it.
   */
  async othersOf(
    changes: readonly Changed[],
    times: ReadonlyMap<string, number>,
    output: string,
  ): Promise<ReadonlySet<string>> {
    const watch = this.#watch;
    if (watch === undefined) return new Set();
    if (!watch.isObserving) {
      return new Set(changes.flatMap(({ file, after }) => (isShownIn(output, after) ? [] : [file.path])));
    }
    await watch.settled(Math.max(0, ...changes.flatMap(({ file }) => times.get(file.path) ?? [])));
    const held = await watch.heldByOthers(changes.map(({ file }) => file.absolute));
    const isOthers = ({ path, absolute }: FilePath) => {
      if (held.has(absolute)) return true;
      const at = times.get(path);
      return at !== undefined && this.#blind === 0 && !watch.mayHaveRun(at);
    };
    return new Set(changes.flatMap(({ file }) => (isOthers(file) ? [file.path] : [])));
  }
}

/** Whether whole lines of the output are the content of the file. */
function isShownIn(output: string, content: Uint8Array | undefined): boolean {
  const plain = (text: string) => `\n${text.replaceAll('\r\n', '\n').trim()}\n`;
  const text = plain(new TextDecoder().decode(content ?? new Uint8Array()));
  return text.length >= LEAST_SHOWN && plain(output).includes(text);
}
