// Composes the models: the one that answers, and the commands that choose it.
import { openEndpointMemory } from '../../models/endpointMemory.ts';
import { realFileSystem } from '../../node/files/fileSystem.ts';
import { type CommandHandlers } from '../commands.ts';
import { COMMANDS } from '../ids.ts';
import { LanguageModels } from '../models/languageModels.ts';
import { createModelChooser } from '../models/modelChooser.ts';
import { type OfferedModels } from '../models/offeredModels.ts';
import { createApiKeys } from '../models/secrets.ts';
import { type Window } from './window.ts';

export function composeModels({ context, logger, settings, held, report }: Window) {
  const keys = createApiKeys(context.secrets);
  const memory = openEndpointMemory({ files: realFileSystem, folder: context.globalStorageUri.fsPath, logger });
  const languageModels = held.add(
    new LanguageModels(context.languageModelAccessInformation, report('the models of VS Code could not be listed')),
  );
  const current = () => settings.current;
  const deps = { settings: current, keys, languageModels, report: report('a message could not be shown') };
  let offered: OfferedModels | undefined;
  const commands = {
    [COMMANDS.chooseModel]: async () => (await import('../models/modelPicker.ts')).chooseModel(deps),
    [COMMANDS.setApiKey]: async () => (await import('../models/modelCommands.ts')).setApiKey(deps),
  } satisfies Partial<CommandHandlers>;
  return {
    ...createModelChooser({ settings: current, keys, memory, languageModels }),
    /** The models that front ends outside the editor can choose from. */
    offered: async () => {
      const { OfferedModels } = await import('../models/offeredModels.ts');
      return (offered ??= new OfferedModels(deps));
    },
    onDidChangeModels: languageModels.onDidChange,
    commands,
  };
}
