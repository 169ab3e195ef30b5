// Ends the wait of a tool early: at once for user text, an error, a critical notification or a handle that waits; for warnings now and then.
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

/** Resolves with what it was, for the model; with nothing once the signal is aborted. What is pending already counts. */
export function awaitNews(deps: WaitInterruptionsDeps, signal: AbortSignal): Promise<string> {
  const { log, clock } = deps;
  const { promise, resolve } = Promise.withResolvers<string>();
  let later: Disposable | undefined;
  const look = () => {
    later?.dispose();
    const news = newsIn(deps);
    if (news === undefined) return;
    if (news.due > clock.now()) {
      later = clock.after(news.due - clock.now(), look);
      return;
    }
    if (news.warning) lastWarning.set(log, clock.now());
    resolve(news.what);
  };
  const listening = log.onDidAppend(({ event }) => {
    if (event.type === 'user_text_queued' || event.type === 'notification_queued') look();
  });
  const end = () => resolve('');
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  else look();
  return promise.finally(() => {
    signal.removeEventListener('abort', end);
    listening.dispose();
    later?.dispose();
  });
}

interface WaitInterruptions {
  readonly what: string;
  readonly warning: boolean;
  /** When it may end a wait. */
  readonly due: number;
}

function newsIn({ log, settings }: WaitInterruptionsDeps): WaitInterruptions | undefined {
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
