// Helpers for walks with background commands: calls, events of the log, delivered blocks.
import { type LogEvent } from '../../../src/protocol/event.ts';
import { type ScriptedAnswer } from '../models/scriptedServer.ts';
import { beginWalk, type Walked, type WalkOptions } from './walking.ts';

export const done: ScriptedAnswer = { text: ['Done.'] };
let calls = 0;

/** The id of the last call made with `call`. */
export const lastCall = () => `call${calls - 1}`;

export function call(name: string, args: unknown) {
  return { id: `call${calls++}`, name, arguments: args };
}

export const background = (handle: string, command: string) =>
  call('run_command', { command, background: true, handle });
export const handle = (action: string, name: string, more: object = {}) => call('handle', { action, name, ...more });

export async function begin(answers: readonly ScriptedAnswer[], options: WalkOptions = {}): Promise<Walked> {
  // The end of a handle stays pending, unless a test sets another activation.
  const settings = { 'approvals.mode': 'all', 'notifications.activation': 'passive', ...options.settings };
  return beginWalk(answers, { watching: true, ...options, settings });
}

export async function eventsOf<T extends LogEvent['type']>({ headless, id }: Walked, type: T) {
  const lines = (await headless.events(id)).trimEnd().split('\n');
  const events = lines.map((line) => JSON.parse(line) as LogEvent);
  return events.filter((event): event is Extract<LogEvent, { type: T }> => event.type === type);
}

/** Resolves with the next event for which the condition holds. */
export function nextEvent({ log }: Walked, holds: (event: LogEvent) => boolean): Promise<LogEvent> {
  return new Promise((resolve) => {
    const listening = log.onDidAppend(({ event }) => {
      if (!holds(event)) return;
      listening.dispose();
      resolve(event);
    });
  });
}

export const queued = (name: string) => (event: LogEvent) =>
  event.type === 'notification_queued' && event.notification.kind.name === name;

export async function responses(walk: Walked): Promise<string[]> {
  return (await eventsOf(walk, 'tool_call_response')).map(({ content }) => content);
}

/** The texts of all notification blocks and queued messages that the conversation delivered. */
export async function deliveredBlocks(walk: Walked): Promise<string> {
  const carriers = [...(await eventsOf(walk, 'tool_call_response')), ...(await eventsOf(walk, 'chat_request'))];
  return carriers
    .flatMap(({ notifications }) => [
      ...(notifications?.text ? [notifications.text] : []),
      ...(notifications?.user ?? []),
    ])
    .join('\n');
}
