// Assigns every message of the chat page that only VS Code handles to the part of the window that handles it.
import { type Event } from '../../base/emitter.ts';
import { type HostHandlers } from '../../core/frontend/page/pageOffers.ts';

export type ReviewHandlers = Pick<HostHandlers, 'review_changes' | 'keep' | 'undo' | 'restore' | 'revert'>;
export type ControlsHandlers = Pick<
  HostHandlers,
  'choose_model' | 'set_api_key' | 'show_rules' | 'open_settings' | 'show_notifications'
>;
export type CompletionsHandlers = Pick<HostHandlers, 'complete' | 'choose_completion' | 'attach_uris'>;
export type TranscriptHandlers = Pick<
  HostHandlers,
  | ('insert_code' | 'apply_code' | 'run_in_terminal' | 'open_diff' | 'open_file' | 'show_terminal')
  | ('open_known_difference' | 'show_request')
>;
export type ChatHandlers = Omit<
  HostHandlers,
  'focused' | 'export' | keyof (ReviewHandlers & ControlsHandlers & CompletionsHandlers & TranscriptHandlers)
>;

/** The conversation that the chat shows, for the other parts of the page. */
export interface ShownChat {
  readonly shown: string | undefined;
  /** Fires after each update of the head; `shown` may have changed. */
  readonly onDidRefresh: Event<unknown>;
}
