// What the local client needs from the window, or from a process without one.
import { type Clock } from '../../../base/clock.ts';
import { type Result } from '../../../base/errors.ts';
import { type Verb, type VerbParams, type VerbResult } from '../../../protocol/client/verbs.ts';
import { type Trigger } from '../../../protocol/page/completionsView.ts';
import { type ConversationChoice } from '../../../protocol/page/controlsView.ts';
import { type Mute } from '../../../protocol/page/pendingView.ts';
import { type AlternativeModel, type OfferedCompletion, type OfferedModel } from '../../../protocol/page/windowView.ts';
import { type Settings } from '../../../protocol/settings.ts';
import { type PutBackDeps } from '../../checkpoints/putBack.ts';
import { type Earshot } from '../../earshot.ts';
import { type Frontends } from '../../frontend/frontends.ts';
import { type KeepAlive } from '../../keepAlive.ts';
import { type Library } from '../../library.ts';
import { type ApprovalAnswer, type Ids, type Logger, type Model } from '../../ports/ports.ts';
import {
  type Checkpoints,
  type Lock,
  type Permissions,
  type Snapshots,
  type Store,
  type Views,
} from '../../ports/storage.ts';
import { type Handles } from '../../tools/handles.ts';
import { type Wakes } from '../../wakes/wakes.ts';

/** The choices that the user has in this window. */
export interface WindowControls {
  /** What holds in a conversation; absent: in a new one. */
  chosen(conversation?: string): {
    readonly model: Pick<Model, 'label' | 'detail' | 'contextWindow' | 'efforts'>;
    readonly choice: ConversationChoice;
    readonly settings: Pick<Settings, 'mode' | 'approvals.mode' | 'model'>;
    alternatives(): readonly AlternativeModel[];
  };
  /** Asks the configured providers and those on this machine for their models. Marks the conversation's. */
  models(conversation?: string): Promise<readonly OfferedModel[]>;
  /** The reference of a model of the last list; undefined: it was not there. */
  reference(id: string): Promise<string | undefined>;
  /** For a conversation, and for new ones. */
  choose(choice: ConversationChoice, conversation?: string): Promise<Result<void>>;
  /** Best matches first. */
  complete(trigger: Trigger, query: string): Promise<readonly OfferedCompletion[]>;
  /** Absent: the settings cannot be changed here. */
  mute?(what: Mute): Promise<void>;
}

/** For whom a client acts. */
export interface Caller {
  /** Who answers, for the log: `user`, `plugin:<name>`. */
  readonly by: string;
  /** The process of a program; absent: it is not known. */
  process?(): Pick<ApprovalAnswer, 'program'>;
  /** The source of its notifications, which settings can turn off like a producer. Absent: as each one says. */
  readonly source?: string;
}

export interface LocalPorts {
  readonly earshot: Earshot;
  readonly library: Pick<Library, 'rename' | 'remove' | 'fork' | 'forkBefore' | 'export'>;
  readonly handles: Pick<Handles, 'moveToBackground' | 'byRun' | 'list' | 'onDidChange'>;
  readonly wakes: Pick<Wakes, 'list' | 'fireNow' | 'cancel'>;
  readonly snapshots: Snapshots;
  readonly controls: WindowControls;
  readonly keepAlive: Pick<KeepAlive, 'hold' | 'leave'>;
  readonly frontends: Frontends;
  readonly store: Store;
  readonly lock: Pick<Lock, 'owner'>;
  readonly views: Views;
  readonly permissions: Pick<Permissions, 'rules' | 'remove'>;
  /** For keeping and undoing changes. */
  readonly files: Omit<PutBackDeps, 'snapshots'> & { readonly checkpoints?: Checkpoints | undefined };
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly base64: { encode(bytes: Uint8Array): string; decode(text: string): Uint8Array };
  settings(): Settings;
  /** Earshot's settings by name, without secrets. */
  config(): Readonly<Record<string, unknown>>;
  isAlive(pid: number): boolean;
}

/** A verb without an implementation does not compile. */
export type LocalVerbs = {
  readonly [V in Verb]: (params: VerbParams<V>) => Promise<Result<VerbResult<V>>>;
};
