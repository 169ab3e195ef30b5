// The items of a conversation's transcript, as every front end shows them.
import * as z from 'zod';
import { type FormField } from './page/form.ts';
import { type CallPreview } from './page/diffView.ts';
import { type AnsweringProgram, type EventOf } from './event.ts';
import { type Level } from './notification.ts';
import { type TextOrigin } from './page/textOrigin.ts';
import { type NotificationLabel } from './page/pendingView.ts';
import { type TaskView } from './page/taskView.ts';
import { type NoticeActionMessage, type RevertMessage } from './page/transcriptMessages.ts';

/** Notifications as they were delivered, shown on the card of their carrier. */
export interface CarriedView {
  readonly text: string;
  readonly shown: number;
  readonly total: number;
  readonly worst: Level;
  /** One for each shown notification. */
  readonly labels: readonly NotificationLabel[];
  /** Estimated. */
  readonly tokens: number;
  /** `carried`: the carrier is in the log. `accepted`: a request with it was answered. */
  readonly receipt: 'carried' | 'accepted';
  /** Number of the user's queued messages in it. */
  readonly texts: number;
}

/** `writing`: the model is still writing the call; `output` has its arguments so far. */
export type ToolState =
  | 'writing'
  | 'approval'
  | 'question'
  | 'running'
  | 'done'
  | 'failed'
  | 'rejected'
  /** The call was stopped before it began. */
  | 'not_run'
  | 'interrupted';

/** Where an answer of *Always* holds. */
export const ALWAYS_SCOPES = ['conversation', 'folder'] as const;

/** `server`: it covers all tools of the MCP server. */
export const alwaysAnswerSchema = z.strictObject({
  scope: z.enum(ALWAYS_SCOPES),
  server: z.literal(true).optional(),
});
export type AlwaysAnswer = Readonly<z.infer<typeof alwaysAnswerSchema>>;

/** The information that the user needs to answer, in addition to the call itself. */
export interface ApprovalView {
  /** Why approval is needed although the mode would not require it. */
  readonly reason?: string;
  /** What *always* would allow; absent if it is not offered. */
  readonly always?: string;
  /** The MCP server that *always for this server* would allow; absent if it is not offered. */
  readonly alwaysServer?: string;
  /** What the MCP server says about its tool. */
  readonly note?: string;
  /** Why the last answer was not accepted. */
  readonly problem?: string;
  /** What the call would change in files now. */
  readonly preview?: CallPreview;
  /** Text of the call that came from outside. */
  readonly origins?: readonly TextOrigin[];
  /** What the call would run, if it is a task of the editor. */
  readonly task?: TaskView;
  /** Another number whenever something of this has changed; an approval of an earlier one is refused. */
  readonly revision?: number;
}

/** A question to the user, on the card of the call that asks it. */
export interface QuestionView {
  readonly id: string;
  readonly text: string;
  readonly options?: readonly string[];
  readonly several: boolean;
  readonly fields?: readonly FormField[];
  readonly answer?: string | readonly string[];
  /** Why the last answer was not accepted. */
  readonly problem?: string;
}

export type ToolMedia = NonNullable<EventOf<'tool_call_response'>['media']>[number];

/** An image that the user attached; `read_media` requests the bytes. */
export interface SentImage {
  readonly name: string;
  readonly hash: string;
  readonly media_type: string;
}

export type TranscriptItem =
  | {
      readonly type: 'request';
      readonly id: string;
      readonly source: 'user' | 'system';
      readonly text: string;
      /** The text of the prompt file or skill that the user named: what the model got. */
      readonly expanded?: string;
      /** Names of the attachments that are not images. */
      readonly attachments?: readonly string[];
      readonly images?: readonly SentImage[];
      /** An automated request that the user caused by *Deliver Now*. */
      readonly forced?: true;
      /** Written by the agent that started this subagent. */
      readonly byAgent?: true;
      /** Queued during a turn and delivered with the tool result before it. */
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
      /** What went wrong, for people, as the key of its translation; `output` says it to the model. */
      readonly failure?: string;
      readonly carried?: CarriedView;
      /** Changes of files, by hash; `read_diff` requests the difference. */
      readonly changes?: NonNullable<EventOf<'tool_call_response'>['changes']>;
      /** Images and sound of the result, by hash; `read_media` requests the bytes. */
      readonly media?: readonly ToolMedia[];
      /** The conversation of the subagent that the call started. */
      readonly agent?: string;
      /** From the approval, or the call, to the result. */
      readonly milliseconds?: number;
      /** Set in the state `approval`. */
      readonly approval?: ApprovalView;
      /** Can be answered in the state `question`. */
      readonly question?: QuestionView;
      /** The front end other than the chat that answered the approval or the question: `plugin:<name>`. */
      readonly answeredBy?: string;
      readonly answeredProgram?: AnsweringProgram;
    }
  | {
      /** A message to the user: an error with its next step, a stopped turn, a truncated log. */
      readonly type: 'notice';
      readonly id: string;
      readonly level: 'info' | 'warning' | 'error';
      readonly text: string;
      /** What kind of failure the text is about: English, the key of its translation. */
      readonly failure?: string;
      readonly nextStep?: string;
      /** The label is English, the key of its translation. */
      readonly action?: { readonly label: string; readonly message: RevertMessage | NoticeActionMessage };
    };
