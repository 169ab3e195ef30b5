// The mode and the options of a session, with the labels that a client shows for them.
import { APPROVAL_MODES, MODES } from '../protocol/page/controlsView.ts';
import { type Settings } from '../protocol/settings.ts';
import { type ChangedSettings, type SessionSettings } from './sessionFolder.ts';

const APPROVALS = 'approvals';
const MODEL = 'model';
const APPROVAL_NAMES: Readonly<Record<Settings['approvals.mode'], string>> = {
  ask: 'Ask for everything',
  reads: 'Allow reads',
  edits: 'Allow reads and edits',
  all: 'Allow everything',
};

export function stateOf(settings: SessionSettings): object {
  return {
    modes: {
      currentModeId: settings.mode,
      availableModes: [
        { id: 'agent', name: 'Agent', description: 'All tools' },
        { id: 'plan', name: 'Plan', description: 'Only tools that read' },
      ],
    },
    configOptions: optionsOf(settings),
  };
}

export function optionsOf(settings: SessionSettings): readonly object[] {
  const options = APPROVAL_MODES.map((value) => ({ value, name: APPROVAL_NAMES[value] }));
  const currentValue = settings['approvals.mode'];
  const models = settings.models.map((name) => ({ value: name, name }));
  return [
    { type: 'select', id: APPROVALS, name: 'Approvals', category: '_approvals', currentValue, options },
    ...(models.length < 2
      ? []
      : [
          {
            type: 'select',
            id: MODEL,
            name: 'Model',
            category: 'model',
            currentValue: settings.model,
            options: models,
          },
        ]),
  ];
}

/** The configured model and those that have options in the settings; all are models of the same endpoint. */
export function modelsOf({ model, models }: Pick<Settings, 'model' | 'models'>): readonly string[] {
  return model === '' ? [] : [...new Set([model, ...Object.keys(models)])];
}

/** The settings to change, or why the value is not valid. */
export function readMode(modeId: string): ChangedSettings | string {
  const mode = MODES.find((one) => one === modeId);
  return mode === undefined ? `modeId: must be one of ${MODES.join(', ')}` : { mode };
}

export function readOption(settings: SessionSettings, configId: string, value: unknown): ChangedSettings | string {
  if (configId === MODEL) {
    const { models } = settings;
    const model = models.find((one) => one === value);
    return model === undefined ? `value: must be one of ${models.join(', ')}` : { model };
  }
  if (configId !== APPROVALS) return `configId: must be ${APPROVALS} or ${MODEL}`;
  const mode = APPROVAL_MODES.find((one) => one === value);
  return mode === undefined ? `value: must be one of ${APPROVAL_MODES.join(', ')}` : { 'approvals.mode': mode };
}
