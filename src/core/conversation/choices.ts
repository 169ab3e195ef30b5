// What holds in a conversation: its own choice (model, effort, mode, approvals, editor), else the settings, and never more than the
// workspace allows.
import { type LogEvent } from '../../protocol/event.ts';
import { EFFORTS, type Effort, type ConversationChoice, type ListedChoice } from '../../protocol/page/controlsView.ts';
import { type SettingLimits } from '../../protocol/settingRules.ts';
import { type Settings } from '../../protocol/settings.ts';
import { type Model } from '../ports/ports.ts';

/** Projects what the user chose. */
export class Choice {
  #current: ConversationChoice = {};

  get current(): ConversationChoice {
    return this.#current;
  }

  fold(event: LogEvent): void {
    if (event.type !== 'choice_made') return;
    const { model, effort, mode, approvals, editor } = event;
    this.#current = withChosen(this.#current, { model, effort, mode, approvals, editor });
  }
}

/** The fields of `chosen` that are set replace those of `before`. */
export function withChosen(before: ConversationChoice, chosen: ConversationChoice): ConversationChoice {
  const set = Object.entries(chosen).filter(([, value]) => value !== undefined);
  return { ...before, ...Object.fromEntries(set) };
}

/** The settings as they hold in a conversation with this choice. */
export function settingsWith(settings: Settings, choice: ConversationChoice, limits: SettingLimits = {}): Settings {
  return {
    ...settings,
    model: choice.model ?? settings.model,
    mode: limits.mode ?? choice.mode ?? settings.mode,
    'approvals.mode': choice.approvals ?? settings['approvals.mode'],
    editorContext: choice.editor ?? settings.editorContext,
  };
}

/** What lists show: the model that the conversation uses, also if none was chosen for it. */
export function listedChoice(choice: ListedChoice | undefined, { model }: Pick<Settings, 'model'>): ListedChoice {
  return { model, ...choice };
}

/**
 * The effort to request: a level that the model has. Undefined: as its options say. Reasoning is never switched off
 * unasked, because the level was chosen for another model.
 */
export function effortFor(
  { efforts = [] }: Pick<Model, 'efforts'>,
  { effort }: ConversationChoice,
): Effort | undefined {
  if (effort === undefined || effort === 'auto') return undefined;
  const most = EFFORTS.indexOf(effort);
  const levels = effort === 'none' ? efforts : efforts.filter((level) => level !== 'none');
  return levels.findLast((level) => EFFORTS.indexOf(level) <= most) ?? levels[0];
}

/** Answers for a model that is no longer configured: says so, and what to do. */
export function missingModel(reference: string): Model {
  return {
    id: reference,
    label: reference,
    detail: 'not configured',
    contextWindow: 128_000,
    mayRunUnasked: () => false,
    async *stream() {
      yield {
        type: 'failed',
        failure: {
          code: 'model_gone',
          message: `The model “${reference}” of this conversation is not configured any more.`,
          nextStep: 'Choose another one with Earshot: Choose Model, or configure its provider in earshot.providers.',
        },
      };
    },
  };
}
