// Requests approval for a tool call from a front end until the answer is valid, and appends the answer to the log.
import { type Event } from '../../base/emitter.ts';
import { failed, type Result } from '../../base/errors.ts';
import { type FailureCode } from '../../base/failureCodes.ts';
import { failureText } from '../../base/failureTexts.ts';
import { defined } from '../../base/json/defined.ts';
import { isDeeperThan, MOST_DEPTH, TOO_DEEP } from '../../base/json/outsideJson.ts';
import { type CallPreview } from '../../protocol/page/diffView.ts';
import { type TextOrigin } from '../../protocol/page/textOrigin.ts';
import { type EventDraft, type EventOf } from '../../protocol/event.ts';
import { type Settings } from '../../protocol/settings.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { type OutsideTree } from '../conversation/outside/outsideTree.ts';
import {
  type ApprovalAnswer,
  type ApprovalRequest,
  PLUGIN_PREFIX,
  TIMED_OUT,
  type Tool,
  type ToolContext,
} from '../ports/ports.ts';
import { type AlwaysRule, type Permissions } from '../ports/storage.ts';
import { type Workspace } from '../ports/workspace.ts';
import { effectOf, judge, type Verdict } from './approvalPolicy.ts';
import { type Hidden } from './ignoreFile.ts';
import { OpenPreview, type PlannedCall, type PreviewDeps } from './preview.ts';
import { shellSyntaxOf } from './shell/script.ts';
import { findOrigins, needsPerson } from './textOrigins.ts';

type CallRequest = EventOf<'tool_call_request'>;
type AskVerdict = Extract<Verdict, { type: 'ask' }> & { readonly origins?: readonly TextOrigin[] };
type Decided = Exclude<Verdict, { type: 'ask' }>;

export interface ApprovalDeps extends PreviewDeps {
  readonly log: ConversationLog;
  readonly workspace: Workspace;
  readonly permissions: Permissions;
  /** What the conversation received from outside. */
  readonly outside: Pick<OutsideTree, 'of'>;
  /** The program that runs command lines. */
  shell(): string;
  settings(): Settings;
  readonly onDidChangeSettings?: Event<void> | undefined;
}

export type Permission =
  /** `arguments` are parsed: as the model wrote them, or as the user edited them. */
  | {
      readonly type: 'permitted';
      readonly arguments: unknown;
      readonly letIn: readonly string[];
      readonly names: readonly string[];
      /** The changes that the person was shown; the call makes exactly these or none. */
      readonly plan?: PlannedCall | undefined;
      /** The task that was judged; the call runs exactly this one or none. */
      readonly task?: string | undefined;
    }
  | { readonly type: 'refused'; readonly reason: string; readonly code: FailureCode };

/** Why a call is asked for in every mode; the marks say which text it is. */
const FROM_OUTSIDE = 'text of it came from outside.';

/** The `by` of calls that need no approval. */
const POLICY = 'policy';

/**
 * Resolves once the answer is in the log. Every call that does more than read has an answer before it runs, so a call
 * without an answer never began.
 */
export async function permit(
  deps: ApprovalDeps,
  tool: Tool,
  call: {
    readonly request: CallRequest;
    readonly arguments: unknown;
    readonly hidden: Hidden;
    /** The context of the call with these paths allowed. */
    contextFor(letIn: readonly string[], names: readonly string[]): ToolContext;
    /** The call was approved before, but the files had changed when it ran. */
    readonly again?: boolean;
    /** Why the user is asked even if the settings allow the call. */
    readonly mustAsk?: string | undefined;
  },
  signal: AbortSignal,
): Promise<Permission> {
  const { request, arguments: args, hidden } = call;
  const judgeNow = async () => demandQuestion(await judgeCall(deps, tool, args, hidden), call.mustAsk);
  const verdict = await judgeNow();
  switch (verdict.type) {
    case 'refused':
    case 'allowed':
      return carryOut(deps, tool, { request, args }, verdict);
    case 'ask':
      return askFor(
        deps,
        tool,
        {
          request,
          args,
          verdict,
          judgeNow,
          context: call.contextFor(verdict.letIn, verdict.names ?? []),
          again: call.again === true,
          whyRefused: async (changed) => {
            const judged = await judgeCall(deps, tool, changed, hidden);
            return judged.type === 'refused' ? (failureText(judged.code) ?? judged.reason) : undefined;
          },
        },
        signal,
      );
  }
}

/** Carries out what the policy has decided without a person. */
async function carryOut(
  deps: ApprovalDeps,
  tool: Tool,
  { request, args }: { readonly request: CallRequest; readonly args: unknown },
  verdict: Decided,
): Promise<Permission> {
  if (verdict.type === 'refused') return verdict;
  if (effectOf(tool, args) !== 'read') await record(deps, request, { action: 'approve', by: POLICY });
  return { type: 'permitted', arguments: args, letIn: [], names: [], task: verdict.task?.fingerprint };
}

function demandQuestion<V extends Verdict>(verdict: V, mustAsk: string | undefined): V | AskVerdict {
  return mustAsk === undefined ? verdict : withReason(verdict, `a hook of the user wants you to decide: ${mustAsk}`);
}

/** Asks for this reason too; what is refused stays refused. */
function withReason<V extends Verdict>(verdict: V, reason: string): V | AskVerdict {
  if (verdict.type === 'refused') return verdict;
  return verdict.type === 'allowed'
    ? { ...verdict, type: 'ask', reason, letIn: [] }
    : { ...verdict, reason: verdict.reason === undefined ? reason : `${verdict.reason} Also, ${reason}` };
}

async function judgeCall(
  deps: ApprovalDeps,
  tool: Tool,
  args: unknown,
  hidden: Hidden,
): Promise<Exclude<Verdict, { type: 'ask' }> | AskVerdict> {
  const { workspace, permissions } = deps;
  const settings = deps.settings();
  const shell = shellSyntaxOf(deps.shell());
  const conversation = deps.log.id;
  const verdict = await judge({ conversation, settings, workspace, hidden, permissions, shell }, tool, args);
  const touched = tool.touches?.(args) ?? {};
  const acts = effectOf(tool, args) !== 'read' || [touched.server, touched.url, touched.wakes].some(Boolean);
  if (verdict.type === 'refused' || tool.inquires === true || (verdict.type === 'allowed' && !acts)) return verdict;
  const texts = await deps.outside.of(deps.log);
  const ofUser = settings['approvals.commands'];
  const origins = await findOrigins({ workspace, shell, ofUser }, { values: args, touched }, texts);
  if (origins.length === 0) return verdict;
  if (!needsPerson(origins, settings) || !acts) return verdict.type === 'ask' ? { ...verdict, origins } : verdict;
  // An answer of *Always* would not hold the next time.
  const { always: _, ...asked } = withReason(verdict, FROM_OUTSIDE) as AskVerdict;
  return { ...asked, origins };
}

/**
 * Whether a call without answer and result was waiting for a person, as far as that can be known afterwards. A call
 * that only asks the user can simply ask again.
 */
export async function waitedForAnswer(
  deps: ApprovalDeps,
  tool: Tool,
  request: CallRequest,
  hidden: Hidden,
): Promise<boolean> {
  if (tool.inquires === true) return true;
  const parsed = tool.parse(request.arguments);
  if (!parsed.ok) return tool.effect !== 'read';
  return effectOf(tool, parsed.value) !== 'read' || (await judgeCall(deps, tool, parsed.value, hidden)).type === 'ask';
}

const CHANGED_MEANWHILE = 'What this call would do has changed meanwhile. Review it again.';

async function askFor(
  deps: ApprovalDeps,
  tool: Tool,
  call: {
    readonly request: CallRequest;
    readonly args: unknown;
    readonly verdict: AskVerdict;
    judgeNow(): Promise<Decided | AskVerdict>;
    readonly context: ToolContext;
    readonly again: boolean;
    /** Why the call may not run with these arguments, even if it is approved. */
    whyRefused(changed: unknown): Promise<string | undefined>;
  },
  signal: AbortSignal,
): Promise<Permission> {
  const { request, verdict } = call;
  const preview = await OpenPreview.of(deps, tool, call);
  let problem = call.again ? CHANGED_MEANWHILE : undefined;
  for (;;) {
    const opened = (until: AbortSignal) => preview.whileOpen((shown) => requestOf(deps, call, shown, problem), until);
    const answer = await unlessDecided(deps, call.judgeNow, opened, signal);
    if ('type' in answer) return carryOut(deps, tool, call, answer);
    if (answer.action === 'reject') {
      await record(deps, request, answer);
      const reason = `${describeRejecter(answer.by)}: ${reasonOf(answer)}`;
      return { type: 'refused', reason, code: 'rejected' };
    }
    const changed = answer.action === 'modify' ? parseChanged(tool, answer.arguments ?? {}) : undefined;
    if (changed?.ok === false) {
      // The person who edited the arguments can correct them; the model is not involved.
      problem = changed.failure.message;
      continue;
    }
    // The edited arguments may do more than read, which Plan mode and an untrusted workspace do not allow.
    const refused = changed === undefined ? undefined : await call.whyRefused(changed.value);
    if (refused !== undefined) {
      problem = refused;
      continue;
    }
    if (changed === undefined && !(await preview.isCurrent())) {
      problem = CHANGED_MEANWHILE;
      continue;
    }
    const always = alwaysAllowed(deps, answer, verdict);
    if (always !== undefined) await deps.permissions.add(always);
    await record(deps, request, answer, always !== undefined);
    if (changed === undefined) {
      const { letIn, names = [], task } = verdict;
      const judged = { plan: preview.plan, task: task?.fingerprint };
      return { type: 'permitted', arguments: call.args, letIn, names, ...judged };
    }
    // Arguments that a person edited count as approved, even if they lead out of the workspace.
    const letIn = tool.touches?.(changed.value).paths ?? [];
    const task = (await tool.inspect?.(changed.value))?.fingerprint;
    return { type: 'permitted', arguments: changed.value, letIn, names: [], task };
  }
}

/**
 * Waits for a person's answer, unless a new rule or a change of settings decides the call meanwhile: then the question
 * is withdrawn.
 */
async function unlessDecided(
  { permissions, onDidChangeSettings, logger }: ApprovalDeps,
  judgeNow: () => Promise<Verdict>,
  ask: (until: AbortSignal) => Promise<ApprovalAnswer>,
  signal: AbortSignal,
): Promise<ApprovalAnswer | Decided> {
  const withdrawn = new AbortController();
  let decided: Decided | undefined;
  const check = async () => {
    const verdict = await judgeNow();
    if (verdict.type === 'ask') return;
    decided ??= verdict;
    withdrawn.abort();
  };
  const report = (error: unknown) => logger.error('an open approval could not be judged again', error);
  const onChange = () => void check().catch(report);
  const listening = [permissions.onDidChange(onChange), onDidChangeSettings?.(onChange)];
  // It may have been decided while the preview was made.
  onChange();
  try {
    return await ask(AbortSignal.any([signal, withdrawn.signal]));
  } catch (error) {
    if (decided === undefined || signal.aborted) throw error;
    return decided;
  } finally {
    for (const one of listening) one?.dispose();
  }
}

function alwaysAllowed(
  { log, clock }: ApprovalDeps,
  { action, always }: ApprovalAnswer,
  verdict: AskVerdict,
): AlwaysRule | undefined {
  const allowed = always?.server === true ? verdict.always?.server : verdict.always;
  if (action !== 'approve' || always === undefined || allowed === undefined) return undefined;
  const { rule, label } = allowed;
  const since = new Date(clock.now()).toISOString();
  return { rule, label, since, ...(always.scope === 'conversation' && { conversation: log.id }) };
}

function parseChanged(tool: Tool, args: Readonly<Record<string, unknown>>): Result<unknown> {
  return isDeeperThan(args, MOST_DEPTH) ? failed('too_deep', `arguments: ${TOO_DEEP}.`) : tool.parse(args);
}

function requestOf(
  deps: ApprovalDeps,
  { request, verdict }: { readonly request: CallRequest; readonly verdict: AskVerdict },
  preview: CallPreview | undefined,
  problem: string | undefined,
): ApprovalRequest {
  const { id, name, arguments: args } = request;
  return {
    conversation: deps.log.id,
    call: { id, name, arguments: args },
    ...defined({ reason: verdict.reason, note: verdict.note }),
    ...(verdict.always !== undefined && { always: verdict.always.label }),
    ...(verdict.always?.server !== undefined && { alwaysServer: verdict.always.server.label }),
    ...defined({ problem, preview, origins: verdict.origins }),
    ...(verdict.task !== undefined && { task: verdict.task.view }),
  };
}

function describeRejecter(by: string): string {
  if (by === TIMED_OUT) return 'This call was rejected automatically';
  const plugin = by.startsWith(PLUGIN_PREFIX) ? by.slice(PLUGIN_PREFIX.length) : undefined;
  return `${plugin === undefined ? 'The user' : `The program plugin ${plugin}`} rejected this call`;
}

function reasonOf(answer: ApprovalAnswer): string {
  const reason = answer.reason?.trim() ?? '';
  if (reason === '') return 'no reason given.';
  return /[.!?…]$/.test(reason) ? reason : `${reason}.`;
}

async function record(deps: ApprovalDeps, request: CallRequest, answer: ApprovalAnswer, always = false): Promise<void> {
  const draft: EventDraft = {
    type: 'approval',
    tool_call_id: request.id,
    action: answer.action,
    by: answer.by,
    ...(answer.program !== undefined && { program: { ...answer.program } }),
    ...defined({ reason: answer.reason }),
    ...(always && { always }),
    ...(answer.action === 'modify' && answer.arguments !== undefined && { arguments: { ...answer.arguments } }),
  };
  await deps.log.append(draft);
}
