// Runs one tool call: validate → permit → execute → bound.
import { describeError, describeFailure, FailureError, succeeded } from '../../base/errors.ts';
import { type FailureCode } from '../../base/failureCodes.ts';
import { defined } from '../../base/json/defined.ts';
import { parseObject, TOO_DEEP } from '../../base/json/outsideJson.ts';
import { type Slots } from '../../base/slots.ts';
import { wholeCharacters, decodeText, markLines } from '../../base/text.ts';
import { type EventDraft, type EventOf } from '../../protocol/event.ts';
import { type Captures } from '../checkpoints/captures.ts';
import { effectOf } from '../consent/approvalPolicy.ts';
import { permit } from '../consent/approvals.ts';
import { sourceOf } from '../consent/callTexts.ts';
import { readHidden, viewFor } from '../consent/ignoreFile.ts';
import { inquire } from '../consent/inquiries.ts';
import { heldToPlan } from '../consent/preview.ts';
import { whyProtected } from '../consent/protectedFiles.ts';
import { maskKey } from '../conversation/key.ts';
import { changeEvents } from '../conversation/events/changeEvents.ts';
import { subscribeEvents } from '../conversation/events/subscribeEvents.ts';
import { linesWatched, watchLines } from '../conversation/lines/watchLines.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { type OutsideTree } from '../conversation/outside/outsideTree.ts';
import { notificationHistory } from '../conversation/projections/history.ts';
import { CANCELLED } from '../conversation/projections/transcript.ts';
import { lookalikeIn } from '../conversation/projections/lookalike.ts';
import { enqueue } from '../notify/queue.ts';
import { type Tool, type ToolContext, type ToolOutcome } from '../ports/ports.ts';
import { type FilePath } from '../ports/workspace.ts';
import { inTurn, keepImages, keepMedia, keepViews, ownWorkspace, seenView } from './fileViews.ts';
import { readFreshness } from '../knowledge/freshness.ts';
import { beforeTool, folderOfCall, hooksAfterTool, runHooks } from './hookMoments.ts';
import { type OwnEdits } from './ownEdits.ts';
import { type OfferedTools } from './offeredTools.ts';
import { type Services } from './services.ts';
import { awaitInterruption } from './waitInterruptions.ts';
import { chooseImages } from './shownImages.ts';
import { type Effect } from '../../protocol/tool.ts';
import { type ReportedProblems } from '../ports/problems.ts';
import { subscriptionDataSchema } from '../../protocol/lines/eventSubscriptions.ts';
import { type Notification } from '../../protocol/notification.ts';
import { type Snapshots } from '../ports/storage.ts';

export interface ToolRunDeps extends Services {
  readonly log: ConversationLog;
  readonly registry: OfferedTools;
  readonly outside: OutsideTree;
  /** The files that running calls of the conversation have shown or changed. */
  readonly edits: OwnEdits;
  readonly captures?: Captures | undefined;
  /** Adds tools to the conversation's requests; absent: none can be found. */
  find?: ((names: readonly string[]) => Promise<FoundByCall>) | undefined;
  /** Limits how many calls of the same answer run programs at a time. */
  readonly slots: Slots;
}

/** `note`: what the result must say about tools that could not be added or have changed. */
interface FoundByCall {
  readonly found: NonNullable<ToolResponse['found']>;
  readonly note?: string | undefined;
}

/** The response without the notifications it may carry: these are chosen when it is appended. */
export type ToolResponse = Omit<Extract<EventDraft, { type: 'tool_call_response' }>, 'notifications'>;

export const OUTPUT_LIMIT = 30_000;

/** However a call ends, the model gets a response. Rejects only if the log cannot be written. */
export async function runTool(
  deps: ToolRunDeps,
  request: EventOf<'tool_call_request'>,
  signal: AbortSignal,
): Promise<ToolResponse> {
  const answer = (content: string, failure: FailureCode): ToolResponse => ({
    type: 'tool_call_response',
    id: request.id,
    content,
    is_error: true,
    failure,
  });
  try {
    return await runToEnd(deps, request, signal);
  } catch (error) {
    // The turn was stopped: the call ends as cancelled.
    if (signal.aborted) return answer(CANCELLED, 'cancelled');
    if (error instanceof FailureError) throw error;
    deps.logger.error(`the call of ${request.name} failed unexpectedly`, error);
    return answer(`${request.name} failed unexpectedly and may have run: ${describeError(error)}`, 'bug');
  }
}

async function runToEnd(
  deps: ToolRunDeps,
  request: EventOf<'tool_call_request'>,
  signal: AbortSignal,
): Promise<ToolResponse> {
  deps.edits.begin(request.id, []);
  const outcome = await execute(deps, request, signal);
  const { seen, changes: kept, meanwhile } = await keepViews(deps, outcome);
  const changes = markOverwritten(deps, request, kept);
  const media = await keepMedia(deps, outcome);
  const { found = [], note } = (await deps.find?.(outcome.tools ?? [])) ?? {};
  const { images, notes } = chooseImages(outcome.media ?? [], deps.model());
  const shown = await keepImages(deps, outcome.isError ? [] : images);
  const said = [outcome.content, ...notes, note ?? ''].filter((part) => part !== '').join('\n');
  const content = limitOutput(maskKey(said, deps.log.state.turn.key));
  await warnOfLookalike(deps, request, content);
  return {
    type: 'tool_call_response',
    id: request.id,
    content,
    is_error: outcome.isError,
    ...defined({ failure: outcome.failure, outside: outcome.outside }),
    ...(seen.length > 0 && { seen }),
    ...(changes.length > 0 && { changes }),
    ...(meanwhile.length > 0 && { meanwhile }),
    ...(outcome.handles !== undefined && outcome.handles.length > 0 && { handles: [...outcome.handles] }),
    ...(found.length > 0 && { found }),
    ...(outcome.resources !== undefined && { resources: [...outcome.resources] }),
    ...(shown.length > 0 && { images: shown }),
    ...(media.length > 0 && { media }),
  };
}

/** Commands may change files that were not *seen*; whether one overwrote somebody else's bytes is found afterwards. */
function markOverwritten(
  { log, edits, registry }: ToolRunDeps,
  { name, arguments: args }: EventOf<'tool_call_request'>,
  changes: NonNullable<ToolResponse['changes']>,
): NonNullable<ToolResponse['changes']> {
  const tool = registry.known(name);
  const parsed = changes.length === 0 ? undefined : tool?.parse(args);
  const command = parsed?.ok === true ? tool?.touches?.(parsed.value).command : undefined;
  if (command === undefined) return changes;
  const isLoss = ({ path, before }: (typeof changes)[number]) => {
    const known = edits.newest(path) ?? log.state.seen.get(path);
    if (before === undefined || known === undefined || known.hash === before) return false;
    if (known.part?.searched === true) return false;
    return log.state.changes.lastStep(path)?.after !== before;
  };
  const lost = new Set(changes.filter(isLoss));
  edits.overwrote([...lost].map(({ path, before = '', after }) => ({ path, lost: before, now: after, command })));
  return changes.map((change) => (lost.has(change) ? { ...change, overwrote: true as const } : change));
}

async function execute(
  deps: ToolRunDeps,
  request: EventOf<'tool_call_request'>,
  signal: AbortSignal,
): Promise<ToolOutcome & Pick<ToolResponse, 'outside'>> {
  const tool = deps.registry.get(request.name);
  if (tool === undefined) {
    return refusal(whyNoTool(deps.registry, request.name), 'no_tool');
  }
  if (request.arguments_text !== undefined) {
    return refusal(whyUnreadable(request.name, request.arguments_text), 'bad_arguments');
  }
  const parsed = tool.parse(request.arguments);
  if (!parsed.ok) {
    return refusal(`${request.name} was not run: ${describeFailure(parsed.failure)}`, parsed.failure.code);
  }
  const handles = deps.handles.of(deps.log);
  const impossible = await tool.whyNot?.(parsed.value, { conversation: deps.log.id, handles });
  if (impossible !== undefined) return refusal(describeFailure(impossible), impossible.code);
  const { name, id } = request;
  const hooked = async (args: unknown) => {
    const folder = await folderOfCall(deps.workspace, tool.touches?.(args) ?? {});
    return { tool: name, id, args, folder };
  };
  const before = await runHooks(deps, beforeTool(await hooked(parsed.value)), signal);
  if (before.refused !== undefined) return refusal(refusedByHook(name, before.refused), 'hook');
  const hidden = await readHidden(deps.workspace);
  const observing: { start?: ToolContext['observe'] } = {};
  const contextFor = (letIn: readonly string[], names: readonly string[]): ToolContext => ({
    conversation: deps.log.id,
    signal,
    workspace: viewFor(deps.workspace, hidden, new Set(letIn), names),
    seen: (file) => seenView(deps, file),
    hides: (path) => hidden.hides(path) || whyProtected(path, true) !== undefined,
    call: request.id,
    handles,
    isApproved: () => true,
    observe: (process) => observing.start?.(process),
    interruption: (until) => awaitInterruption(deps, until),
    progress: (text) => deps.frontend.render(deps.log.id, { type: 'tool_output', call: request.id, text }),
    ask: (question) => inquire(deps, { id: request.id, asksOnce: tool.inquires === true }, question, signal),
    watches: deps.log.state.watches.globs,
    lines: deps.log.state.lines.all,
    watchLines: (target, lines, position, wake) =>
      watchLines(deps, linesWatched(target, lines, position), wake === true ? request.id : undefined),
    events: deps.log.state.events,
    subscribeEvents: (wanted, wake) =>
      subscribeEvents({ ...deps, due: deps.store.due }, wanted, wake ? request.id : undefined),
    changeEvents: (change) => changeEvents(deps.log, change),
    wholeMessage: (notification) => wholeMessage(deps.snapshots, notification),
    notifications: async () => {
      const read = await deps.store.read(deps.log.id);
      return read.ok ? succeeded(notificationHistory(read.value.events)) : read;
    },
    freshness: () => readFreshness(deps, deps.log.state.seen),
  });
  const asked = { request, arguments: parsed.value, hidden, contextFor, mustAsk: before.ask };
  const isOwn = ({ path }: FilePath, bytes: Uint8Array) => deps.edits.newest(path)?.hash === deps.snapshots.hash(bytes);
  // If others change the files between the approval and the run, the preview was outdated and the user is asked again.
  for (let again = false; ; again = true) {
    const permission = await permit(deps, tool, { ...asked, again }, signal);
    if (permission.type === 'refused') return refusal(permission.reason, permission.code);
    if (signal.aborted) return refusal(CANCELLED, 'cancelled');
    // The approval was for exactly this tool, which may have been removed or replaced while the approval was open.
    if (deps.registry.get(request.name) !== tool) return refusal(whyNoTool(deps.registry, request.name), 'no_tool');
    const args = permission.arguments;
    // The hooks have checked the arguments that the model wrote, not those that a person edited.
    const call = await hooked(args);
    const changed = args === parsed.value ? undefined : await runHooks(deps, beforeTool(call), signal);
    if (changed?.refused !== undefined) return refusal(refusedByHook(name, changed.refused), 'hook');
    /** One entry for each time the call would have made other changes than were shown. */
    const refused: true[] = [];
    const { task } = permission;
    const context: ToolContext = {
      ...contextFor(permission.letIn, permission.names),
      isApproved: (fingerprint) => {
        const isSame = fingerprint === task;
        if (!isSame) refused.push(true);
        return isSame;
      },
    };
    const own = ownWorkspace(context.workspace, deps, request.id);
    const workspace = heldToPlan(own, permission.plan, { isOwn, differs: () => refused.push(true) });
    const outcome = await runPermitted(deps, tool, args, { ...context, workspace }, observing);
    if (refused.length > 0) continue;
    await hooksAfterTool(deps, call, outcome, signal);
    const outside = await sourceOf(deps.workspace, tool.touches?.(args) ?? {}, permission.letIn);
    return { ...outcome, ...defined({ outside }) };
  }
}

async function runPermitted(
  deps: ToolRunDeps,
  tool: Tool,
  args: unknown,
  context: ToolContext,
  observing: { start?: ToolContext['observe'] },
): Promise<ToolOutcome> {
  const { call: id, signal } = context;
  const effect = effectOf(tool, args);
  const execution = () => inTurn(deps, id, effect, () => tool.run(args, context));
  const settled = () => withProblems(deps, effect, signal, execution);
  const run = async () => {
    deps.frontend.render(deps.log.id, { type: 'tool_started', call: id });
    // An edit waits until the capture of the workspace before the turn is complete.
    if (effect === 'edit') await deps.captures?.turnTaken();
    if (effect !== 'execute' || deps.captures === undefined) return settled();
    const call = {
      id,
      signal,
      running: deps.handles.processes(deps.log.id),
      // The editor runs tasks in its own terminal, where their processes are not announced.
      isObservable: tool.touches?.(args).task === undefined,
      isChanging: (path: string) => deps.edits.isChanging(path),
    };
    return deps.captures.around(call, (start) => {
      observing.start = start;
      return settled();
    });
  };
  try {
    // Only calls that run programs need a slot: a call that waits for another call must never block it.
    return effect === 'execute'
      ? ((await deps.slots.run(run, signal)) ?? refusal(CANCELLED, 'cancelled'))
      : await run();
  } catch (error) {
    // The log cannot be written, which ends the turn.
    if (error instanceof FailureError) throw error;
    const { name } = tool.description;
    deps.logger.error(`the tool ${name} failed unexpectedly`, error);
    return refusal(`${name} failed unexpectedly: ${describeError(error)}`, 'bug');
  }
}

/** Queues the warning before the response, so that the response with the suspicious output delivers it. */
async function warnOfLookalike(
  { log, ids, clock }: ToolRunDeps,
  { name, arguments: args }: EventOf<'tool_call_request'>,
  output: string,
): Promise<void> {
  const draft = lookalikeIn(output, name, args);
  if (draft?.subject === undefined || log.state.lookalikes.has(draft.subject)) return;
  await enqueue(log, ids, { ...draft, at: new Date(clock.now()).toISOString() });
}

function whyNoTool(registry: OfferedTools, name: string): string {
  if (registry.get(name) !== undefined) {
    return `${name} was not run: another tool has this name since the call. Call it again.`;
  }
  const problem =
    registry.known(name) === undefined ? `There is no tool ${name}.` : `${name} was not run: this tool was removed.`;
  return `${problem} The tools are: ${registry.names.join(', ')}.`;
}

function refusedByHook(name: string, reason: string): string {
  return `${name} was not run: a hook of the user refused it: ${reason}`;
}

function whyUnreadable(name: string, text: string): string {
  return parseObject(text) === undefined
    ? `The arguments of ${name} are not a JSON object. Call it again with valid JSON.`
    : `${name} was not run: its arguments are ${TOO_DEEP}. Call it again with flatter ones.`;
}

/** `content` is for the model, the code for people. */
function refusal(content: string, failure: FailureCode): ToolOutcome {
  return { content, isError: true, failure };
}

/** Keeps the beginning and the end, which usually matter most. */
function limitOutput(text: string): string {
  if (text.length <= OUTPUT_LIMIT) return text;
  const half = OUTPUT_LIMIT / 2;
  const left = text.length - OUTPUT_LIMIT;
  return `${wholeCharacters(text, half)}\n… ${left} characters left out …\n${text.slice(-half)}`;
}

interface SettlingDeps {
  readonly log: Pick<ConversationLog, 'id'>;
  readonly problems?: ReportedProblems | undefined;
}

/** Only edits wait: problems caused by commands are reported as notifications. */
async function withProblems(
  { problems, log }: SettlingDeps,
  effect: Effect,
  signal: AbortSignal,
  run: () => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  const watch = effect === 'edit' ? problems?.beginEdit(log.id) : undefined;
  try {
    const outcome = await run();
    const changed = (outcome.changes ?? []).map(({ file }) => file);
    const report = changed.length === 0 ? undefined : await watch?.settle(changed, signal);
    return report === undefined ? outcome : { ...outcome, content: `${outcome.content}\n\n${report}` };
  } finally {
    watch?.dispose();
  }
}

/** Of all events of one notification together. */
const MOST_CHARACTERS = 16_000;

/** Also for other notifications, whose message is whole. */
async function wholeMessage(snapshots: Pick<Snapshots, 'get'>, { kind, message, data }: Notification): Promise<string> {
  const read = kind.source === 'mcp' ? subscriptionDataSchema.safeParse(data) : undefined;
  const events = read?.success === true ? (read.data.events ?? []) : [];
  const [head = ''] = message.split('\n', 1);
  const lines = [head];
  let left = MOST_CHARACTERS;
  for (const { id, hash } of events) {
    const bytes = hash === undefined ? undefined : await snapshots.get(hash);
    const text = bytes === undefined ? '(not kept)' : (decodeText(bytes) ?? '');
    const shown = wholeCharacters(text, left);
    lines.push(markLines(`${id}: ${shown}${shown.length < text.length ? '… (cut here)' : ''}`));
    left -= shown.length;
    if (left <= 0) break;
  }
  const rest = events.length - (lines.length - 1);
  return events.length === 0
    ? message
    : [...lines, ...(rest > 0 ? [`and ${rest} more, too long to show.`] : [])].join('\n');
}
