// The user's commands at moments of a turn. Implemented in hooks/.
import { type HookEvent } from '../../protocol/outside/hooks.ts';

export interface HookMoment {
  readonly event: HookEvent;
  readonly conversation: string;
  /** For the events of tools: its name. */
  readonly tool?: string;
  /** More input for the hook, under Claude Code's names. */
  readonly input: Readonly<Record<string, unknown>>;
}

/** What the hooks of a moment say together. They can refuse and add; none can approve. */
export interface HookVerdict {
  /** Why it must not happen; `turn_end`: why the model must go on. */
  readonly refused?: string;
  /** Why the user must be asked, even if the settings would allow the call. */
  readonly ask?: string;
  /** Texts for the model, by the hook's command. */
  readonly added: readonly { readonly hook: string; readonly text: string }[];
}

export interface Hooks {
  has(event: HookEvent, tool?: string): boolean;
  /** Never rejects: a hook that fails or takes too long objects to nothing, and the user is notified. */
  run(moment: HookMoment, signal: AbortSignal): Promise<HookVerdict>;
}
