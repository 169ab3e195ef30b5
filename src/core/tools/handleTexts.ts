// Describes a handle's state to the model, in results and notifications.
import { type CommandEnd, type Survivor } from '../../base/commandEnd.ts';
import { defined } from '../../base/json/defined.ts';
import { wholeCharacters } from '../../base/text.ts';
import { type ShownHandle } from '../../protocol/event.ts';
import { KINDS, type ShippedKind } from '../../protocol/kinds.ts';
import { type NotificationDraft } from '../../protocol/notification.ts';
import { handleScope } from '../../protocol/scopes.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { type Handle } from '../ports/handles.ts';
import { quoteAnswer } from './messageTexts.ts';

export const BY_USER = 'by the user';
export const TURN_ENDED = 'its turn ended';
export const PARENT_STOPPED = 'the agent that started it was stopped';
export const LIMIT_REACHED = 'the limit of tokens or cost was reached, so that the user is asked first';
const DELIBERATE: ReadonlySet<string> = new Set([BY_USER, TURN_ENDED, PARENT_STOPPED, LIMIT_REACHED]);

/**
 * The limit of a whole message including the last lines of output; a block with only this message has at most 900
 * characters.
 */
const MESSAGE = 780;
const COMMAND = 120;
/** The limit for a subagent, which is higher because its last answer is its result. */
const SUBAGENT_MESSAGE = 1800;

export function handleSubject(name: string): string {
  return handleScope(name);
}

/** `ended with exit code 1 after 12 s`, `running for 3 min`, … */
export function describeHandleState(handle: Handle): string {
  const { end, lost, unknown, waitsFor } = handle.process.status;
  const isAgent = handle.process.agent !== undefined;
  const time = describeDuration(Math.floor(handle.milliseconds / 1000) * 1000);
  if (lost === true) {
    return isAgent
      ? 'cannot be followed any more: its conversation is gone'
      : 'cannot be followed any more: the process that supervised it is gone';
  }
  if (end !== undefined) return isAgent ? describeSubagentEnd(end) : describeCommandEnd(end);
  if (waitsFor !== undefined) return `running for ${time}; it waits for ${waitsFor}`;
  if (unknown !== undefined) return `was started ${time} ago; its present state is unknown: ${unknown}`;
  if (handle.prompt === undefined) return `running for ${time}`;
  return `running for ${time}; it seems to wait for input at: ${handle.prompt.line}`;
}

export function describeCommandEnd(end: CommandEnd): string {
  const time = describeDuration(end.milliseconds);
  const left = end.left === true ? 'what it had left running in the background was ended with it' : undefined;
  const parts = [whyEnded(end, time), left, describeSurvivors(end)];
  return parts.filter((part) => part !== undefined).join('; ');
}

function describeSubagentEnd(end: CommandEnd): string {
  const time = describeDuration(end.milliseconds);
  if (end.cause !== 'exited') return whyEnded(end, time);
  if (end.code === 0) return `ended after ${time}`;
  return `failed after ${time}: ${end.reason ?? 'unknown reason'}`.replace(/\.$/, '');
}

/** The last output of a handle, or the last answer of a subagent; empty: there is none. */
export async function describeLastOutput(handle: Handle, characters: number, ofAnswer = characters): Promise<string> {
  const { agent, answer = '' } = handle.process;
  if (agent !== undefined) return answer === '' ? '' : `\n${quoteAnswer(answer, ofAnswer)}`;
  const lines = await handle.lastLines(Math.max(0, characters - LAST_LINES.length));
  return lines === '' ? '' : `${LAST_LINES}${lines}`;
}

/** Undefined if no surviving process is known. */
export function describeSurvivors({ survivors = [] }: CommandEnd): string | undefined {
  if (survivors.length === 0) return undefined;
  return `what it started in a session of its own runs on: ${survivors.map(printProcess).join(', ')}`;
}

/** A process may have any name, so unusual characters are replaced. */
function printProcess({ pid, name }: Survivor): string {
  return `${name.replace(/[^\w.+-]/g, '?').slice(0, 40)} (pid ${pid})`;
}

function whyEnded({ cause, code, signal, reason }: CommandEnd, time: string): string {
  switch (cause) {
    case 'exited':
      return code === null
        ? `was ended by ${signal ?? 'a signal'} after ${time}`
        : `ended with exit code ${code} after ${time}`;
    case 'stopped':
      return reason === undefined ? `was stopped after ${time}` : `was stopped (${reason}) after ${time}`;
    case 'unowned':
      return `was stopped because no window had it any more after ${time}`;
    case 'not_started':
      return `could not be started (${reason ?? 'unknown reason'}) after ${time}`;
  }
}

export function isSuccess({ end }: Handle['process']['status']): boolean {
  return end?.cause === 'exited' && end.code === 0;
}

/** The notification of its present state; undefined while it is running. */
export async function draftHandleNotification(
  handle: Handle,
  name: string,
  at: string,
  note = '',
): Promise<NotificationDraft | undefined> {
  if (handle.state === 'running') return undefined;
  const { status } = handle.process;
  const kind =
    handle.state === 'waiting' ? 'waiting' : status.lost === true ? 'lost' : isSuccess(status) ? 'stopped' : 'failed';
  const { level, origin } = KINDS[`tool.${kind}` satisfies ShippedKind];
  const { prompt } = handle;
  const subject = handleSubject(name);
  return {
    kind: { source: 'tool', name: kind },
    level,
    origin,
    message: await describeHandleChange(handle, name, note),
    subject,
    scopes: [subject],
    data: {
      ...defined({ tool: handle.tool }),
      run: handle.run,
      ...(prompt !== undefined && { prompt: prompt.at }),
      ...(isDeliberate(status.end) && { deliberate: true }),
      ...(status.end !== undefined && { exit_code: status.end.code, milliseconds: status.end.milliseconds }),
    },
    at: status.end?.at ?? at,
  };
}

/** Whether it was stopped by a person or a setting, and did not end on its own. */
function isDeliberate(end: CommandEnd | undefined): boolean {
  return end?.cause === 'stopped' && end.reason !== undefined && DELIBERATE.has(end.reason);
}

/** For handles that kept running while the conversation was closed. */
export function describeStillRunning(handles: readonly (Handle & { readonly name: string })[]): string {
  const lines = handles.map((handle) => {
    const command = shorten(handle.process.command.replace(/\s+/g, ' ').trim(), COMMAND);
    return `- “${handle.name}” (${command}): ${describeHandleState(handle)}`;
  });
  const agents = handles.some(({ process }) => process.agent !== undefined) ? ' and subagents' : '';
  return [`The editor was restarted. These background commands${agents} still run:`, ...lines].join('\n');
}

async function describeHandleChange(handle: Handle, name: string, note: string): Promise<string> {
  const command = shorten(handle.process.command.replace(/\s+/g, ' ').trim(), COMMAND);
  const isAgent = handle.process.agent !== undefined;
  const who = `The ${isAgent ? 'subagent' : 'background command'} “${name}” (${command})`;
  if (handle.prompt !== undefined) {
    const rest = `: it has printed nothing for some seconds after\n${handle.prompt.line}\nApply input to the handle to answer it.`;
    return shorten(`${who} seems to wait for input${rest}`, MESSAGE);
  }
  const head =
    handle.process.status.lost === true && !isAgent
      ? `${who} ${describeHandleState(handle)}. What was left of it was ended; how far it came is not known. Fetch the handle for its output.`
      : `${who} ${describeHandleState(handle)}.${note === '' ? '' : ` ${note}`}`;
  const most = isAgent ? SUBAGENT_MESSAGE : MESSAGE;
  return shorten(`${head}${await describeLastOutput(handle, most - head.length)}`, most);
}

const LAST_LINES = '\nLast lines:\n';

/** Withdraws pending notifications about a handle, by the names of their kinds. */
export async function withdrawStates(
  log: ConversationLog,
  handle: string,
  kinds: readonly string[],
  reason: string,
): Promise<void> {
  const ids = kinds.flatMap((kind) => log.state.pending.idsOf({ source: 'tool', name: kind }, handleSubject(handle)));
  if (ids.length > 0) await log.append({ type: 'notification_withdrawn', ids, reason });
}

/**
 * Withdraws notifications of states that a result shows. Call it in the same step as the result's append, so that
 * nothing is queued in between.
 */
export async function withdrawShown(log: ConversationLog, shown: readonly ShownHandle[]): Promise<void> {
  const ids = shown.flatMap(({ name, state: now }) =>
    OUTDATED[now].flatMap((kind) => log.state.pending.idsOf({ source: 'tool', name: kind }, handleSubject(name))),
  );
  if (ids.length > 0) await log.append({ type: 'notification_withdrawn', ids, reason: 'a call has returned it' });
}

/**
 * The kinds that each shown state makes obsolete. The end of a handle that was shown running must still be reported.
 */
const OUTDATED: Readonly<Record<ShownHandle['state'], readonly string[]>> = {
  running: ['waiting'],
  waiting: ['waiting'],
  stopped: ['waiting', 'stopped', 'failed', 'lost'],
};

function describeDuration(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 10 && !Number.isInteger(seconds)) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function shorten(text: string, length: number): string {
  return text.length <= length ? text : `${wholeCharacters(text, length - 1)}…`;
}
