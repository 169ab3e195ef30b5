// What the user chooses for a conversation, and what then holds in it.
import { failed, type Result } from '../base/errors.ts';
import { type ConversationChoice } from '../protocol/page/controlsView.ts';
import { type AlternativeModel } from '../protocol/page/windowView.ts';
import { type Settings } from '../protocol/settings.ts';
import { settingsWith } from './conversation/choices.ts';
import { type Live, notOpen } from './live.ts';
import { type Model } from './ports/ports.ts';
import { type ToolRegistry } from './tools/registry.ts';
import { type Services } from './tools/services.ts';
import { ofConversation } from './tools/subagentLimits.ts';
import { type Turns } from './turns.ts';

export interface ChoicesDeps {
  readonly ports: Services;
  readonly registry: ToolRegistry;
  readonly turns: Pick<Turns, 'choose'>;
  /** Undefined: the conversation is not live in this window. */
  get(id: string): Live | undefined;
}

export interface ChosenHere {
  readonly model: Model;
  readonly settings: Settings;
  readonly choice: ConversationChoice;
  /** Other models whose price is known, favourites first. */
  alternatives(): readonly AlternativeModel[];
}

export class Choices {
  readonly #deps: ChoicesDeps;

  constructor(deps: ChoicesDeps) {
    this.#deps = deps;
  }

  /** Fields that are absent stay as they are. */
  async choose(id: string, choice: ConversationChoice): Promise<Result<void>> {
    const live = this.#deps.get(id);
    if (live === undefined || !live.log.owned) return notOpen();
    const { mode: most = choice.mode } = this.#deps.ports.limits?.() ?? {};
    if (choice.mode !== undefined && choice.mode !== most)
      return failed('setting', 'The settings of this workspace allow only Plan mode.');
    return this.#deps.turns.choose(live, choice);
  }

  /** What holds in a conversation, or in a new one. `settings` include the choice. */
  of(id?: string): ChosenHere {
    const { model, settings, choice } = this.#of(id);
    const { models } = this.#deps.ports;
    return { model, settings, choice, alternatives: () => models.alternatives?.(settings.model) ?? [] };
  }

  #of(id?: string): Omit<ChosenHere, 'alternatives'> {
    const { ports, registry } = this.#deps;
    const live = id === undefined ? undefined : this.#deps.get(id);
    if (live !== undefined) {
      const { model, settings } = ofConversation({ ports, registry }, live.log);
      return { model: model(), settings: settings(), choice: live.log.state.choice.current };
    }
    const choice = ports.firstChoice?.() ?? {};
    return { model: ports.model(), settings: settingsWith(ports.settings(), choice, ports.limits?.()), choice };
  }
}
