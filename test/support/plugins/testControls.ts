// The choices that a window offers to plugins, without an editor: two models, modes, and the files of a small folder.
import { type WindowControls } from '../../../src/plugins/pluginPorts.ts';
import { type Settings } from '../../../src/protocol/settings.ts';

export interface ChosenControls {
  model: string;
  settings: Partial<Pick<Settings, 'mode' | 'approvals.mode'>>;
}

const MODELS = ['one', 'two'];
const FILES = ['src/menu.ts', 'src/tea.ts', 'README.md'];

export function testControls(chosen: ChosenControls): WindowControls {
  return {
    model: () => ({ label: chosen.model, detail: 'test', contextWindow: 100_000 }),
    models: async () =>
      MODELS.map((name) => ({ id: name, label: name, detail: 'test', current: name === chosen.model })),
    chooseModel: async (id) => {
      if (!MODELS.includes(id)) return false;
      chosen.model = id;
      return true;
    },
    set: async (name, value) => {
      chosen.settings = { ...chosen.settings, [name]: value };
    },
    complete: async (trigger, query) =>
      trigger === '/'
        ? [{ name: 'review', label: 'review', detail: 'A prompt', insert: '/review ' }]
        : FILES.filter((path) => path.includes(query)).map((name) => ({ name, label: name, detail: '' })),
  };
}
