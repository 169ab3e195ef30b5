// What plugins need from the window that they are connected to.
import { type Clock } from '../base/clock.ts';
import { type Result } from '../base/errors.ts';
import { type Earshot } from '../core/earshot.ts';
import { type Frontends } from '../core/frontend/frontends.ts';
import { type KeepAlive } from '../core/keepAlive.ts';
import { type Library } from '../core/library.ts';
import { type ApprovalAnswer, type Ids, type Logger, type Model } from '../core/ports/ports.ts';
import { type Lock, type Snapshots, type Store, type Views } from '../core/ports/storage.ts';
import { type Handles } from '../core/tools/handles.ts';
import { type Trigger } from '../protocol/page/completionsView.ts';
import { type ConversationChoice } from '../protocol/page/controlsView.ts';
import { type OfferedCompletion, type OfferedModel } from '../protocol/page/windowView.ts';
import { type Settings } from '../protocol/settings.ts';

/** The choices that the user has in this window. */
export interface WindowControls {
  /** What holds in a conversation; absent: in a new one. */
  chosen(conversation?: string): {
    readonly model: Pick<Model, 'label' | 'detail' | 'contextWindow' | 'efforts'>;
    readonly choice: ConversationChoice;
    readonly settings: Pick<Settings, 'mode' | 'approvals.mode' | 'model'>;
  };
  /** Asks the configured providers and those on this machine for their models. Marks the conversation's. */
  models(conversation?: string): Promise<readonly OfferedModel[]>;
  /** The reference of a model of the last list; undefined: it was not there. */
  reference(id: string): Promise<string | undefined>;
  /** For a conversation, and for new ones. */
  choose(choice: ConversationChoice, conversation?: string): Promise<Result<void>>;
  /** Best matches first. */
  complete(trigger: Trigger, query: string): Promise<readonly OfferedCompletion[]>;
}

/** Whether a connected plugin may answer in place of the user, and which process it is. */
export interface AnsweringRights {
  /** Whether it may answer approvals and questions now. */
  mayAnswer(): boolean;
  /** For the log; empty if the process is not known. */
  process(): Pick<ApprovalAnswer, 'program'>;
}

export interface PluginPorts {
  readonly earshot: Earshot;
  readonly library: Pick<Library, 'rename' | 'remove' | 'fork' | 'forkBefore'>;
  readonly handles: Pick<Handles, 'moveToBackground' | 'byRun' | 'list'>;
  readonly snapshots: Pick<Snapshots, 'put' | 'get'>;
  readonly controls: WindowControls;
  readonly keepAlive: Pick<KeepAlive, 'hold'>;
  readonly frontends: Frontends;
  readonly store: Store;
  readonly lock: Pick<Lock, 'owner'>;
  readonly views: Views;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  settings(): Settings;
  isAlive(pid: number): boolean;
}
