// Determines whether pending notifications wake an idle model or interrupt an answering one, and limits both. Pure.
import { backOff } from '../../base/async.ts';
import { defined } from '../../base/json/defined.ts';
import { KINDS, type KindDescription } from '../../protocol/kinds.ts';
import { type Notification, printKind } from '../../protocol/notification.ts';
import { nameInScope } from '../../protocol/scopes.ts';
import { type Settings } from '../../protocol/settings.ts';
import { type HeldReason } from '../../protocol/webview.ts';
import { isWanted, levelOf } from './wanted.ts';

export const MOST_IN_A_ROW = 5;
export const ABORT_EVERY = 30_000;
/** The delay between two wake-ups by the same kind; doubled after each. */
export const FIRST_BACK_OFF = 5000;
const LONGEST_BACK_OFF = 600_000;

type Wish = 'passive' | 'wake' | 'interrupt';

/** Kinds of the conversation's own handles, which are published only to their owner. */
const WAKING: ReadonlySet<string> = new Set(
  Object.entries<KindDescription>(KINDS).flatMap(([kind, { wakes }]) => (wakes === 'always' ? [kind] : [])),
);

/** The standing wakes of a conversation: its projection `wakes`. */
export interface Grants {
  /** The notification is within the number and the time of its grant. */
  isGranted(notification: Notification): boolean;
  /** A condition waits for what the notification says, and wakes the model instead. */
  covers(notification: Notification): boolean;
}

/** What one notification would do if no limit held it back. */
export function wishOf(notification: Notification, settings: Settings, grants: Grants): Wish {
  const allowed = settings['notifications.activation'];
  if (allowed === 'passive' || !isWanted(notification, settings)) return 'passive';
  // The user did it on purpose and is present: it goes with the user's next message.
  if (notification.data?.['deliberate'] === true) return 'passive';
  if (levelOf(notification, settings) === 'critical') return allowed;
  const { wake, grant, kind } = notification;
  if (grant !== undefined) return wake === true && grants.isGranted(notification) ? 'wake' : 'passive';
  const ofOwnHandle = WAKING.has(printKind(kind)) && !grants.covers(notification);
  const wakes = wake === true || ofOwnHandle || isMention(notification);
  return wakes ? 'wake' : 'passive';
}

export function isMention({ kind, scopes = [] }: Notification): boolean {
  return kind.source === 'message' && scopes.some((scope) => nameInScope('mention', scope) !== undefined);
}

export interface WakeHistory {
  readonly times: number;
  /** When this kind last woke the model. */
  readonly at: number;
}

export interface ActivationInput {
  readonly pending: readonly Notification[];
  readonly settings: Settings;
  readonly now: number;
  /** `busy`: tools are running or a question is open; the result will carry the pending notifications. */
  readonly doing: 'nothing' | 'answering' | 'busy';
  /** The user has written in this conversation in this window. */
  readonly userHasWritten: boolean;
  readonly outcome: 'done' | 'stopped' | 'error' | undefined;
  /** System turns since the user's last message. */
  readonly inARow: number;
  readonly lastAbort: number | undefined;
  /** By kind, since the user's last message. */
  readonly woken: ReadonlyMap<string, WakeHistory>;
  /** The model may be called without an act of the user. */
  readonly mayAsk: boolean;
  readonly grants: Grants;
}

export type Activation =
  | { readonly type: 'wait' }
  /** `kinds`: the kinds that cause it, except those that a grant of the user allows: they have limits of their own. */
  | { readonly type: 'wake' | 'interrupt'; readonly kinds: ReadonlySet<string>; readonly granted?: true }
  /** `until`: when to decide again; absent: only the user can change it. */
  | { readonly type: 'held'; readonly reason: HeldReason; readonly until?: number };

export function decideActivation(input: ActivationInput): Activation {
  if (input.doing === 'busy') return { type: 'wait' };
  const streaming = input.doing === 'answering';
  const kinds = new Set<string>();
  let granted = false;
  for (const notification of input.pending) {
    const wish = wishOf(notification, input.settings, input.grants);
    if (wish === 'passive' || (wish === 'wake' && streaming)) continue;
    if (wish === 'wake' && notification.grant !== undefined) granted = true;
    else kinds.add(printKind(notification.kind));
  }
  if (granted) return holdingAll(input) ?? { type: 'wake', kinds, granted };
  if (kinds.size === 0) return { type: 'wait' };
  return holding(input, kinds, streaming) ?? { type: streaming ? 'interrupt' : 'wake', kinds };
}

/** What holds also what the user granted. */
function holdingAll({ outcome, mayAsk }: ActivationInput): Activation | undefined {
  if (outcome === 'stopped') return { type: 'held', reason: 'stopped' };
  return mayAsk ? undefined : { type: 'held', reason: 'model' };
}

function holding(input: ActivationInput, kinds: ReadonlySet<string>, streaming: boolean): Activation | undefined {
  const { now, outcome, lastAbort } = input;
  const held = (reason: HeldReason, until?: number): Activation => ({
    type: 'held',
    reason,
    ...defined({ until }),
  });
  if (!input.userHasWritten) return held('not_written');
  // During the user's own turn the outcome of the previous turn does not matter.
  if (!streaming && (outcome === 'stopped' || outcome === 'error')) return held(outcome);
  if (!input.mayAsk) return held('model');
  if (input.inARow >= MOST_IN_A_ROW) return held('in_a_row');
  if (streaming && lastAbort !== undefined && now < lastAbort + ABORT_EVERY) {
    return held('aborted_lately', lastAbort + ABORT_EVERY);
  }
  const free = Math.min(...[...kinds].map((kind) => freeAgain(input.woken.get(kind))));
  return now < free ? held('woken_lately', free) : undefined;
}

/** When a kind that woke the model may do so again. */
function freeAgain(woken: WakeHistory | undefined): number {
  if (woken === undefined) return 0;
  return woken.at + backOff(woken.times, FIRST_BACK_OFF, LONGEST_BACK_OFF);
}
