// Keeps the preview of an open approval up to date with the current files.
import { coalesce, ignore, within } from '../../base/async.ts';
import { type Event } from '../../base/emitter.ts';
import { type CallPreview } from '../../protocol/page/diffView.ts';
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
import { effectOf } from './approvalPolicy.ts';
import { isSamePlan, isStillValid, type PlannedCall, planCall, previewOf } from './preview.ts';

/** A language server may never answer; then only the call's arguments are shown. */
const LONGEST_WAIT = 10_000;

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
