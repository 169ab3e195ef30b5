// The port between the agent and the conversations of a folder, which run in this process or in a window of VS Code.
import { type Result } from '../base/errors.ts';
import { type GivenAttachment } from '../core/agent/userText.ts';
import { type LogEvent } from '../protocol/event.ts';
import { type Level } from '../protocol/notification.ts';
import { type ClientServer } from '../protocol/outside/acp.ts';
import { type ConversationChoice, type Effort } from '../protocol/page/controlsView.ts';
import { type Settings } from '../protocol/settings.ts';
import { type ClientFrontend } from './frontend.ts';
import { type UpdateDeps } from './updates.ts';

/** The failure of a session that the folder does not have. */
export const NO_CONVERSATION = 'no_conversation';

/** Gets what happens in the sessions that a client has opened in a folder. */
export interface FolderListener {
  /** Asks the client, and streams answers to it. */
  readonly frontend: ClientFrontend;
  /** Called for each event of a session's log, in order. */
  event(session: string, event: LogEvent): void;
  /** The conversations of the folder cannot be reached any more. */
  lost(reason: string): void;
}

export interface ListedSession {
  readonly id: string;
  readonly title: string;
  /** ISO 8601. */
  readonly at: string;
}

export interface ClientNotification {
  readonly name: string;
  readonly level: Level;
  readonly message: string;
}

/** What a client shows and may choose for a session. */
export interface SessionSettings extends Pick<Settings, 'mode' | 'approvals.mode' | 'model'> {
  /** The models that can be chosen; empty if only the Guide answers. */
  readonly models: readonly string[];
  /** The levels of reasoning that the model has, and the chosen one. */
  readonly efforts?: readonly Effort[] | undefined;
  readonly effort?: ConversationChoice['effort'];
}

/** A command that the user can write after a slash. */
export interface SlashCommand {
  readonly name: string;
  readonly description: string;
}

export interface SessionFolder extends Pick<UpdateDeps, 'snapshots' | 'effectOf' | 'traitsOf'> {
  readonly folder: string;
  /** The key of an open session, which only the model may see; empty if the events come without it. */
  keyOf(session: string): string;
  /** As they hold in a session. */
  settings(session: string): Promise<SessionSettings>;
  choose(session: string, choice: ConversationChoice): Promise<Result<void>>;
  /** MCP servers that the client passes with a session. */
  addServers(servers: readonly ClientServer[]): void;
  commands(): Promise<readonly SlashCommand[]>;
  create(): Promise<Result<string>>;
  list(): Promise<Result<readonly ListedSession[]>>;
  /** Opens a session of the folder. Resolves to its events so far; the listener gets those that follow. */
  open(session: string): Promise<Result<readonly LogEvent[]>>;
  /** Resolves when the turn has ended, with a failure if the turn failed. */
  prompt(
    session: string,
    text: string,
    attachments: readonly GivenAttachment[],
  ): Promise<Result<{ readonly stopped: boolean }>>;
  stop(session: string): Promise<void>;
  notify(session: string, notification: ClientNotification): Promise<Result<void>>;
  /** Ends every turn that runs in this process, and closes every file and connection. */
  close(): Promise<void>;
}
