// Decides whether what is pending may do more than wait: wake an idle model, interrupt an answering one, and the limits of both. Pure.
import { type Notification, printKind } from '../../protocol/notification.ts';
import { nameInScope } from '../../protocol/scopes.ts';
import { type Settings } from '../../protocol/settings.ts';
import { type HeldReason } from '../../protocol/webview.ts';
import { isWanted, levelOf } from './wanted.ts';

export const MOST_IN_A_ROW = 5;
export const ABORT_EVERY = 30_000;
/** After the first time a kind woke the model; doubled after each further one. */
export const FIRST_BACK_OFF = 5000;
const LONGEST_BACK_OFF = 600_000;

type Wish = 'passive' | 'wake' | 'interrupt';

/** Of the conversation's own handles: they are published to their owner alone. */
const WAKING: ReadonlySet<string> = new Set(['tool.stopped', 'tool.failed', 'tool.waiting']);

/** What one notification would do if nothing spoke against it. */
export function wishOf(notification: Notification, settings: Settings): Wish {
  const allowed = settings['notifications.activation'];
  if (allowed === 'passive' || !isWanted(notification, settings)) return 'passive';
  // Somebody did it on purpose and is there: the model hears of it with the next word.
  if (notification.data?.['deliberate'] === true) return 'passive';
  if (levelOf(notification, settings) === 'critical') return allowed;
  const wakes = WAKING.has(printKind(notification.kind)) || isMention(notification);
  return wakes ? 'wake' : 'passive';
}

function isMention({ kind, scopes = [] }: Notification): boolean {
  return kind.source === 'message' && scopes.some((scope) => nameInScope('mention', scope) !== undefined);
}

export interface WakeHistory {
  readonly times: number;
  /** When it did so last. */
  readonly at: number;
}

export interface ActivationInput {
  readonly pending: readonly Notification[];
  readonly settings: Settings;
  readonly now: number;
  /** `busy`: tools run or somebody is asked, and what is pending rides the result. */
  readonly doing: 'nothing' | 'answering' | 'busy';
  /** To this conversation, in this window. */
  readonly userHasWritten: boolean;
  readonly outcome: 'done' | 'stopped' | 'error' | undefined;
  /** Automated requests since the user's last word. */
  readonly inARow: number;
  readonly lastAbort: number | undefined;
  /** By kind, since the user's last word. */
  readonly woken: ReadonlyMap<string, WakeHistory>;
  /** The model may be asked without the user's doing. */
  readonly mayAsk: boolean;
}

export type Activation =
  | { readonly type: 'wait' }
  /** `kinds`: what it is for. */
  | { readonly type: 'wake' | 'interrupt'; readonly kinds: ReadonlySet<string> }
  /** `until`: when to look again; absent: only the user can change it. */
  | { readonly type: 'held'; readonly reason: HeldReason; readonly until?: number };

export function decideActivation(input: ActivationInput): Activation {
  if (input.doing === 'busy') return { type: 'wait' };
  const streaming = input.doing === 'answering';
  const kinds = new Set<string>();
  for (const notification of input.pending) {
    const wish = wishOf(notification, input.settings);
    if (wish === 'interrupt' || (wish === 'wake' && !streaming)) kinds.add(printKind(notification.kind));
  }
  if (kinds.size === 0) return { type: 'wait' };
  return holding(input, kinds, streaming) ?? { type: streaming ? 'interrupt' : 'wake', kinds };
}

function holding(input: ActivationInput, kinds: ReadonlySet<string>, streaming: boolean): Activation | undefined {
  const { now, outcome, lastAbort } = input;
  const held = (reason: HeldReason, until?: number): Activation => ({
    type: 'held',
    reason,
    ...(until !== undefined && { until }),
  });
  if (!input.userHasWritten) return held('not_written');
  // While the user's own turn runs, how the one before it ended does not matter any more.
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
  return woken.at + Math.min(LONGEST_BACK_OFF, FIRST_BACK_OFF * 2 ** (woken.times - 1));
}
