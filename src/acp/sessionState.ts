// The mode and the options of a session, with the labels that a client shows for them.
import { type Result, succeeded } from '../base/errors.ts';
import { type Client } from '../core/client/client.ts';
import {
  APPROVAL_MODES,
  type ConversationChoice,
  type Effort,
  EFFORT_CHOICES,
  MODES,
} from '../protocol/page/controlsView.ts';
import { readSettings, type Settings } from '../protocol/settings.ts';

const APPROVALS = 'approvals';
const MODEL = 'model';
const EFFORT = 'effort';
const APPROVAL_NAMES: Readonly<Record<Settings['approvals.mode'], string>> = {
  ask: 'Ask for everything',
  reads: 'Allow reads',
  edits: 'Allow reads and edits',
  all: 'Allow everything',
};

/** What a client shows and may choose for a session. */
interface SessionSettings extends Pick<Settings, 'mode' | 'approvals.mode' | 'model'> {
  /** The models that can be chosen; empty if only the Guide answers. */
  readonly models: readonly string[];
  /** The levels of reasoning that the model has, and the chosen one. */
  readonly efforts?: readonly Effort[] | undefined;
  readonly effort?: ConversationChoice['effort'];
}

/** As they hold in a session. */
export async function readSessionSettings(
  client: Pick<Client, 'call'>,
  conversation: string,
): Promise<Result<SessionSettings>> {
  const config = await client.call('read_config', {});
  if (!config.ok) return config;
  const listed = await client.call('list_models', { conversation });
  if (!listed.ok) return listed;
  const values = config.value.data as Readonly<Record<string, unknown>>;
  const { settings } = readSettings((name) => values[name]);
  const { mode = settings.mode, approvals = settings['approvals.mode'], efforts, effort } = listed.value.current;
  const { reference: model = settings.model } = listed.value.current;
  return succeeded({ model, mode, 'approvals.mode': approvals, models: modelsOf(settings), efforts, effort });
}

/** Whether a choice would change nothing. */
export function isChosen(held: SessionSettings, { mode, approvals, model, effort }: ConversationChoice): boolean {
  return (
    (mode ?? held.mode) === held.mode &&
    (approvals ?? held['approvals.mode']) === held['approvals.mode'] &&
    (model ?? held.model) === held.model &&
    (effort ?? held.effort) === held.effort
  );
}

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
    ...(settings.efforts === undefined || settings.efforts.length === 0
      ? []
      : [
          {
            type: 'select',
            id: EFFORT,
            name: 'Effort',
            category: 'thought_level',
            currentValue: settings.effort ?? 'auto',
            options: ['auto', ...settings.efforts].map((value) => ({ value, name: value })),
          },
        ]),
  ];
}

/** The configured model, those that have options in the settings, and those that providers list there. */
export function modelsOf({
  model,
  models,
  providers,
}: Pick<Settings, 'model' | 'models' | 'providers'>): readonly string[] {
  const listed = Object.entries(providers).flatMap(([id, one]) => (one.models ?? []).map((name) => `${id}/${name}`));
  return model === '' ? [] : [...new Set([model, ...Object.keys(models), ...listed])];
}

/** The choice, or why the value is not valid. */
export function readMode(modeId: string): ConversationChoice | string {
  const mode = MODES.find((one) => one === modeId);
  return mode === undefined ? `modeId: must be one of ${MODES.join(', ')}` : { mode };
}

export function readOption(settings: SessionSettings, configId: string, value: unknown): ConversationChoice | string {
  if (configId === MODEL) {
    const { models } = settings;
    const model = models.find((one) => one === value);
    return model === undefined ? `value: must be one of ${models.join(', ')}` : { model };
  }
  if (configId === EFFORT) {
    const levels = ['auto', ...(settings.efforts ?? [])];
    const effort = EFFORT_CHOICES.find((one) => one === value && levels.includes(one));
    return effort === undefined ? `value: must be one of ${levels.join(', ')}` : { effort };
  }
  if (configId !== APPROVALS) return `configId: must be ${APPROVALS}, ${EFFORT} or ${MODEL}`;
  const mode = APPROVAL_MODES.find((one) => one === value);
  return mode === undefined ? `value: must be one of ${APPROVAL_MODES.join(', ')}` : { approvals: mode };
}
