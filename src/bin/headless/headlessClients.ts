// The clients of conversations that run in a process without an editor.
import { modelsOf } from '../../acp/sessionState.ts';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { failed } from '../../base/errors.ts';
import { LocalClients } from '../../core/client/local/localClient.ts';
import { type WindowControls } from '../../core/client/local/localPorts.ts';
import { type Frontends } from '../../core/frontend/frontends.ts';
import { KeepAlive } from '../../core/keepAlive.ts';
import { Library } from '../../core/library.ts';
import { BUILT_IN_COMMANDS, listCommandSkills } from '../../core/prompt/builtInSkills.ts';
import { listPrompts } from '../../core/prompt/promptFiles.ts';
import { base64 } from '../../node/files/base64.ts';
import { isAlive } from '../../node/kernelLock.ts';
import { publicSettings } from '../../plugins/initMessage.ts';
import { type ComposedHeadless } from './headless.ts';

/** Dispose of it before the composition is closed. */
export function createHeadlessClients(
  headless: ComposedHeadless,
  frontends: Frontends,
): Disposable & { readonly clients: LocalClients } {
  const { earshot, ports, handles, wakes, supervision, storage } = headless;
  const { clock, ids, logger, settings } = ports;
  const held = new DisposableStore();
  const keepAlive = held.add(new KeepAlive({ earshot, handles, supervision, wakes, clock, logger }));
  const clients = held.add(
    new LocalClients({
      ...{ earshot, handles, wakes, keepAlive, frontends, clock, ids, logger, base64, isAlive, settings },
      ...{ store: storage.store, lock: storage.lock, views: storage.views, snapshots: ports.snapshots },
      library: new Library(ports, earshot),
      files: ports,
      permissions: ports.permissions,
      controls: headlessControls(headless),
      config: () => publicSettings(settings()),
    }),
  );
  return { clients, dispose: () => held.dispose() };
}

function headlessControls({ earshot, ports }: ComposedHeadless): WindowControls {
  const { settings, workspace, userFiles } = ports;
  return {
    chosen: (conversation) => earshot.choices.of(conversation),
    models: async (conversation) => {
      const { model } = earshot.choices.of(conversation).settings;
      return modelsOf(settings()).map((id) => ({ id, label: id, detail: '', current: id === model }));
    },
    reference: async (id) => modelsOf(settings()).find((one) => one === id),
    choose: async (choice, conversation) =>
      conversation === undefined
        ? failed('setting', 'What new conversations start with is in the settings.')
        : earshot.choices.choose(conversation, choice),
    complete: async (trigger, query) => {
      if (trigger !== '/') return [];
      const found = await Promise.all([listPrompts(workspace, userFiles), listCommandSkills(workspace, userFiles)]);
      const all = [...BUILT_IN_COMMANDS, ...found.flat()].map(({ name, description }) => [name, description] as const);
      // A prompt file and a skill may have the same name: the prompt file is used.
      return [...new Map(all.toReversed())]
        .filter(([name]) => name.includes(query))
        .map(([name, detail]) => ({ name, label: name, detail, insert: `/${name} ` }));
    },
  };
}
