// Composes the models: those of the providers and of VS Code, what the user chose last, and the commands that choose.
import * as vscode from 'vscode';
import { openEndpointMemory } from '../../models/endpointMemory.ts';
import { KnownModels } from '../../models/facts/modelFacts.ts';
import { realFileSystem } from '../../node/files/fileSystem.ts';
import { type ConversationChoice } from '../../protocol/page/controlsView.ts';
import { type CommandHandlers } from '../commands.ts';
import { COMMANDS } from '../ids.ts';
import { favouritesIn } from '../models/favourites.ts';
import { LanguageModels } from '../models/languageModels.ts';
import { LastChoice } from '../models/lastChoice.ts';
import { createModelChooser } from '../models/modelChooser.ts';
import { type ModelCommandDeps } from '../models/modelCommands.ts';
import { type OfferedModels } from '../models/offeredModels.ts';
import { createApiKeys } from '../models/secrets.ts';
import { updateSetting } from '../settings.ts';
import { type Window } from './window.ts';

/** Who asks the user for a model: the conversation that the chat shows. */
export interface ChoosingChat {
  /** The reference of its model. */
  current(): string;
  choose(choice: ConversationChoice): Promise<void>;
}

/** `chat` is called only once the window is composed. */
export function composeModels({ context, logger, settings, held, report }: Window, chat: () => ChoosingChat) {
  const keys = createApiKeys(context.secrets);
  const memory = openEndpointMemory({ files: realFileSystem, folder: context.globalStorageUri.fsPath, logger });
  const languageModels = held.add(
    new LanguageModels(context.languageModelAccessInformation, report('the models of VS Code could not be listed')),
  );
  const current = () => settings.current;
  const { globalState: everywhere, workspaceState: here } = context;
  const last = new LastChoice({ everywhere, here, settings: current });
  const path = vscode.Uri.joinPath(context.extensionUri, 'media', 'models.json').fsPath;
  const known = new KnownModels({ path, logger, store: everywhere });
  const deps: ModelCommandDeps = {
    settings: current,
    keys,
    languageModels,
    known,
    favourites: everywhere,
    current: () => chat().current(),
    choose: async (model) => {
      // The first model that is chosen at all becomes the default of everything.
      if (settings.current.model === '' && model !== '') await updateSetting('model', model);
      await chat().choose({ model });
    },
    report: report('a message could not be shown'),
  };
  let offered: OfferedModels | undefined;
  const commands = {
    [COMMANDS.chooseModel]: async () => (await import('../models/modelPicker.ts')).chooseModel(deps),
    [COMMANDS.setApiKey]: async () => (await import('../models/modelCommands.ts')).setApiKey(deps),
  } satisfies Partial<CommandHandlers>;
  const key = keys.get.bind(keys);
  return {
    ...createModelChooser({
      settings: current,
      key,
      memory,
      known,
      logger,
      languageModels,
      lastChoice: () => last.current,
      favourites: () => favouritesIn(everywhere),
    }),
    last,
    /** The models that front ends outside the editor can choose from. */
    offered: async () => {
      const { OfferedModels } = await import('../models/offeredModels.ts');
      return (offered ??= new OfferedModels(deps));
    },
    onDidChangeModels: languageModels.onDidChange,
    commands,
  };
}
