// Helpers for walks with timers and conditions: calls of wake_when, its events, and turns that it starts.
import { type LogEvent } from '../../../src/protocol/event.ts';
import { type Notification } from '../../../src/protocol/notification.ts';
import { type ScriptedAnswer } from '../models/scriptedServer.ts';
import { begin, call, eventsOf } from './handleWalks.ts';
import { type Walked, type WalkOptions } from './walking.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

export const wakeWhen = (name: string, more: object) => call('wake_when', { name, ...more });

/** Every call is approved, and notifications may wake the model. */
export function beginWake(answers: readonly ScriptedAnswer[], options: WalkOptions = {}): Promise<Walked> {
  return begin(answers, { ...options, settings: { 'notifications.activation': 'wake', ...options.settings } });
}

/** Resolves with the next notification that a timer or a condition causes. */
export function nextFire({ log }: Pick<Walked, 'log'>): Promise<Notification> {
  return new Promise((resolve) => {
    const listening = log.onDidAppend(({ event }) => {
      if (event.type !== 'notification_queued' || event.notification.grant === undefined) return;
      listening.dispose();
      resolve(event.notification);
    });
  });
}

/** The notifications that timers and conditions have caused so far. */
export async function fires(walk: Pick<Walked, 'headless' | 'id'>): Promise<readonly Notification[]> {
  const queued = await eventsOf(walk as Walked, 'notification_queued');
  return queued.map(({ notification }) => notification).filter(({ grant }) => grant !== undefined);
}

/** Resolves once the model was asked this many times and the turn is over. */
export async function untilAsked({ server, headless, id, log }: Walked, times: number): Promise<void> {
  while (server.requests.length < times) await nextOf(log, 'model_call');
  await headless.earshot.settled(id);
}

function nextOf(log: Walked['log'], type: LogEvent['type']): Promise<void> {
  return new Promise((resolve) => {
    const listening = log.onDidAppend(({ event }) => {
      if (event.type !== type) return;
      listening.dispose();
      resolve();
    });
  });
}
