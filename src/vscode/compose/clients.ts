// Composes the clients of the window's conversations, for the chat and for program plugins.
import { succeeded } from '../../base/errors.ts';
import { LocalClients } from '../../core/client/local/localClient.ts';
import { type LocalPorts, type WindowControls } from '../../core/client/local/localPorts.ts';
import { type Earshot } from '../../core/earshot.ts';
import { type Frontends } from '../../core/frontend/frontends.ts';
import { type KeepAlive } from '../../core/keepAlive.ts';
import { Library } from '../../core/library.ts';
import { type Handles } from '../../core/tools/handles.ts';
import { base64 } from '../../node/files/base64.ts';
import { isAlive } from '../../node/kernelLock.ts';
import { realClock } from '../../node/realClock.ts';
import { realIds } from '../../node/realIds.ts';
import { publicSettings } from '../../plugins/initMessage.ts';
import { type Mute } from '../../protocol/page/pendingView.ts';
import { type Completions } from '../completions/completions.ts';
import { type WindowHub } from '../hub/windowHub.ts';
import { type composeModels } from './models.ts';
import { type composeStorage } from './storage.ts';
import { type Window } from './window.ts';

interface ClientParts {
  readonly earshot: Earshot;
  readonly frontends: Frontends;
  readonly keepAlive: KeepAlive;
  readonly handles: Handles;
  readonly wakes: LocalPorts['wakes'];
  readonly storage: ReturnType<typeof composeStorage>;
  readonly files: LocalPorts['files'];
  readonly hub: WindowHub;
  readonly controls: WindowControls;
  /** Called after a conversation was deleted. */
  removed(conversation: string): void;
}

export function composeClients({ logger, settings, held }: Window, parts: ClientParts): LocalClients {
  const { earshot, frontends, keepAlive, handles, wakes, files, hub, controls } = parts;
  const { store, lock, views, snapshots, permissions } = parts.storage;
  const base = { clock: realClock, ids: realIds, logger };
  const library = new Library({ ...base, store, lock, handles, hub }, earshot);
  return held.add(
    new LocalClients({
      ...{ ...base, earshot, frontends, keepAlive, handles, wakes, store, lock, views, snapshots, permissions },
      ...{ files, base64, isAlive },
      ...{ controls, library: libraryOf(library, parts) },
      settings: () => settings.current,
      config: () => publicSettings(settings.current),
    }),
  );
}

function libraryOf(library: Library, { removed }: ClientParts): LocalPorts['library'] {
  return {
    rename: (id, title) => library.rename(id, title),
    fork: (id) => library.fork(id),
    forkBefore: (id, request) => library.forkBefore(id, request),
    export: (id, format) => library.export(id, format),
    remove: async (id) => {
      const done = await library.remove(id);
      if (done.ok) removed(id);
      return done;
    },
  };
}

export interface ControlParts {
  readonly earshot: Earshot;
  readonly models: Pick<ReturnType<typeof composeModels>, 'offered' | 'last'>;
  completions(): Pick<Completions, 'listPortable'>;
  mute(what: Mute): Promise<void>;
}

export function windowControls({ earshot, completions, models, mute }: ControlParts): WindowControls {
  return {
    chosen: (conversation) => earshot.choices.of(conversation),
    models: async (conversation) => (await models.offered()).list(earshot.choices.of(conversation).settings.model),
    reference: async (id) => (await models.offered()).take(id),
    choose: async (choice, conversation) => {
      const live = conversation === undefined ? undefined : earshot.get(conversation);
      const chosen = live === undefined ? succeeded(undefined) : await earshot.choices.choose(live.log.id, choice);
      if (chosen.ok) await models.last.set(choice);
      return chosen;
    },
    complete: (trigger, query) => completions().listPortable(trigger, query),
    mute,
  };
}
