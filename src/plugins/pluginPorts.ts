// What plugins need of the window they are connected to.
import { type Clock } from '../base/clock.ts';
import { type Earshot } from '../core/earshot.ts';
import { type Frontends } from '../core/frontend/frontends.ts';
import { type KeepAlive } from '../core/keepAlive.ts';
import { type Library } from '../core/library.ts';
import { type Ids, type Logger } from '../core/ports/ports.ts';
import { type Lock, type Store, type Views } from '../core/ports/storage.ts';
import { type Handles } from '../core/tools/handles.ts';
import { type Settings } from '../protocol/settings.ts';

export interface PluginPorts {
  readonly earshot: Earshot;
  readonly library: Pick<Library, 'rename' | 'remove' | 'forkBefore'>;
  readonly handles: Pick<Handles, 'moveToBackground' | 'byRun'>;
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
