// Ends the wait of a tool early: at once for a queued message, an error, a critical notification or a handle that
// waits; for warnings at most once a minute.
import { type Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';
import { type Notification, printKind } from '../../protocol/notification.ts';
import { type Settings } from '../../protocol/settings.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { isWanted, levelOf } from '../notify/wanted.ts';

const WARNINGS_EVERY = 60_000;

export interface WaitInterruptionsDeps {
  readonly log: ConversationLog;
  readonly clock: Clock;
  settings(): Settings;
}

/** When a warning last ended a wait, by conversation. */
const lastWarning = new WeakMap<ConversationLog, number>();

/**
 * Resolves with the reason, for the model, or with an empty text once the signal is aborted. Notifications that are
 * already pending count, too.
 */
export function awaitInterruption(deps: WaitInterruptionsDeps, signal: AbortSignal): Promise<string> {
  const { log, clock } = deps;
  const { promise, resolve } = Promise.withResolvers<string>();
  let later: Disposable | undefined;
  const check = () => {
    later?.dispose();
    const found = findInterruption(deps);
    if (found === undefined) return;
    if (found.due > clock.now()) {
      later = clock.after(found.due - clock.now(), check);
      return;
    }
    if (found.warning) lastWarning.set(log, clock.now());
    resolve(found.what);
  };
  const listening = log.onDidAppend(({ event }) => {
    if (event.type === 'user_text_queued' || event.type === 'notification_queued') check();
  });
  const end = () => resolve('');
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  else check();
  return promise.finally(() => {
    signal.removeEventListener('abort', end);
    listening.dispose();
    later?.dispose();
  });
}

interface WaitInterruption {
  readonly what: string;
  readonly warning: boolean;
  /** The earliest time at which it may end a wait. */
  readonly due: number;
}

function findInterruption({ log, settings }: WaitInterruptionsDeps): WaitInterruption | undefined {
  const { pending } = log.state;
  if (pending.queuedMessages.length > 0) return { what: 'the user wrote', warning: false, due: 0 };
  const wanted = pending.notifications.filter((notification) => isWanted(notification, settings()));
  const urgent = wanted.find((notification) => isUrgent(notification, settings()));
  if (urgent !== undefined) return { what: printKind(urgent.kind), warning: false, due: 0 };
  const warning = wanted.find((notification) => levelOf(notification, settings()) === 'warning');
  if (warning === undefined) return undefined;
  return {
    what: printKind(warning.kind),
    warning: true,
    due: (lastWarning.get(log) ?? -WARNINGS_EVERY) + WARNINGS_EVERY,
  };
}

function isUrgent(notification: Notification, settings: Settings): boolean {
  const level = levelOf(notification, settings);
  return level === 'error' || level === 'critical' || printKind(notification.kind) === 'tool.waiting';
}
