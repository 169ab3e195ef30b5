// The items of a conversation's transcript, as every front end shows them.
import { type BringBackMessage } from './changesView.ts';
import { type CallPreview } from './diffView.ts';
import { type EventOf } from './event.ts';
import { type Level } from './notification.ts';

/** Notifications as the model got them, shown on the card of the event that carried them. */
export interface CarriedView {
  readonly text: string;
  readonly shown: number;
  readonly total: number;
  readonly worst: Level;
  /** One line for each shown one: `file.changed src/a.ts`. */
  readonly labels: readonly string[];
  /** Estimated. */
  readonly tokens: number;
  /** Carried: it is in the log. Accepted: a request that held it was answered. */
  readonly receipt: 'carried' | 'accepted';
  /** How many of the user's own messages are in it. */
  readonly texts: number;
}

/** `writing`: the model still writes the call; `output` is what there is of its arguments. */
export type ToolState =
  | 'writing'
  | 'approval'
  | 'question'
  | 'running'
  | 'done'
  | 'failed'
  | 'rejected'
  | 'interrupted';

/** What a person needs to know to answer, besides the call itself. */
interface ApprovalView {
  /** Why it is asked although the mode would let it pass. */
  readonly reason?: string;
  /** What *always* would allow; absent where it is not offered. */
  readonly always?: string;
  /** Why the last answer could not be taken. */
  readonly problem?: string;
  /** What it would do to files now. */
  readonly preview?: CallPreview;
}

/** A question to the user, on the card of the call that asks it. */
export interface QuestionView {
  readonly id: string;
  readonly text: string;
  readonly options?: readonly string[];
  readonly several: boolean;
  readonly answer?: string | readonly string[];
  /** Why the last answer could not be taken. */
  readonly problem?: string;
}

export type TranscriptItem =
  | {
      readonly type: 'request';
      readonly id: string;
      readonly source: 'user' | 'system';
      readonly text: string;
      /** Names of what was attached. */
      readonly attachments?: readonly string[];
      /** Written while a turn ran, and carried by the tool's result before it. */
      readonly meanwhile?: true;
      readonly carried?: CarriedView;
    }
  | {
      readonly type: 'answer';
      readonly id: string;
      readonly text: string;
      readonly reasoning: string;
      readonly streaming: boolean;
      readonly truncated: boolean;
    }
  | {
      readonly type: 'tool';
      readonly id: string;
      readonly name: string;
      readonly arguments: Readonly<Record<string, unknown>>;
      readonly state: ToolState;
      readonly output: string;
      readonly carried?: CarriedView;
      /** What it did to files, by hash; `read_diff` asks for it. */
      readonly changes?: NonNullable<EventOf<'tool_call_response'>['changes']>;
      /** In the state `approval`. */
      readonly approval?: ApprovalView;
      /** In the state `question` it can be answered here. */
      readonly question?: QuestionView;
      /** The front end other than the chat that answered the approval or the question: `plugin:<name>`. */
      readonly answeredBy?: string;
    }
  | {
      /** Something the user should know: an error with its next step, a stopped turn, a cut log. */
      readonly type: 'notice';
      readonly id: string;
      readonly level: 'info' | 'warning' | 'error';
      readonly text: string;
      readonly nextStep?: string;
      readonly action?: { readonly label: string; readonly message: BringBackMessage };
    };
