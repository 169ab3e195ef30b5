// Which messages every host of a chat page handles, and what a host offers in its own way: VS Code, or a browser.
import { type Failure } from '../../../base/errors.ts';
import { type FromPage, type FromPageHandlers } from '../../../protocol/webview.ts';
import { type AlternativeModel } from '../../../protocol/page/windowView.ts';
import { type FollowedConversation } from '../../client/client.ts';
import { type HeadInput } from '../chatHead.ts';
import { type Translate } from './pageComposer.ts';

/** Messages that are passed on as they are. The client's failure is shown to the user. */
export const PASSED = ['retry', 'send_queued', 'raise_queued', 'deliver', 'dismiss', 'mute'] as const;
/** Messages about a command, which fail if it has ended meanwhile. */
export const ABOUT_COMMANDS = ['stop_command', 'move_to_background'] as const;
/** Messages about what is due, which fail if it has fired or was cancelled meanwhile. */
export const ABOUT_DUE = ['fire_due', 'cancel_due'] as const;
/** Messages that every host of a page handles. */
export const HANDLED = [
  ...PASSED,
  ...ABOUT_COMMANDS,
  ...ABOUT_DUE,
  ...(['draft', 'new_chat', 'open_conversation', 'queue', 'interrupt', 'stop', 'resend', 'withdraw_queued'] as const),
  ...(['list_conversations', 'rename', 'fork', 'delete', 'approve', 'answer', 'choose', 'list_models'] as const),
  ...(['attach', 'detach', 'read_media', 'read_diff', 'read_context', 'hide_handle'] as const),
  ...(['read_freshness', 'update_files', 'remove_rule'] as const),
] as const satisfies readonly FromPage['type'][];

export type HandledType = (typeof HANDLED)[number];
export type PassedType = (typeof PASSED | typeof ABOUT_COMMANDS | typeof ABOUT_DUE)[number];
/** The handlers of the messages that only some hosts handle. */
export type HostHandlers = Omit<FromPageHandlers, HandledType | 'ready'>;

/** What the host of the page offers besides the conversations. */
export interface PageOffers {
  /** What holds in a conversation, or in a new one. */
  chosen(conversation: string | undefined): Pick<HeadInput, 'model' | 'settings' | 'choice'> & {
    readonly model: { readonly id: string };
    /** Other models whose price is known, favourites first. */
    alternatives(): readonly AlternativeModel[];
  };
  /** `problem`: why conversations cannot be stored or shown. */
  headOf(
    shown: FollowedConversation | undefined,
    problem: Failure | undefined,
  ): Pick<HeadInput, 'canSend' | 'obstacles' | 'rules' | 'listedRules' | 'folder' | 'due' | 'titleOf'>;
  readonly t: Translate;
  describe(failure: Failure): string;
  /** Asks the user first. */
  confirm?(message: Extract<FromPage, { type: 'choose' | 'delete' }>): Promise<boolean>;
  /** Absent: only titles are searched. */
  excerptOf?(conversation: string, query: string): Promise<string | undefined>;
  /** Called when a conversation is shown. */
  didShow?(conversation: string): Promise<unknown>;
  /** Called when a model, a mode or the approvals were chosen, or a rule was revoked. */
  didChoose?(): Promise<void>;
}
