// The user's commands at moments of a turn. Implemented in hooks/.
import { type ConversationChoice } from '../../protocol/page/controlsView.ts';
import { type HookEvent } from '../../protocol/outside/hooks.ts';

export interface HookMoment {
  readonly event: HookEvent;
  readonly conversation: string;
  /** The mode that was chosen for the conversation; absent: as the settings say. */
  readonly mode?: ConversationChoice['mode'];
  /** The tool's name, for events about a tool. */
  readonly tool?: string;
  /** Where the call works, in a workspace with several folders; absent: in the first one. */
  readonly folder?: string;
  /** More input for the hook, under Claude Code's names. */
  readonly input: Readonly<Record<string, unknown>>;
}

/** The combined result of all hooks of a moment. Hooks can refuse and add text; they cannot approve. */
export interface HookVerdict {
  /** Why it must not happen; for `turn_end`: why the model must continue. */
  readonly refused?: string;
  /** Why the user must be asked, even if the settings would allow the call. */
  readonly ask?: string;
  /** Texts for the model, by the hook's command. */
  readonly added: readonly { readonly hook: string; readonly text: string }[];
}

export interface Hooks {
  has(event: HookEvent, tool?: string): boolean;
  /** Never rejects: a hook that fails or takes too long does not refuse anything, and the user is notified. */
  run(moment: HookMoment, signal: AbortSignal): Promise<HookVerdict>;
}
