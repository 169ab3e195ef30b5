// The choices that a window offers to plugins, without an editor: two models, modes, and the files of a small folder.
import { succeeded } from '../../../src/base/errors.ts';
import { type WindowControls } from '../../../src/core/client/local/localPorts.ts';
import { type Settings } from '../../../src/protocol/settings.ts';

export interface ChosenControls {
  model: string;
  settings: Partial<Pick<Settings, 'mode' | 'approvals.mode'>>;
}

const MODELS = ['one', 'two'];
const FILES = ['src/menu.ts', 'src/tea.ts', 'README.md'];

export function testControls(chosen: ChosenControls): WindowControls {
  return {
    chosen: () => ({
      model: { label: chosen.model, detail: 'test', contextWindow: 100_000 },
      choice: {},
      settings: { model: chosen.model, mode: 'agent', 'approvals.mode': 'reads', ...chosen.settings },
      alternatives: () => [],
    }),
    models: async () =>
      MODELS.map((name) => ({ id: name, label: name, detail: 'test', current: name === chosen.model })),
    reference: async (id) => MODELS.find((name) => name === id),
    choose: async ({ model, mode, approvals }) => {
      chosen.model = model ?? chosen.model;
      chosen.settings = {
        ...chosen.settings,
        ...(mode !== undefined && { mode }),
        ...(approvals !== undefined && { 'approvals.mode': approvals }),
      };
      return succeeded(undefined);
    },
    complete: async (trigger, query) =>
      trigger === '/'
        ? [{ name: 'review', label: 'review', detail: 'A prompt', insert: '/review ' }]
        : FILES.filter((path) => path.includes(query)).map((name) => ({ name, label: name, detail: '' })),
  };
}
