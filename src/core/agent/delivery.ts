// Collects what a carrier delivers, and appends carriers: both in the same step, so that nothing is queued in between. Begins
// turns with the carriers of requests.
import { type Attachment, type EventDraft, type EventOf } from '../../protocol/event.ts';
import { type Settings } from '../../protocol/settings.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { withAttachments } from '../conversation/attachments.ts';
import { maskKey } from '../conversation/key.ts';
import { estimateTokens } from '../conversation/tokens.ts';
import { fileStatesOf } from '../files/fileState.ts';
import { SHOWN_IN_PART } from '../files/seenPart.ts';
import { type FormatInput, type FormatName } from '../notify/format/blockText.ts';
import { formatDeveloper, LONGEST_QUOTATION } from '../notify/format/developer.ts';
import { formatMarkdown } from '../notify/format/markdown.ts';
import { formatXml } from '../notify/format/xml.ts';
import { type Outline } from '../notify/outline.ts';
import { type Plan, planNotifications } from '../notify/plan.ts';
import { joinWithGit } from '../notify/withGit.ts';
import { type Clock, type Model, type QueuedMessage } from '../ports/ports.ts';
import { type RequestConfig } from '../ports/producers.ts';
import { type Snapshots } from '../ports/storage.ts';
import { configUsed, Prompting } from '../prompt/prompting.ts';
import { type TurnDeps } from './turnDeps.ts';
import { defined } from '../../base/json/defined.ts';
import { SYSTEM_REQUEST } from '../conversation/projections/messages.ts';
import { sampleAt } from './sampling.ts';
import { type Interruption } from './turnControl.ts';
import { type AcceptedText } from './userText.ts';

interface DeliveryPorts {
  settings(): Settings;
  model(): Pick<Model, 'contextWindow' | 'takesHostMessages'>;
  readonly snapshots: Pick<Snapshots, 'hash'>;
  readonly clock: Pick<Clock, 'now'>;
}

const encoder = new TextEncoder();

type Moved = NonNullable<EventOf<'chat_request'>['seen']>;

/**
 * The fields of a carrier that is appended now: everything pending, planned and formatted; none if nothing is pending.
 * `textsAsContent`: the queued messages are the carrier's own content, so they are not delivered again.
 */
export function collect(
  log: ConversationLog,
  ports: DeliveryPorts,
  textsAsContent = false,
): Pick<EventOf<'chat_request'>, 'notifications' | 'seen'> {
  const { pending, turn } = log.state;
  if (pending.isEmpty) return {};
  const settings = ports.settings();
  const now = ports.clock.now();
  const model = ports.model();
  const format = chooseFormat(settings, model);
  const { notifications, queuedMessages: texts } = pending;
  const print = (outline: Outline) => formatBlock(format, { plan: outline, key: turn.key, now });
  const plan = planNotifications({
    pending: notifications,
    settings,
    contextWindow: model.contextWindow,
    ...(format === 'developer' && { longestMessage: LONGEST_QUOTATION }),
    measure: (candidate) => estimateTokens(print(candidate)),
  });
  const { shown, merged, counted, filtered } = plan;
  const seen = [...movedBy(log, plan), ...texts.flatMap((text) => seenIn(text.attachments ?? [], ports.snapshots))];
  return {
    notifications: {
      format,
      text: print(plan),
      user: textsAsContent ? [] : texts.map((text) => printQueued(text, turn.key)),
      through: pending.through,
      user_text: texts.map((text) => text.id),
      shown: [...shown],
      merged: [...merged],
      counted: [...counted],
      filtered: [...filtered],
    },
    ...(seen.length > 0 && { seen }),
  };
}

/** Files attached with their whole text count as seen; their snapshots were taken when the message was accepted. */
function seenIn(attachments: readonly Attachment[], snapshots: DeliveryPorts['snapshots']): Moved {
  return attachments.flatMap((one) =>
    one.type === 'file_content' ? [{ path: one.path, hash: snapshots.hash(encoder.encode(one.content)) }] : [],
  );
}

/** The plan of what would be delivered now, for the counter in the status bar. */
export function countDeliverable(
  log: Pick<ConversationLog, 'state'>,
  options: { readonly settings: Settings; readonly contextWindow: number },
): Plan {
  return planNotifications({
    pending: log.state.pending.notifications,
    settings: options.settings,
    contextWindow: options.contextWindow,
    measure: () => 0,
  });
}

/** The user's message as the model reads it: after the results or the request, never inside a block. */
function printQueued({ content, attachments }: QueuedMessage, key: string): string {
  return maskKey(withAttachments(content, attachments), key);
}

function chooseFormat(settings: Settings, { takesHostMessages }: Pick<Model, 'takesHostMessages'>): FormatName {
  const wanted = settings['notifications.format'];
  if (wanted !== 'auto') return wanted;
  return takesHostMessages === true ? 'developer' : 'xml';
}

/** `synthetic-tool` sends the XML block as the result of a call that `models/chat/chatMessages.ts` inserts. */
export function formatBlock(format: FormatName, { plan, ...rest }: FormatInput): string {
  const input = { plan: joinWithGit(plan), ...rest };
  if (format === 'developer') return formatDeveloper(input);
  return format === 'markdown' ? formatMarkdown(input) : formatXml(input);
}

/** A complete diff that is shown unchanged updates *seen*; a summary or a cut diff does not. */
function movedBy(log: ConversationLog, plan: Plan): Moved {
  return plan.entries.flatMap((entry) => {
    const notification = log.state.pending.get(entry.id);
    if (notification?.message !== entry.message) return [];
    return fileStatesOf(notification).flatMap(({ path, hash, complete }) => {
      if (!complete) return [];
      // A diff does not show the lines that the model has never seen or no longer has.
      const before = log.state.seen.get(path);
      // Lines that a search showed are compared with what it showed.
      if (before?.part?.searched === true) return [];
      const partial = before?.part !== undefined || before?.compacted === true;
      return { path, hash, ...(partial && { part: SHOWN_IN_PART }) };
    });
  });
}

type Carrier = Extract<EventDraft, { type: 'chat_request' | 'tool_call_response' }>;

/**
 * The configuration is known to the model once a carrier has announced it, whether or not a request follows. Both are
 * appended in one step, so that nothing is announced twice or lost.
 */
export function appendCarrier({ log, prompt }: Pick<TurnDeps, 'log' | 'prompt'>, carrier: Carrier): Promise<void> {
  const compared = prompt?.take();
  if (compared === undefined) return log.append(carrier).then(() => undefined);
  const { config, additions } = compared;
  const { instructions, found } = additions;
  const draft: EventDraft = { ...carrier, ...defined({ instructions }) };
  // APIs can add tools behind a result that succeeded, and nowhere else without a new prefix.
  if (draft.type === 'tool_call_response' && !draft.is_error && found !== undefined)
    draft.found = [...new Map([...(draft.found ?? []), ...found].map((one) => [one.name, one])).values()];
  const used = isKnown(log.state.sampled.used, config) ? [] : [{ draft: configUsed(config) }];
  return log.appendTogether([...used, { draft }]).onDisk;
}

function isKnown(known: Partial<RequestConfig>, config: RequestConfig): boolean {
  const { model, mode, tools, servers, instructions, skills, folders, date } = known;
  if (!model || !mode || !tools || !servers || !instructions || !skills || !folders || !date) return false;
  const { parent } = known;
  const before = { model, mode, tools, servers, instructions, skills, folders, date, ...defined({ parent }) };
  return JSON.stringify(configUsed(before)) === JSON.stringify(configUsed(config));
}

interface TurnRequest extends AcceptedText {
  /** JSON Schema of the wanted answer. */
  readonly schema?: Readonly<Record<string, unknown>>;
}

/** The reason for an interruption may have been withdrawn before its delivery. */
const NO_LONGER_TRUE = `${SYSTEM_REQUEST} What it was about is no longer true: go on.`;

/** Begins a turn with the user's message. Resolves once it is on disk. */
export async function beginUserTurn(deps: TurnDeps, request: TurnRequest): Promise<void> {
  const { log, ports } = deps;
  const { content, attachments = [] } = request;
  await sampleAt(deps, new Prompting(deps), 'request');
  const started = log.append({ type: 'turn_started', source: 'user' });
  const { notifications, seen = [] } = collect(deps.log, deps.ports);
  const shown = [...seen, ...seenIn(attachments, ports.snapshots)];
  const requested = appendCarrier(deps, {
    type: 'chat_request',
    content,
    ...defined({ typed: request.typed }),
    source: 'user',
    ...(attachments.length > 0 && { attachments: [...attachments] }),
    ...(request.schema !== undefined && { schema: { ...request.schema } }),
    ...defined({ notifications }),
    ...(shown.length > 0 && { seen: shown }),
  });
  await Promise.all([started, requested]);
}

/** Begins a turn with the messages that the user queued during the previous one. */
export async function beginQueuedTurn(deps: TurnDeps): Promise<void> {
  await sampleAt(deps, new Prompting(deps), 'request');
  const started = deps.log.append({ type: 'turn_started', source: 'user' });
  await Promise.all([started, appendQueued(deps)]);
}

/**
 * Begins a turn with the pending notifications. `source`: `user` if the user chose *Deliver Now*, otherwise `system`.
 */
export async function beginSystemTurn(deps: TurnDeps, source: 'system' | 'user'): Promise<void> {
  // `result`, not `request`: counts are delivered only together with something else.
  await sampleAt(deps, new Prompting(deps), 'result');
  const started = deps.log.append({ type: 'turn_started', source });
  const content = deps.log.state.pending.isEmpty ? NO_LONGER_TRUE : SYSTEM_REQUEST;
  await Promise.all([started, appendAutomated(deps, content, source === 'user')]);
}

/**
 * Appends the request for which a running turn is interrupted; queued messages come before notifications. Resolves to
 * false if nothing is left to append although an answer was interrupted for it.
 */
export async function appendInterruption(
  deps: TurnDeps,
  { by, broke }: { readonly by: Interruption; readonly broke: boolean },
): Promise<boolean> {
  const { pending } = deps.log.state;
  await sampleAt(deps, new Prompting(deps), pending.queuedMessages.length > 0 ? 'request' : 'result');
  if (pending.queuedMessages.length > 0) await appendQueued(deps);
  else if (by === 'user') return !broke;
  else if (!pending.isEmpty) await appendAutomated(deps, SYSTEM_REQUEST, by === 'delivery');
  else if (broke) await appendAutomated(deps, NO_LONGER_TRUE);
  return true;
}

async function appendQueued(deps: TurnDeps): Promise<void> {
  const { queuedMessages: texts } = deps.log.state.pending;
  const attachments = texts.flatMap((text) => text.attachments ?? []);
  await appendCarrier(deps, {
    type: 'chat_request',
    content: joined(texts.map(({ content }) => content)),
    ...(texts.some(({ typed }) => typed !== undefined) && {
      typed: joined(texts.map(({ content, typed = content }) => typed)),
    }),
    source: 'user',
    ...(attachments.length > 0 && { attachments }),
    ...collect(deps.log, deps.ports, true),
  });
}

async function appendAutomated(deps: TurnDeps, content: string, isForced = false): Promise<void> {
  await appendCarrier(deps, {
    type: 'chat_request',
    content,
    source: 'system',
    ...(isForced && { forced: true }),
    ...collect(deps.log, deps.ports),
  });
}

function joined(texts: readonly string[]): string {
  return texts.join('\n\n');
}
