// What a client shows of a session besides its updates: mode and options, with the names that people read.
import { APPROVAL_MODES, MODES } from '../protocol/page/controlsView.ts';
import { type Settings } from '../protocol/settings.ts';
import { type SessionSettings } from './sessionFolder.ts';

const APPROVALS = 'approvals';
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
  return [{ type: 'select', id: APPROVALS, name: 'Approvals', category: '_approvals', currentValue, options }];
}

/** The setting to change, or why there is none. */
export function readMode(modeId: string): Partial<SessionSettings> | string {
  const mode = MODES.find((one) => one === modeId);
  return mode === undefined ? `modeId: must be one of ${MODES.join(', ')}` : { mode };
}

export function readOption(configId: string, value: unknown): Partial<SessionSettings> | string {
  if (configId !== APPROVALS) return `configId: must be ${APPROVALS}`;
  const mode = APPROVAL_MODES.find((one) => one === value);
  return mode === undefined ? `value: must be one of ${APPROVAL_MODES.join(', ')}` : { 'approvals.mode': mode };
}
